/*
 * Phases of training from what PyTorch itself announces: batches of a DataLoader, autograd nodes, Optimizer.step and
 * zero_grad.  Nothing says where a forward or a backward pass begins or ends; this rule does.  Pure: one process, events
 * in any order, times on one clock.
 *
 *  - backward: from the first to the last outermost autograd node between two other events.  A node whose sequence number is
 *    above all seen of its forward thread begins a new pass: numbers count up in a forward and run down in its backward.
 *    With DDP or FSDP a pass ends only when its collectives have: it waits for those that begin before the next event or scope.
 *  - forward: from the event before (or the pass before) to the begin of a backward pass; from a batch to zero_grad or step too.  Where no
 *    batch is announced it begins with its scope (DDP, FSDP, a compiled region) or with the first operator whose autograd node ran
 *    later, if these were recorded.  In front of a batch without a backward pass (inference, evaluation): from the first to the last operator
 *    or scope.
 *  - zero_grad between two such events, and nothing that shows on which side of it the forward was: it was on the longer one (that with more
 *    launches, where there are some), for most of the passes of the process.  If that is the one before zero_grad, forward is not known, and other.
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

enum phase_mark {
	MARK_DATA, MARK_OPTIMIZER, MARK_ZERO_GRAD, MARK_BACKWARD, MARK_COMM,
	MARK_PARALLEL,                  /* a part of a forward of DDP or FSDP */
	MARK_FORWARD,                   /* a part of another forward */
	MARK_OPERATORS,                 /* operators between two other events of a thread, from the first to the last */
	PHASE_MARKS,
};

#define NO_TIME INT64_MIN

struct phase_event {
	int64_t start, end;
	int64_t sequence;               /* of an autograd node; -1: none */
	uint64_t fwd_thread;            /* of it: whose sequence number it is */
	uint32_t thread;
	enum phase_mark mark;
	bool workers;                   /* of a batch: its loader has worker processes */
	int64_t linked;                 /* of operators: begin of the first whose autograd node ran; NO_TIME: none */
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
	bool forward;                   /* it is known */
	bool doubtful;                  /* it is not, because it was before zero_grad, and nothing shows where it began */
	size_t doubts;                  /* passes of which only the rule of the longer part says it */
	size_t seen[PHASE_MARKS];       /* events that were used */
	size_t elsewhere;               /* batches that other threads fetched: they overlap with the rest, and are no phase */
};

/* What a range of PyTorch's means for phases; backward: it is an autograd node.  False: nothing. */
bool phase_mark_of(const char *name, bool backward, enum phase_mark *mark);

/*
 * Sorts events.  launches: begins of the calls that launched kernels, in order; they are looked at only where it is doubtful without them.
 * phases_release() what comes out.  0, or -1: out of memory.
 */
int phases_make(struct phase_event *events, size_t n, const int64_t *launches, size_t n_launches, struct phases *out);

/* phases_steps.c: of events in order, that count. */
int phases_steps(const struct phase_event *events, size_t n, struct phases *out);
void phases_release(struct phases *p);

#endif
