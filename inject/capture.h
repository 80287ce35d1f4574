/*
 * When rows are kept: the one place that decides.  A pure state machine; whoever feeds it holds a lock (windows.c).
 *
 * Rows are kept while all that was asked for agrees: the orders from outside, the capture range, the schedule.  What was not
 * asked for always agrees.  A longest time of keeping rows is a window.
 *
 *	OFF      nothing more, ever
 *	WAIT     not now
 *	WARMUP   tracing is on and its rows are thrown away, so that the first step that is kept finds everything in place
 *	RECORD   a window is open
 */
#ifndef INJECT_CAPTURE_H
#define INJECT_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/schedule.h"

#define CAPTURE_KINDS 16        /* of steps, each with a schedule of its own */

enum capture_state { STATE_OFF, STATE_WAIT, STATE_WARMUP, STATE_RECORD };

enum capture_range { RANGE_NONE, RANGE_PROFILER, RANGE_NVTX };

/* What the end of a capture range does. */
enum capture_range_end {
	RANGE_END_NONE,                 /* nothing: rows are kept to the program's end */
	RANGE_END_STOP,                 /* later ranges are not recorded */
	RANGE_END_STOP_SHUTDOWN,        /* ... and the trace is closed */
	RANGE_END_REPEAT,               /* each range is recorded; the first `repeats` if that is not 0 */
	RANGE_END_REPEAT_SHUTDOWN,      /* ... and the trace is closed after the last */
};

struct config;

struct capture_plan {
	uint32_t range;                 /* enum capture_range */
	uint32_t range_end;             /* enum capture_range_end */
	uint64_t repeats;
	bool scheduled;
	struct schedule schedule;
};

enum capture_event {
	EVENT_ORDER_ON,                 /* from outside: the program's start, a delay that is over, gprof-ctl */
	EVENT_ORDER_OFF,
	EVENT_ORDER_OVER,               /* for good */
	EVENT_RANGE_BEGIN,
	EVENT_RANGE_END,
	EVENT_STEP_BEGIN,
	EVENT_STEP_END,
	EVENT_STEP_FIRST,               /* the step that runs is the first one: those before were none */
};

/* What an event brought about; bits. */
#define CAPTURE_OPENED     1u   /* a window */
#define CAPTURE_CLOSED     2u
#define CAPTURE_READY      4u   /* ... because its cycle of the schedule had ended */
#define CAPTURE_SHUTDOWN   8u   /* the trace shall be closed */
#define CAPTURE_UNBALANCED 16u  /* an end without a begin: ignored */

struct capture {
	struct capture_plan plan;
	uint32_t state;                 /* enum capture_state */
	bool ordered, over;
	bool begun;                     /* a capture range has been */
	bool recorded;                  /* rows were kept in the range that is open */
	uint32_t depth;                 /* capture ranges open, one in the other or beside it */
	uint64_t ranges;                /* ended, of those that were recorded */
	struct {
		uint64_t scheduled;     /* steps that the schedule has seen */
		uint32_t open;          /* steps begun and not ended */
		uint8_t action;         /* enum schedule_action of the latest */
	} kinds[CAPTURE_KINDS];
};

/* What the settings ask for. */
struct capture_plan capture_plan_of(const struct config *c);

void capture_init(struct capture *c, const struct capture_plan *plan);

/* kind: of a step, below CAPTURE_KINDS.  The answer: bits above. */
unsigned capture_feed(struct capture *c, enum capture_event event, unsigned kind);

/* A window that is open when the program ends was to go on: its range, or its cycle of the schedule, had not ended. */
bool capture_is_cut_by_exit(const struct capture_plan *plan);

/* The step that the kind is in, or was in last, is one that warms up. */
bool capture_warms(const struct capture *c, unsigned kind);

#endif
