/* Programs that never were: sequences of launches as training loops make them, and where their steps truly begin. */
#ifndef TEST_UNIT_TRACE_LAUNCHES_H
#define TEST_UNIT_TRACE_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/period.h"

enum shape { SHAPE_MLP, SHAPE_TRANSFORMER, SHAPE_CNN, SHAPE_RNN, SHAPE_GRAPH, SHAPE_GRAPH_ALONE, N_SHAPES };
enum optimizer { OPTIMIZER_FOREACH, OPTIMIZER_FUSED, OPTIMIZER_LOOP, N_OPTIMIZERS };

struct program {
	enum shape shape;
	enum optimizer optimizer;
	unsigned steps, seed;
	unsigned accumulate;            /* micro-batches of a step; 0 or 1: none */
	unsigned evaluate_every;        /* steps; 0: never */
	unsigned log_every;             /* steps, with two kernels of its own; 0: never */
	unsigned buckets;               /* of shapes that batches fall into at random: other configurations, the same kernels */
	unsigned varying;               /* percent of launches by which the length of a step varies (RNN: of sequences) */
	unsigned dependent;             /* percent of steps with extra, missing or other kernels at several places */
	bool warmup;                    /* weights are initialized; the first two steps try out kernels */
	bool drift;                     /* everything gets slower, up to three times */
	bool threads;                   /* backward on a thread of its own */
	bool side;                      /* a thread that copies batches to the device whenever it wants */
	bool amp;                       /* the host waits for the GPU before the optimizer */
	bool gpu_bound;                 /* launches block, the host is hardly ever idle */
	bool hints;                     /* kernels' names tell optimizers' from others */
	bool noise;                     /* pauses of the host anywhere, now and then */
	bool tight;                     /* no pause between steps that is longer than those within */
};

/* What is fed: launches, and the ends of calls that are none (name 0). */
struct sequence {
	struct period_launch *launches;
	size_t n, cap;
	uint64_t *steps;                /* numbers of the first launches of the steps: launches without calls count */
	size_t n_steps;
	uint64_t n_numbered;
};

struct sequence program_run(const struct program *prog);
void sequence_free(struct sequence *s);

/* Feeds it once; the steps that come out, at most max.  first_at: launch at which the first one did. */
size_t sequence_feed(const struct sequence *s, struct period *p, struct period_step *steps, size_t max, uint64_t *first_at);

/* Found steps against true ones: within 2 % of the median step's launches, rounded down.  The first `skip` true ones do not count. */
struct score {
	size_t truth, found, right;
};

struct score sequence_score(const struct sequence *s, const struct period_step *found, size_t n, size_t skip);

#endif
