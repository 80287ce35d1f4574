/*
 * Phases of training from what PyTorch itself announces: batches of a DataLoader, autograd nodes, Optimizer.step and
 * zero_grad.  Nothing says where a forward or a backward pass begins or ends; this rule does.  Pure: one process, events
 * in any order, times on one clock.
 *
 *  - backward: from the first to the last outermost autograd node between two other events.  A node whose sequence number is
 *    above all seen of its forward thread begins a new pass: numbers count up in a forward and run down in its backward.
 *    With DDP or FSDP a pass ends only when its collectives have: it waits for those that begin before the next event.
 *  - forward: from the event before (or the pass before) to the begin of a backward pass; from a batch to zero_grad or step too.
 *  - Optimizer.step around a backward pass is step(closure): optimizer is what is not forward, backward or zero_grad there, and
 *    forward begins with it.
 *  - anything else between two events is other.
 */
#ifndef MODEL_PHASES_H
#define MODEL_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum phase { PHASE_DATA, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_ZERO_GRAD, PHASE_OTHER, PHASES };

enum phase_mark { MARK_DATA, MARK_OPTIMIZER, MARK_ZERO_GRAD, MARK_BACKWARD, MARK_COMM, MARK_PARALLEL, PHASE_MARKS };

struct phase_event {
	int64_t start, end;
	int64_t sequence;               /* of an autograd node; -1: none */
	uint64_t fwd_thread;            /* of it: whose sequence number it is */
	uint32_t thread;
	enum phase_mark mark;
};

struct phase_span {
	int64_t start, end;
	int64_t computed;               /* of a backward pass: end of its last node; what is left it waited for collectives.  Else end */
	enum phase phase;
};

struct phase_step {
	int64_t start, end;
	bool headless;                  /* what it began with is not there: no batch was announced, and none was before it */
};

struct phases {
	struct phase_span *list;        /* in order, no two overlap; what is between two is other */
	struct phase_step *steps;
	struct phase_span *comm;        /* when a collective ran on any thread: in order, no two overlap or touch; phase is other */
	size_t n, n_steps, n_comm;
	bool inference;                 /* steps are from batch to batch: no optimizer was seen */
	uint32_t thread;                /* whose events they are made of */
	size_t seen[PHASE_MARKS];       /* events that were used */
	size_t elsewhere;               /* batches that other threads fetched: they overlap with the rest, and are no phase */
};

/* What a range of PyTorch's means for phases; backward: it is an autograd node.  False: nothing. */
bool phase_mark_of(const char *name, bool backward, enum phase_mark *mark);

/* Sorts events.  phases_release() what comes out.  0, or -1: out of memory. */
int phases_make(struct phase_event *events, size_t n, struct phases *out);
void phases_release(struct phases *p);

#endif
