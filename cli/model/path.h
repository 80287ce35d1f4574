/*
 * The critical path of a span of time on a thread: followed back from its end, at each moment what the thread was doing,
 * or whatever it waited for was doing.  Its segments tile the span, so they add up to it.  Pure: threads, streams and
 * their names are the caller's; see path_find().
 *
 *  - A thread comes from what it did before (program order), but for a wait: that comes from what was waited for, at the
 *    moment it came.  What had come before the wait began was not waited for.
 *    A launch into a full queue waited for the last row that ended before it returned.
 *  - A GPU row comes from the last of: the row before it on its stream, what its stream was told to wait for, and the
 *    call that launched it.
 *  - A thread other than the span's is followed as far as it was working for it; there the path goes on with the span's.
 */
#ifndef MODEL_PATH_H
#define MODEL_PATH_H

#include "cli/model/sort.h"

#define PATH_NONE UINT32_MAX
#define PATH_NEVER INT64_MIN

/* Something a thread did.  Those of one thread lie in each other or apart. */
struct path_act {
	int64_t start, end;
	uint32_t thread;
	uint32_t what;                  /* the caller's */
};

/* Work of a GPU. */
struct path_row {
	int64_t start, end;
	int64_t launched, returned;     /* the call that launched it; PATH_NEVER: not known */
	uint32_t thread;                /* of the call */
	uint32_t queue;
	uint32_t batch;                 /* rows of one launch of a graph have the same; 0: none */
	uint32_t what;                  /* the caller's: from 0 up, each once */
};

enum path_queue_kind { QUEUE_ALONE, QUEUE_BLOCKING, QUEUE_NULL };       /* the last two wait for each other */

/* A stream: its rows run one after the other. */
struct path_queue {
	uint32_t context;
	enum path_queue_kind kind;
};

/* What is put into a queue from `when` on waits for what was in queue `on` at `recorded`. */
struct path_order {
	int64_t when, recorded;
	uint32_t queue, on;
};

/* A thread told some queue to wait for something; which, was not recorded. */
struct path_guess {
	int64_t when;
	uint32_t thread;
};

enum path_for {
	FOR_ROW,                        /* a GPU row */
	FOR_QUEUE, FOR_CONTEXT,         /* all that they had been given */
	FOR_ANY_QUEUE,                  /* a queue that is not known: of those that had nothing left */
	FOR_ANY_ROW,                    /* a row that is not known: the last to end */
	FOR_THREAD,
};

/* A thread waited from start to end. */
struct path_wait {
	int64_t start, end;
	uint32_t thread;
	enum path_for what;
	uint32_t of;                    /* `what` of a row; queue, context or thread */
	int64_t recorded;               /* for what had been launched before */
	int64_t begun, done;            /* for a thread: it worked for this one from .. to */
};

struct path_in {
	int64_t start, end;             /* the span */
	uint32_t thread, n_threads;     /* threads are 0 .. n_threads - 1 */
	struct path_act *acts;          /* sorted by path_find() */
	struct path_row *rows;          /* the same */
	const struct path_queue *queues;
	struct path_order *orders;      /* the same */
	struct path_guess *guesses;     /* the same */
	const struct path_wait *waits;
	size_t n_acts, n_rows, n_queues, n_orders, n_guesses, n_waits;
};

enum path_kind {
	PATH_HOST,                      /* of: act, or PATH_NONE: between acts of the thread */
	PATH_LAUNCH,                    /* of: row, which was launched and had not begun */
	PATH_ORDER,                     /* of: row, from the end of what it waited for to its begin */
	PATH_GPU,                       /* of: row */
};

struct path_segment {
	int64_t start, end;
	enum path_kind kind;
	uint32_t of;                    /* position in acts or rows */
	uint32_t on;                    /* thread, or queue */
};

/* In order of time; free() it.  NULL: out of memory.  An empty span has none. */
struct path_segment *path_find(struct path_in *in, size_t *n);

#endif
