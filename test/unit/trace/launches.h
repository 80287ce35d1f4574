/* Synthetic training loops: sequences of launches, with the true begin of each step. */
#ifndef TEST_UNIT_TRACE_LAUNCHES_H
#define TEST_UNIT_TRACE_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/rules/period.h"

enum shape { SHAPE_MLP, SHAPE_TRANSFORMER, SHAPE_CNN, SHAPE_RNN, SHAPE_GRAPH, SHAPE_GRAPH_ALONE, N_SHAPES };
enum optimizer { OPTIMIZER_FOREACH, OPTIMIZER_FUSED, OPTIMIZER_LOOP, N_OPTIMIZERS };

struct program {
	enum shape shape;
	enum optimizer optimizer;
	unsigned steps, seed;
	unsigned accumulate;            /* micro-batches of a step; 0 or 1: none */
	unsigned evaluate_every;        /* steps; 0: never */
	unsigned log_every;             /* steps; two more kernels are launched then; 0: never */
	unsigned buckets;               /* number of batch shapes, chosen at random: other launch configurations, same kernels */
	unsigned varying;               /* percent by which the number of launches of a step varies (RNN: the length of sequences) */
	unsigned dependent;             /* percent of steps with extra, missing or other kernels at several places */
	bool warmup;                    /* initialization of weights first; the first two steps try several kernels */
	bool drift;                     /* the program slows down, up to a third of its speed */
	bool threads;                   /* backward runs in another thread */
	bool side;                      /* another thread copies batches to the device at any time */
	bool amp;                       /* the host waits for the GPU before the optimizer */
	bool gpu_bound;                 /* launches block; the host has almost no pauses */
	bool hints;                     /* kernels of the optimizer are known by their names */
	bool noise;                     /* random pauses of the host */
	bool tight;                     /* pauses between steps are not longer than pauses inside steps */
};

/* Input of the step detector: launches, and the ends of other calls (name 0). */
struct sequence {
	struct period_launch *launches;
	size_t n, cap;
	uint64_t *steps;                /* number of the first launch of each step; only launches are numbered */
	size_t n_steps;
	uint64_t n_numbered;
};

struct sequence program_run(const struct program *prog);
void sequence_free(struct sequence *s);

/* Feeds the sequence; returns the number of steps found, at most max.  first_at: launch at which the first step was found. */
size_t sequence_feed(const struct sequence *s, struct period *p, struct period_step *steps, size_t max, uint64_t *first_at);

/* Compares found steps with true ones.  right: within 2 % of the median step's launches, rounded down.  Ignores the first `skip` true steps. */
struct score {
	size_t truth, found, right;
};

struct score sequence_score(const struct sequence *s, const struct period_step *found, size_t n, size_t skip);

#endif
