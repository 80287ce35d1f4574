/* What path_find() is told of a trace: the rows of a process in a span of time, with the loader's workers that it has. */
#ifndef MODEL_PATH_ROWS_H
#define MODEL_PATH_ROWS_H

#include "cli/model/map.h"
#include "cli/model/path.h"
#include "trace/buf.h"

struct model;

#define PATH_CALL 0x80000000u   /* path_act.what: a row of api with this bit, or a row of range */

/* path_row.what is a place in gpu. */
struct path_gpu_row {
	unsigned kind;                  /* ROW_kernel, ... */
	uint32_t row;
};

/* An event as somebody waits for it. */
struct path_event {
	uint32_t context, stream;       /* it was recorded into */
	uint32_t waits_context, waits_stream;   /* what was told to wait; STREAM_NONE: the thread, or not known */
	int64_t recorded;
};

struct path_thread {
	uint32_t process, thread;
};

/* A loader that hands out what its workers have made. */
struct path_loader {
	int64_t start, end;
};

struct path_rows {
	struct model *m;
	uint32_t process;
	struct path_in in;              /* of the buffers below */
	struct buf acts, rows, queues, orders, guesses, waits;
	struct buf gpu;                 /* struct path_gpu_row, by path_row.what */
	struct buf threads;             /* struct path_thread, by path_act.thread */
	struct buf streams;             /* uint32_t, by path_row.queue: CUPTI's stream id */
	struct buf loaders;             /* struct path_loader */
	struct map thread_at, queue_at;
	struct map call_event;          /* corr of a call that waits for an event -> place in events */
	struct buf events;              /* struct path_event */
	struct map sync_of;             /* corr of a call -> row of sync */
	uint32_t n_workers;             /* threads of other processes that make batches */
	/* what was not recorded */
	size_t unlaunched;              /* GPU rows without their call */
	size_t guessed_orders;          /* streams that were told to wait for an event that is not known */
	size_t guessed_waits;           /* calls that waited for a stream or event that is not known */
	bool oom;
};

/* thread: ordinal in the process.  path_rows_release() in any case.  0, or -1: out of memory. */
int path_rows_make(struct path_rows *p, struct model *m, uint32_t process, uint32_t thread, int64_t start, int64_t end);
void path_rows_release(struct path_rows *p);

#define PATH_LIST(buffer, type) ((type *)(void *)(buffer).data)
#define PATH_COUNT(buffer, type) ((buffer).len / sizeof(type))

/* ---- the parts, for path_rows_make() ---- */

/* Place of a thread, new if need be. */
uint32_t path_thread_of(struct path_rows *p, uint32_t process, uint32_t thread);
/* Place of a queue, new if need be. */
uint32_t path_queue_of(struct path_rows *p, uint32_t context, uint32_t stream);
/* The same, of another context where only one has such a stream; PATH_NONE: nothing runs in it.  *several: more than one has. */
uint32_t path_queue_known(const struct path_rows *p, uint32_t context, uint32_t stream, bool *several);

int path_add_host(struct path_rows *p);         /* ranges, calls, and who worked for the thread */
int path_add_gpu(struct path_rows *p);          /* GPU rows and their launches */
int path_add_events(struct path_rows *p);       /* which events calls wait for */
int path_add_waits(struct path_rows *p);        /* synchronising calls, and streams that wait */

#endif
