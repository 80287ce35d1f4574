/*
 * Finds the functions at an address in the files that a process had mapped, on this machine or copied to a folder.  Knows ELF, DWARF and
 * name mangling, not traces.  Never uses the network.
 */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct symbols;
struct symbol_file;

/* A function at an address. */
struct spot {
	const char *function;           /* demangled; NULL: not known */
	bool unnamed;                   /* no name known: function is its begin, "libgomp.so.1+0x1d3a0" */
	const char *file;               /* NULL: not known */
	uint32_t line;                  /* 0: not known */
};

#define MOST_PLACES 64u         /* limit of functions at one address (inlined into each other) */

/*
 * symfs: folder used as / in all paths, or NULL: the files of this machine.  trusted: this machine ran the program (or is a copy of it), so
 * a file without a build id is accepted by its path if it has not changed since.  NULL: out of memory.
 */
struct symbols *symbols_new(const char *symfs, bool trusted);
void symbols_free(struct symbols *s);

/* Sets the MONOTONIC time in ns after which no lines are looked up; 0: no limit. */
void symbols_deadline(struct symbols *s, int64_t deadline);

/* Writes the local path (with symfs) of a process's path to buf.  False: too long. */
bool symbols_path(const struct symbols *s, const char *path, char *buf, size_t size);

/*
 * The object for a file mapped from `path`, with this build id (n 0: none), at the time `when` (seconds; 0: not known).  Also returned if
 * no file is found; equal arguments give the same object.  Lives as long as s.  NULL: out of memory.
 */
struct symbol_file *symbols_object(struct symbols *s, const char *path, const uint8_t *id, size_t n, time_t when);

/*
 * Writes the functions at an address (as in the file's headers) to out, innermost inlined function first, at most MOST_PLACES; returns
 * their number, 0: unknown.  lines: also find inlined functions and lines.  Texts live as long as s.
 */
size_t object_at(struct symbol_file *o, uint64_t address, bool lines, struct spot *out);

/* Name of generated code from /tmp/perf-PID.map, if the map was written at `when` (seconds) or later; NULL: unknown. */
const char *symbols_made(struct symbols *s, uint32_t pid, time_t when, uint64_t address);

#endif
