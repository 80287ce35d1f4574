/*
 * What is at an address: looks at the files that a process had mapped, where they are on this machine or copied to a
 * folder.  Knows ELF, DWARF and names, and no traces.  Never goes to the network.
 */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct symbols;
struct object;

/* A function at an address. */
struct spot {
	const char *function;           /* demangled; NULL: not known */
	bool unnamed;                   /* it has no name: function says where it begins, "libgomp.so.1+0x1d3a0" */
	const char *file;               /* NULL: not known */
	uint32_t line;                  /* 0: not known */
};

#define MOST_PLACES 64u         /* functions inlined into each other, more are cut off */

/*
 * symfs: a folder that stands for / in all paths, or NULL: the files of this machine.  trusted: it is the machine that
 * ran the program (or a copy of it), so that a file without a build id may be believed by its path, if it has not
 * changed since.  NULL: out of memory.
 */
struct symbols *symbols_new(const char *symfs, bool trusted);
void symbols_free(struct symbols *s);

/* From this MONOTONIC time in ns on no more lines are looked up; 0: never. */
void symbols_deadline(struct symbols *s, int64_t deadline);

/* What the path of a process is here, into buf.  False: too long. */
bool symbols_path(const struct symbols *s, const char *path, char *buf, size_t size);

/*
 * The file mapped from `path`, with this build id (n 0: none), at the time `when` (seconds; 0: not known).  Always an
 * object, even if nothing is found about it; NULL: out of memory.  Lives as long as s; the same for equal arguments.
 */
struct object *symbols_object(struct symbols *s, const char *path, const uint8_t *id, size_t n, time_t when);

/*
 * The functions at an address of the file's headers, the innermost inlined one first; at most MOST_PLACES.  lines: look
 * for inlined functions and lines too.  0: nothing known.  Texts live as long as s.
 */
size_t object_at(struct object *o, uint64_t address, bool lines, struct spot *out);

/* Function of code that the process made itself, by /tmp/perf-PID.map if that is not older than `when`; or NULL. */
const char *symbols_made(struct symbols *s, uint32_t pid, time_t when, uint64_t address);

#endif
