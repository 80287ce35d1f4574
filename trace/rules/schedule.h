/* struct schedule: which steps are recorded.  Parameters and meaning are those of torch.profiler.schedule(). */
#ifndef TRACE_RULES_SCHEDULE_H
#define TRACE_RULES_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/* Largest accepted number of steps; sums of such numbers cannot overflow. */
#define SCHEDULE_MAX 1000000000000ull

struct schedule {
	uint64_t skip_first;            /* steps before the first cycle, not recorded; a cycle is then: */
	uint64_t wait;                  /*   steps not recorded */
	uint64_t warmup;                /*   steps with tracing on, whose rows are discarded */
	uint64_t active;                /*   recorded steps; at least 1 */
	uint64_t repeat;                /* number of cycles; 0: no limit */
	uint64_t skip_first_wait;       /* not 0: the first cycle has no wait */
};

enum schedule_action {
	SCHEDULE_NONE,
	SCHEDULE_WARMUP,
	SCHEDULE_RECORD,
	SCHEDULE_RECORD_AND_SAVE,       /* the last active step of a cycle: at its end the window is closed */
};

/*
 * Parses "wait=1,warmup=2,active=3,...": any order, each word at most once, no blanks; active is required, others default to 0.
 * Returns 0; or -1 with a one-line reason in why (without program name and newline), and *s unchanged.  Allocates nothing.
 */
int schedule_parse(struct schedule *s, const char *text, char *why, size_t why_size);

/* What the schedule does in step number `step`, counted from 0. */
enum schedule_action schedule_action(const struct schedule *s, uint64_t step);

#endif
