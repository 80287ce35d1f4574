/*
 * Decides when rows are kept.  A pure state machine without locks; the caller holds one (windows.c).
 *
 * Rows are kept while the orders from outside, the capture range and the schedule all agree.  A condition that was not asked for always
 * agrees.  Each uninterrupted time of keeping rows is one window.
 *
 *	OFF      nothing is recorded any more
 *	WAIT     nothing is recorded now
 *	WARMUP   tracing is on, its rows are discarded: the first recorded step pays no start-up cost
 *	RECORD   a window is open
 */
#ifndef INJECT_CAPTURE_CAPTURE_H
#define INJECT_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/rules/schedule.h"

#define CAPTURE_KINDS 16        /* kinds of steps; each follows the schedule separately */

enum capture_state { STATE_OFF, STATE_WAIT, STATE_WARMUP, STATE_RECORD };

enum capture_range { RANGE_NONE, RANGE_PROFILER, RANGE_NVTX };

/* What the end of a capture range does. */
enum capture_range_end {
	RANGE_END_NONE,                 /* ignored: rows are kept until the program ends */
	RANGE_END_STOP,                 /* later ranges are not recorded */
	RANGE_END_STOP_SHUTDOWN,        /* ... and the trace is closed */
	RANGE_END_REPEAT,               /* each range is recorded, or the first `repeats` if that is not 0 */
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
	EVENT_ORDER_ON,                 /* from outside: program start, end of a delay, gprof-ctl */
	EVENT_ORDER_OFF,
	EVENT_ORDER_OVER,               /* recording ends for good */
	EVENT_RANGE_BEGIN,
	EVENT_RANGE_END,
	EVENT_STEP_BEGIN,
	EVENT_STEP_END,
	EVENT_STEP_FIRST,               /* the running step counts as the first: earlier ones were no real steps */
};

/* Result of an event; bits. */
#define CAPTURE_OPENED     1u   /* a window opened */
#define CAPTURE_CLOSED     2u
#define CAPTURE_READY      4u   /* ... because a cycle of the schedule ended */
#define CAPTURE_SHUTDOWN   8u   /* close the trace */
#define CAPTURE_UNBALANCED 16u  /* an end without a begin, ignored */

struct capture {
	struct capture_plan plan;
	uint32_t state;                 /* enum capture_state */
	bool ordered, over;
	bool begun;                     /* a capture range has begun at least once */
	bool recorded;                  /* rows were kept during the open capture range */
	uint32_t depth;                 /* capture ranges open, nested or overlapping */
	uint64_t ranges;                /* ended capture ranges in which rows were kept */
	struct {
		uint64_t scheduled;     /* steps that the schedule has seen */
		uint32_t open;          /* steps begun and not ended */
		uint8_t action;         /* enum schedule_action of the latest */
	} kinds[CAPTURE_KINDS];
};

/* The plan that the settings describe.  An invalid schedule counts as none. */
struct capture_plan capture_plan_of(const struct config *c);

/* State at the program's start: WAIT, nothing ordered. */
void capture_init(struct capture *c, const struct capture_plan *plan);

/* Applies one event.  kind: kind of step, below CAPTURE_KINDS, for EVENT_STEP_*.  Returns CAPTURE_ bits.  Caller serialises. */
unsigned capture_feed(struct capture *c, enum capture_event event, unsigned kind);

/* True if a window still open at the program's end was cut short: its capture range or schedule cycle had not ended. */
bool capture_is_cut_by_exit(const struct capture_plan *plan);

/* True if the current or latest step of this kind is a warm-up step. */
bool capture_warms(const struct capture *c, unsigned kind);

#endif
