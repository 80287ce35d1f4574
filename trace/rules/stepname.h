/* struct stepname: recognises names of ranges and marks that denote one step of a program's loop. */
#ifndef TRACE_RULES_STEPNAME_H
#define TRACE_RULES_STEPNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reliability of the name, most reliable first.  If a program uses several kinds of names, take only the most reliable kind. */
enum stepname_rank {
	STEPNAME_PROFILER,      /* ProfilerStep#12: torch.profiler's own */
	STEPNAME_STEP,          /* step 12, train_step_12, step[DECODE bs=8], epoch 1 step 12 */
	STEPNAME_ITERATION,     /* iteration 12, iter_12, train_iter 12, Iteration: 12 */
	STEPNAME_BATCH,         /* batch 12, Train Batch 12, minibatch_12: with gradient accumulation, a part of a step */
	STEPNAME_UNNUMBERED,    /* train_step, training_step, run_training_batch, iteration */
	STEPNAME_ENGINE,        /* execute_1_context_0(...)...: one iteration of an inference engine; its numbers do not count steps */
};

struct stepname {
	enum stepname_rank rank;
	int64_t number;         /* of the step, as written; -1: the name has none */
	uint64_t series;        /* hash, equal for names that differ only in numbers, case and punctuation: train_step_1, Train Step 2 */
};

/* Whether the name of n bytes (not terminated) denotes a step; fills *s only then.  Allocates nothing. */
bool stepname_parse(struct stepname *s, const char *name, size_t n);

#endif
