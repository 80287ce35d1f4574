/* struct schedule: which steps are recorded.  The words and their meaning are those of torch.profiler.schedule(). */
#ifndef TRACE_SCHEDULE_H
#define TRACE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/* Steps, beyond which a number is a slip of the fingers: sums of these cannot overflow. */
#define SCHEDULE_MAX 1000000000000ull

struct schedule {
	uint64_t skip_first;            /* nothing for that many steps; then cycles of */
	uint64_t wait;                  /*   nothing */
	uint64_t warmup;                /*   tracing on, rows thrown away */
	uint64_t active;                /*   recorded; at least 1 */
	uint64_t repeat;                /* cycles; 0: for ever */
	uint64_t skip_first_wait;       /* not 0: the first cycle has no wait */
};

enum schedule_action {
	SCHEDULE_NONE,
	SCHEDULE_WARMUP,
	SCHEDULE_RECORD,
	SCHEDULE_RECORD_AND_SAVE,       /* the last active step of a cycle: at its end the window is closed */
};

/*
 * Reads "wait=1,warmup=2,active=3,...": any order, each word at most once, no blanks; active must be there, the rest is 0.
 * 0; or -1 with one line in why (no program's name, no newline), and *s untouched.  Allocates nothing.
 */
int schedule_parse(struct schedule *s, const char *text, char *why, size_t why_size);

/* What is done in step number `step`, the first being 0. */
enum schedule_action schedule_action(const struct schedule *s, uint64_t step);

/* "none", "warmup", "record", "record-and-save". */
const char *schedule_action_name(enum schedule_action action);

#endif
