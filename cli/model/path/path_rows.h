/* Builds the input of path_find() from a trace: the rows of a process, and of its DataLoader workers, in a span of time. */
#ifndef CLI_MODEL_PATH_PATH_ROWS_H
#define CLI_MODEL_PATH_PATH_ROWS_H

#include "cli/model/map.h"
#include "cli/model/path/path.h"
#include "cli/model/spans.h"
#include "trace/buf.h"

struct model;

#define PATH_SEVERAL 0xfffffffeu /* the stream id belongs to queues of different contexts */
#define PATH_CALL 0x80000000u   /* path_act.what: with this bit an api row, without it a range row */

/* A GPU row of the trace; path_row.what is its position in path_rows.gpu. */
struct path_gpu_row {
	unsigned kind;                  /* ROW_kernel, ... */
	uint32_t row;
};

/* A wait for a CUDA event. */
struct path_event {
	uint32_t context, stream;       /* into which the event was recorded */
	uint32_t waits_context, waits_stream;   /* stream that waits; STREAM_NONE: the thread waits, or not known */
	int64_t recorded;               /* when the event was recorded */
};

struct path_thread {
	uint32_t process, thread;
};

/* A fetch from a DataLoader with worker processes. */
struct path_loader {
	int64_t start, end;
};

struct path_rows {
	struct model *m;
	uint32_t process;
	struct path_in in;              /* points into the buffers below */
	struct buf acts, rows, queues, orders, guesses, waits;
	struct buf gpu;                 /* struct path_gpu_row, by path_row.what */
	struct buf threads;             /* struct path_thread, by path_act.thread */
	struct buf streams;             /* uint32_t, by path_row.queue: CUPTI's stream id */
	struct spans loaders;           /* times of all fetches, in order */
	struct buf batches;             /* struct path_loader: the fetches */
	struct map thread_at, queue_at; /* thread, stream -> its number in path_find() */
	struct map contexts;            /* contexts of queues */
	struct map stream_at;           /* stream id -> its queue, or PATH_SEVERAL */
	struct map call_event;          /* correlation id of a call that waits for an event -> position in events */
	struct buf events;              /* struct path_event */
	struct map sync_of;             /* correlation id of a call -> sync row */
	uint32_t n_workers;             /* threads of other processes that make batches */
	/* number of rows with missing information */
	size_t unlaunched;              /* GPU rows whose call was not recorded */
	size_t guessed_orders;          /* waits of streams for an unknown event */
	size_t guessed_waits;           /* calls that waited for an unknown stream or event */
	bool oom;
};

/*
 * Fills *p with the rows of a process (position in model_processes()) from start to end, for the path of a thread (ordinal in the process).
 * Call path_rows_release() in any case.  0, or -1: out of memory.
 */
int path_rows_make(struct path_rows *p, struct model *m, uint32_t process, uint32_t thread, int64_t start, int64_t end);
void path_rows_release(struct path_rows *p);

#define PATH_LIST(buffer, type) ((type *)(void *)(buffer).data)
#define PATH_COUNT(buffer, type) ((buffer).len / sizeof(type))

/* ---- the parts, for path_rows_make() ---- */

/* path_places.c.  Number of a thread, added if it is new. */
uint32_t path_thread_of(struct path_rows *p, uint32_t process, uint32_t thread);
/* Number of a queue, added if it is new. */
uint32_t path_queue_of(struct path_rows *p, uint32_t context, uint32_t stream);
/*
 * Number of a known queue; if the context has no such stream, that of the only other context with it.  PATH_NONE: no rows run in it.
 * *several: several contexts have such a stream.
 */
uint32_t path_queue_known(const struct path_rows *p, uint32_t context, uint32_t stream, bool *several);

int path_add_host(struct path_rows *p);         /* ranges, calls, and work of other threads for this one */
int path_add_gpu(struct path_rows *p);          /* GPU rows and their launches */
int path_add_events(struct path_rows *p);       /* which events calls wait for */
int path_add_waits(struct path_rows *p);        /* synchronising calls, and streams that wait */

#endif
