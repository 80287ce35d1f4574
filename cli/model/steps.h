/*
 * Steps and windows: which part of the program's loop a row belongs to, and in which time it was recorded.  Everything
 * that knows of steps asks here.  Made when they are first asked for: who does not ask pays nothing.
 */
#ifndef MODEL_STEPS_H
#define MODEL_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* How they were found.  One answer for the whole trace: a process without marks is no reason to guess for it alone. */
enum step_source {
	STEPS_NONE,
	STEPS_RECORDED,         /* rows in the trace: --step or --schedule */
	STEPS_RANGES,           /* NVTX ranges with well-known names (trace/stepname.h) */
	STEPS_MARKS,            /* marks with such names */
	STEPS_TORCH,            /* what PyTorch tells of optimizers and loaders (cli/model/phases.h) */
	STEPS_LAUNCHES,         /* from what the program launches, again and again */
};

struct step {
	int64_t start, end;             /* end of an incomplete one: where its process or the window ended */
	uint64_t range;                 /* id of the NVTX range that marks it; 0: none */
	uint32_t process;               /* position in model_processes() */
	uint32_t kind;                  /* position in kinds */
	uint32_t number;                /* of its kind in its process */
	uint32_t name, anchor;          /* string ids; STRING_NONE: none */
	uint32_t thread;                /* 0: the process as a whole */
	uint32_t window;                /* 0: none */
	uint32_t first_corr, end_corr;  /* first <= id < end, modulo 2^32; both 0: no call */
	uint32_t confidence;            /* percent */
	uint32_t flags;                 /* STEP_ bits of trace/records.h */
	bool crowded;                   /* another of its kind runs beside it: only its thread's calls are its own */
	bool selected;                  /* model_select() took it; true while nothing is selected */
};

struct step_kind {
	uint32_t name;                  /* string id; STRING_NONE: the only kind */
	size_t first, n;                /* its steps in list */
};

struct window {
	int64_t start, end;
	uint32_t process, number;       /* number: in its process, from 1 */
	uint32_t cause, name;           /* cause: of the window record */
	uint32_t first_corr, end_corr;
	uint32_t flags;                 /* WINDOW_ bits */
	bool selected;
};

struct steps {
	enum step_source source;
	struct step *list;              /* by kind, then process, then start */
	size_t n;
	struct step_kind *kinds;
	size_t n_kinds;
	struct window *windows;         /* by process, then number */
	size_t n_windows;
	bool windowed;                  /* nothing was kept before a first window */
	bool asked;                     /* the user said what steps are: where there are none, none were there */
};

/* NULL: out of memory.  It stays the model's. */
const struct steps *model_steps(struct model *m);

/* By process, then number, without looking for steps.  NULL: out of memory.  They stay the model's. */
struct window *model_windows(struct model *m, size_t *n);

/* A process without a window was recorded whole, and that is its window 1; unless all waited for a window. */
bool steps_recorded_whole(const struct steps *s, uint32_t process);

/* Whether rows were kept in this step at all: not in a warm-up, and not between two windows. */
bool step_was_kept(const struct steps *s, const struct step *step);

/* model_steps() for pages that are printed after every run: NULL too where it would take longer than a second or so. */
const struct steps *model_steps_cheaply(struct model *m);

/*
 * For every row of a kind of records its step of one kind, as position in steps->list, or -1: between two, or not to be
 * told.  API rows and GPU rows go by correlation id, GPU rows with the call that launched them; ranges, marks and rows
 * without an id by their start. free() it; NULL: out of memory.
 */
int32_t *model_row_steps(struct model *m, unsigned record, size_t step_kind);

/* The same for windows: position in steps->windows, or -1.  Rows of a process without windows have -1 too. */
int32_t *model_row_windows(struct model *m, unsigned record);

/* ---- a part of the trace only ---- */

struct selection {
	const char *kind;               /* of the steps; NULL: every kind */
	uint32_t first, last;           /* steps with first <= number <= last */
	bool steps;                     /* false: not by steps */
	uint32_t window;                /* 0: not by windows */
	const bool *processes;          /* by position in model_processes(); NULL: all of them */
};

/*
 * From now on the model has only the rows of these steps, this window and these processes: columns, passes and counts.
 * Definitions, processes and what is known of them stay whole; arrays got before are gone.  Once in a model's life.  0; 1: nothing
 * is selected, and the model is unchanged (ask model_steps() what there is); -1: out of memory.
 */
int model_select(struct model *m, const struct selection *s);

/* Whether it was done; whether by steps; whether this process is one of the selected. */
bool model_selected(const struct model *m);
bool model_steps_selected(const struct model *m);
bool model_process_selected(const struct model *m, uint32_t process);

#endif
