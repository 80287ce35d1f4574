/* struct stepname: does the name of a range or mark say that it is one step of a program's loop? */
#ifndef TRACE_STEPNAME_H
#define TRACE_STEPNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How sure the name is, surest first.  Where a program marks in several ways, take the surest, not all of them. */
enum stepname_rank {
	STEPNAME_PROFILER,      /* ProfilerStep#12: torch.profiler's own */
	STEPNAME_STEP,          /* step 12, train_step_12, step[DECODE bs=8], epoch 1 step 12 */
	STEPNAME_ITERATION,     /* iteration 12, iter_12, train_iter 12, Iteration: 12 */
	STEPNAME_BATCH,         /* batch 12, Train Batch 12, minibatch_12: with accumulation, a part of a step */
	STEPNAME_UNNUMBERED,    /* train_step, training_step, run_training_batch, iteration */
	STEPNAME_ENGINE,        /* execute_1_context_0(...)...: one round of an inference engine, its numbers are no count */
};

struct stepname {
	enum stepname_rank rank;
	int64_t number;         /* of the step, as written; -1: the name has none */
	uint64_t series;        /* the same for names that differ in numbers, case and punctuation alone: train_step_1, Train Step 2 */
};

/* Is it one?  Only then *s is filled.  Reads the n bytes, nothing behind them; allocates nothing. */
bool stepname_parse(struct stepname *s, const char *name, size_t n);

#endif
