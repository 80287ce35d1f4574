/*
 * The critical path of a span of time on a thread.  path_find() walks back from the span's end: at each moment the path is what the
 * thread was doing or, during a wait, what it waited for.  The segments tile the span without gaps.  No state, no I/O; the caller numbers
 * threads, queues and rows.  Predecessors:
 *
 *  - Of a thread: its previous activity.  Of a thread's wait: the work waited for, at the moment that work ended; a wait whose work
 *    had ended before the wait began is ignored.  Of a launch into a full queue: the last row that ended before the call returned.
 *  - Of a GPU row: the latest of the previous row on its stream, the work its stream was told to wait for, and the call that launched it.
 *  - Another thread is followed only while it works for the span's thread; then the path returns to the span's thread.
 */
#ifndef CLI_MODEL_PATH_PATH_H
#define CLI_MODEL_PATH_PATH_H

#include "cli/model/sort.h"

#define PATH_NONE UINT32_MAX
#define PATH_NEVER INT64_MIN

/* An activity of a thread (call or range).  Activities of one thread are nested or disjoint. */
struct path_act {
	int64_t start, end;
	uint32_t thread;
	uint32_t what;                  /* for the caller */
};

/* A GPU row. */
struct path_row {
	int64_t start, end;
	int64_t launched, returned;     /* begin and end of the call that launched it; PATH_NEVER: not known */
	uint32_t thread;                /* of the call */
	uint32_t queue;
	uint32_t batch;                 /* equal for all rows of one graph launch; 0: not from a graph */
	uint32_t what;                  /* for the caller: 0, 1, 2, ..., each value once */
};

enum path_queue_kind { QUEUE_ALONE, QUEUE_BLOCKING, QUEUE_NULL };       /* BLOCKING and NULL (legacy default stream) wait for each other */

/* A stream; its rows run one after the other. */
struct path_queue {
	uint32_t context;
	enum path_queue_kind kind;
};

/* A stream wait: rows launched into `queue` after `when` wait for the rows launched into queue `on` before `recorded`. */
struct path_order {
	int64_t when, recorded;
	uint32_t queue, on;
};

/* A stream wait made by a thread, whose stream and event were not recorded. */
struct path_guess {
	int64_t when;
	uint32_t thread;
};

/* What a thread waited for. */
enum path_for {
	FOR_ROW,                        /* a GPU row */
	FOR_QUEUE, FOR_CONTEXT,         /* all rows launched into a queue, or a context */
	FOR_ANY_QUEUE,                  /* an unknown queue: one of those that were empty after the wait */
	FOR_ANY_ROW,                    /* an unknown row: the last that ended */
	FOR_THREAD,                     /* work of another thread */
};

/* A thread waited from start to end. */
struct path_wait {
	int64_t start, end;
	uint32_t thread;
	enum path_for what;
	uint32_t of;                    /* `what` of a row; queue, context or thread */
	int64_t recorded;               /* only rows launched before this time count */
	int64_t begun, done;            /* FOR_THREAD: begin and end of that thread's work */
};

/*
 * Limit of streams and rows examined.  A wait for an unknown stream or event, or for a context, needs a look at every stream, which is
 * too much for a file with as many streams as waits.  Beyond the limit, waits are not followed.
 */
#define PATH_LOOKS (1u << 27)

struct path_effort {
	uint64_t looks;                 /* streams and rows examined so far */
	size_t refused;                 /* waits, launches and rows not followed because of PATH_LOOKS */
};

struct path_in {
	int64_t start, end;             /* the span */
	uint32_t thread, n_threads;     /* threads are 0 .. n_threads - 1 */
	struct path_act *acts;          /* path_find() sorts acts, rows, orders and guesses in place */
	struct path_row *rows;
	const struct path_queue *queues;
	struct path_order *orders;
	struct path_guess *guesses;
	const struct path_wait *waits;
	size_t n_acts, n_rows, n_queues, n_orders, n_guesses, n_waits;
	struct path_effort effort;      /* result of path_find() */
};

enum path_kind {
	PATH_HOST,                      /* activity of a thread; of: act, or PATH_NONE between acts */
	PATH_LAUNCH,                    /* launch delay; of: row that was launched and had not begun */
	PATH_ORDER,                     /* of: row; from the end of the work it waited for to its begin */
	PATH_GPU,                       /* of: row that runs */
};

struct path_segment {
	int64_t start, end;
	enum path_kind kind;
	uint32_t of;                    /* position in acts or rows */
	uint32_t on;                    /* thread, or queue */
};

/* The *n segments of the path in order of time, none for an empty span; free() them.  NULL: out of memory. */
struct path_segment *path_find(struct path_in *in, size_t *n);

#endif
