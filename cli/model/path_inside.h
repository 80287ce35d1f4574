/* Parts of path_find(): what threads did (path_host.c), what GPU rows and waits came from (path_gpu.c). */
#ifndef MODEL_PATH_INSIDE_H
#define MODEL_PATH_INSIDE_H

#include "cli/model/path.h"

/* Files of other profilers are in whole microseconds: what ends so much behind may be what was waited for. */
#define PATH_SLACK 1000

/* ---- path_host.c ---- */

/* Of a thread a piece of time in which the same act is the innermost one. */
struct path_tile {
	int64_t start, end;
	uint32_t act;                   /* position, or PATH_NONE */
};

struct path_host {
	struct path_tile *tiles;        /* by thread, in order; without gaps from the first act to the last */
	size_t *first;                  /* by thread: its first tile; n_threads + 1 of them */
};

/* 0, or -1: out of memory. */
int path_host_make(struct path_host *h, struct path_in *in);
void path_host_release(struct path_host *h);

/* The last tile of a thread that begins before a time, or PATH_NONE. */
size_t path_tile_before(const struct path_host *h, uint32_t thread, int64_t time);

/* Begin of what the thread was busy with just before a time, without a pause; the time itself: it was not busy. */
int64_t path_busy_since(const struct path_host *h, uint32_t thread, int64_t time);

/* ---- path_gpu.c ---- */

struct path_gpu {
	const struct path_in *in;
	size_t *first;                  /* by queue: its first row; n_queues + 1 of them */
	int64_t *latest;                /* by row: the latest launch on its queue up to it */
	size_t *first_order;            /* by queue */
	uint32_t *named;                /* by `what`: row */
	uint32_t *in_batch, *place;     /* rows with a batch by batch and end; by row: its place there */
	size_t n_in_batch;
};

int path_gpu_make(struct path_gpu *g, struct path_in *in);
void path_gpu_release(struct path_gpu *g);

/* Of what a queue had been given before a time, with what it waits for, the row that ended last, or PATH_NONE. */
uint32_t path_done(const struct path_gpu *g, uint32_t queue, int64_t when);

/* The row that a wait was for, or PATH_NONE. */
uint32_t path_awaited(const struct path_gpu *g, const struct path_wait *w);

/* Of each launch that found its queue full the last row that had ended when it returned. */
void path_full(const struct path_gpu *g, void (*each)(uint32_t row, uint32_t ended, void *arg), void *arg);

/* The row that had to end before this one could begin, the last of them, or PATH_NONE. */
uint32_t path_before(const struct path_gpu *g, uint32_t row);

#endif
