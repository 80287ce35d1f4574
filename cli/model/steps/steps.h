/* Steps and recorded windows of the trace, and the step or window of each row.  Found on first use. */
#ifndef CLI_MODEL_STEPS_STEPS_H
#define CLI_MODEL_STEPS_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* How the steps were found; the same source for all processes of the trace. */
enum step_source {
	STEPS_NONE,
	STEPS_RECORDED,         /* rows in the trace: --step or --schedule */
	STEPS_RANGES,           /* NVTX ranges with well-known names (trace/rules/stepname.h) */
	STEPS_MARKS,            /* marks with such names */
	STEPS_TORCH,            /* PyTorch's ranges of optimizers and loaders (cli/model/torch/phases.h) */
	STEPS_LAUNCHES,         /* period of the launches (trace/rules/period.h) */
};

struct step {
	int64_t start, end;             /* end of an incomplete step: end of its process or window */
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
	bool crowded;                   /* overlaps another step of its kind and process: only calls of its own thread belong to it */
	bool selected;                  /* by model_select(); true if nothing is selected */
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
	bool windowed;                  /* recording began with a window: nothing was kept before the first */
	bool asked;                     /* the user defined steps (--step): if there are none, the program made none */
};

/* All steps and windows; owned by the model.  NULL: out of memory. */
const struct steps *model_steps(struct model *m);

/* The *n windows by process, then number, without finding steps; owned by the model.  NULL: out of memory. */
struct window *model_windows(struct model *m, size_t *n);

/* Whether a process was recorded whole: it has no window, and recording did not wait for one.  The whole counts as its window 1. */
bool steps_recorded_whole(const struct steps *s, uint32_t process);

/* Whether rows of the step were kept: it is neither a warm-up nor outside all windows. */
bool step_was_kept(const struct steps *s, const struct step *step);

/* model_steps() for the summary printed after every run: also NULL if finding them would take longer than about a second. */
const struct steps *model_steps_cheaply(struct model *m);

/* The schedule of --schedule: number of the first step to record, and steps per window.  false: no schedule. */
bool model_schedule(const struct model *m, uint64_t *first, uint64_t *active);

/*
 * By row of a record kind: position in steps->list of its step of kind step_kind; -1: between steps, or unknown.  API and GPU rows are
 * assigned by correlation id, so GPU rows belong to the step of the call that launched them; ranges, marks and rows without an id are
 * assigned by start.  free() it; NULL: out of memory.
 */
int32_t *model_row_steps(struct model *m, unsigned record, size_t step_kind);

/* model_row_steps() for windows: position in steps->windows, or -1, also for processes without windows. */
int32_t *model_row_windows(struct model *m, unsigned record);

/* ---- selecting a part of the trace ---- */

struct selection {
	const char *kind;               /* kind of the steps; NULL: every kind */
	uint32_t first, last;           /* steps with first <= number <= last */
	bool steps;                     /* select by steps */
	uint32_t window;                /* number of the window; 0: do not select by windows */
	const bool *processes;          /* by position in model_processes(); NULL: all */
};

/*
 * Restricts the model (columns, passes, counts) to the rows of these steps, this window and these processes.  Definitions, processes and
 * their attributes stay complete; columns obtained before become invalid.  At most once per model.  0; 1: the selection is empty and the
 * model unchanged (model_steps() tells what exists); -1: out of memory.
 */
int model_select(struct model *m, const struct selection *s);

/* Whether anything is selected; whether steps are; whether this process is among the selected. */
bool model_selected(const struct model *m);
bool model_steps_selected(const struct model *m);
bool model_process_selected(const struct model *m, uint32_t process);

#endif
