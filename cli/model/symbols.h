/*
 * What native frames of call stacks are: functions, files and lines, by the trace's own symbol rows (`gprof-trace
 * resolve` wrote them), else by the files of this machine where they are those that ran.  Stacks as people read them,
 * Python too: cli/model/stacks.h.
 */
#ifndef MODEL_SYMBOLS_H
#define MODEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/records.h"

struct model;
struct spot;                           /* cli/symbols/symbols.h */

#define FRAME_INLINED   2u              /* into the frame that follows it */
#define FRAME_UNNAMED   8u              /* function is where it begins: "libgomp.so.1+0x1d3a0" */
#define FRAME_UNKNOWN   4u              /* function is "[libcuda.so.1+0x1234]" */

/* String ids are the model's. */
struct frame {
	uint32_t function;              /* demangled */
	uint32_t file;                  /* STRING_NONE: not known */
	uint32_t line;                  /* 0: not known */
	uint32_t module;                /* path of the ELF file; STRING_NONE: code made by the process */
	uint32_t flags;                 /* FRAME_ bits */
};

/*
 * The functions of one native frame of a stack of a process (position in model_processes()), the innermost inlined one first,
 * *n of them: one at least.  when: the time of the event, by which libraries loaded one after the other at one address
 * are told apart; 0: the latest.  They live as long as the model.  NULL, *n 0: out of
 * memory, or it is not native.  Not during a pass.
 */
const struct frame *model_frames(struct model *m, uint32_t process, const struct stack_frame *f, int64_t when,
				 size_t *n);

/* Where to look for what the trace does not know; before any other function of this file.  symfs: see symbols_new(). */
struct lookup {
	const char *symfs;
	bool trace_only;                /* look nowhere */
	int64_t deadline;               /* MONOTONIC ns, from which on no lines are looked up; 0: never */
};
int model_look_in(struct model *m, const struct lookup *where);

/* Was the program run on this machine?  Host names are what there is to go by. */
bool model_ran_here(const struct model *m);

/* ---- for `gprof-trace resolve` ---- */

/* A native address that occurs in stacks. */
struct address {
	uint32_t process;               /* position in model_processes() */
	uint32_t image;                 /* its id; 0: in none */
	uint64_t offset;                /* as in symbol rows */
	bool known, lined;              /* the trace has its function, and a line */
	bool unnamed;                   /* the trace has where its function begins, but no name */
	size_t place;                   /* the model's own */
};

/* All of them, each once, by process, image and offset; NULL: none, or out of memory.  Lives as long as the model. */
const struct address *model_addresses(struct model *m, size_t *n);

/* What files say about one: MOST_PLACES of out at most.  0: nothing. */
size_t model_look_up(struct model *m, const struct address *a, bool lines, struct spot *out);

#endif
