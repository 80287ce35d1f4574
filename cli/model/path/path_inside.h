/* Parts of path_find(): activities of threads (path_host.c), predecessors of GPU rows and waits (path_gpu.c). */
#ifndef CLI_MODEL_PATH_PATH_INSIDE_H
#define CLI_MODEL_PATH_PATH_INSIDE_H

#include "cli/model/path/path.h"

/* ns of tolerance: other profilers' files have whole microseconds, so work may seem to end after the wait for it. */
#define PATH_SLACK 1000

/* ---- path_host.c ---- */

/* A time in which a thread's innermost act does not change. */
struct path_tile {
	int64_t start, end;
	uint32_t act;                   /* position, or PATH_NONE: a pause between acts */
	uint32_t busy;                  /* first tile after the last pause before this tile; undefined in a pause */
};

struct path_host {
	struct path_tile *tiles;        /* by thread and time; without gaps from a thread's first act to its last */
	size_t *first;                  /* by thread: its first tile; n_threads + 1 entries */
};

/* Builds *h; call path_host_release() in any case.  0, or -1: out of memory. */
int path_host_make(struct path_host *h, struct path_in *in);
void path_host_release(struct path_host *h);

/* The last tile of a thread that begins before a time, or PATH_NONE. */
size_t path_tile_before(const struct path_host *h, uint32_t thread, int64_t time);

/* Begin of the uninterrupted activity of the thread that reaches up to a time; the time itself if there was a pause just before it. */
int64_t path_busy_since(const struct path_host *h, uint32_t thread, int64_t time);

/* ---- path_gpu.c ---- */

struct path_gpu {
	const struct path_in *in;
	struct path_effort *effort;
	size_t *first;                  /* by queue: its first row; n_queues + 1 entries */
	int64_t *latest;                /* by row: latest launch on its queue up to this row */
	size_t *first_order;            /* by queue: its first order */
	uint32_t *awaited;              /* by order: row that this order and those before it since the last launch wait for, or PATH_NONE */
	uint32_t *named;                /* by `what`: row */
	uint32_t *in_batch, *place;     /* rows with a batch, by batch and end; by row: its position there */
	size_t n_in_batch;
};

/* Builds *g and sorts rows and orders of *in; call path_gpu_release() in any case.  0, or -1: out of memory. */
int path_gpu_make(struct path_gpu *g, struct path_in *in);
void path_gpu_release(struct path_gpu *g);

/* Of the rows launched into a queue before a time, and the rows they wait for: the row that ended last, or PATH_NONE. */
uint32_t path_done(const struct path_gpu *g, uint32_t queue, int64_t when);

/* The row whose end ended a thread's wait, or PATH_NONE. */
uint32_t path_awaited(const struct path_gpu *g, const struct path_wait *w);

/* Calls each() for every launch into a full queue.  row: the launched row; ended: the last row that had ended when the call returned. */
void path_full(const struct path_gpu *g, void (*each)(uint32_t row, uint32_t ended, void *arg), void *arg);

/* Of the rows that had to end before this row could begin, the one that ended last; PATH_NONE: none. */
uint32_t path_before(const struct path_gpu *g, uint32_t row);

#endif
