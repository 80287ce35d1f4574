/*
 * Resolves native frames of call stacks to functions, files and lines: from the trace's symbol rows (written by `gprof-trace resolve`),
 * else from the matching files of this machine (cli/symbols/find.h).  Whole stacks, with Python frames: cli/model/stacks/stacks.h.
 */
#ifndef CLI_MODEL_STACKS_SYMBOLS_H
#define CLI_MODEL_STACKS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/records.h"

struct model;
struct spot;                           /* cli/symbols/symbols.h */

#define FRAME_INLINED   2u              /* inlined into the next frame */
#define FRAME_UNNAMED   8u              /* function without a name; `function` is its begin: "libgomp.so.1+0x1d3a0" */
#define FRAME_UNKNOWN   4u              /* unknown function; `function` is the address: "[libcuda.so.1+0x1234]" */

/* String ids are the model's. */
struct source_frame {
	uint32_t function;              /* demangled */
	uint32_t file;                  /* STRING_NONE: not known */
	uint32_t line;                  /* 0: not known */
	uint32_t module;                /* path of the ELF file; STRING_NONE: code made by the process */
	uint32_t flags;                 /* FRAME_ bits */
};

/*
 * The *n >= 1 functions of a native frame of a process (position in model_processes()), innermost inlined function first; valid as long as
 * the model.  when: time of the event, to choose among libraries loaded one after the other at one address; 0: the latest.  NULL, *n 0: out
 * of memory, or not a native frame.  Not during a pass.
 */
const struct source_frame *model_frames(struct model *m, uint32_t process, const struct stack_frame *f, int64_t when,
					size_t *n);

/* Where to search for addresses without symbol rows. */
struct lookup {
	const char *symfs;              /* see symbols_new() */
	bool trace_only;                /* search nowhere */
	int64_t deadline;               /* MONOTONIC ns after which no lines are looked up; 0: none */
};

/* Sets the places to search; call it before all other functions of this file.  0, or -1: out of memory. */
int model_look_in(struct model *m, const struct lookup *where);

/* Whether the program ran on this machine, judged by the host name. */
bool model_ran_here(const struct model *m);

/* ---- for `gprof-trace resolve` ---- */

/* A native address that occurs in stacks. */
struct address {
	uint32_t process;               /* position in model_processes() */
	uint32_t image;                 /* id of its image; 0: in no image */
	uint64_t offset;                /* as in symbol rows */
	bool known, lined;              /* the trace has its function; and a line */
	bool unnamed;                   /* the trace has the begin of its function, but no name */
	size_t place;                   /* private to symbols.c */
};

/* All *n addresses, each once, by process, image and offset; valid as long as the model.  NULL: none, or out of memory. */
const struct address *model_addresses(struct model *m, size_t *n);

/* Looks up an address in files, with lines if `lines`; writes up to MOST_PLACES functions to out and returns their number, 0: none. */
size_t model_look_up(struct model *m, const struct address *a, bool lines, struct spot *out);

#endif
