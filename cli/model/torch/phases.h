/*
 * Phases of training, derived from PyTorch's ranges: DataLoader fetches, autograd nodes, Optimizer.step and zero_grad.  PyTorch does not
 * record begin and end of forward and backward passes; they follow from these rules.  No state, no I/O; input: the events of one process.
 *
 *  - backward: from the first to the last outermost autograd node between two other events.  A node with a higher sequence number than
 *    all before it, of the same forward thread, begins a new pass: numbers rise in a forward and fall in its backward.  With DDP or FSDP a
 *    pass also lasts until the end of the collectives that begin before the next event or scope.
 *  - forward: from the previous event (or pass) to the begin of a backward pass; also from a batch to zero_grad or step.  Without a batch
 *    it begins with its scope (DDP, FSDP, a compiled region), or with the first operator whose autograd node ran later, if recorded.
 *    Without a backward pass before the next batch (inference, evaluation): from the first to the last operator or scope.
 *  - forward is ambiguous if a zero_grad lies between two such events and nothing shows on which side of it the forward was.  Then it was
 *    on the longer side (more launches, or more time if there are no launches), by majority over the passes of the process.  If that is
 *    the side before zero_grad, the forward's begin is unknown: forward counts as other.
 *  - optimizer: Optimizer.step.  If it encloses a backward pass, it is step(closure): forward begins with it, and optimizer is the part
 *    of it that is not forward, backward or zero_grad.
 *  - other: all remaining time between two events.
 */
#ifndef CLI_MODEL_TORCH_PHASES_H
#define CLI_MODEL_TORCH_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum phase { PHASE_DATA, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_ZERO_GRAD, PHASE_OTHER, PHASES };

enum phase_mark {
	MARK_DATA, MARK_OPTIMIZER, MARK_ZERO_GRAD, MARK_BACKWARD, MARK_COMM,
	MARK_PARALLEL,                  /* part of a forward with DDP or FSDP */
	MARK_FORWARD,                   /* part of any other forward */
	MARK_OPERATORS,                 /* all operators between two other events of a thread, from the first to the last */
	PHASE_MARKS,
};

#define NO_TIME INT64_MIN

struct phase_event {
	int64_t start, end;
	int64_t sequence;               /* autograd node: its sequence number; -1: none */
	uint64_t fwd_thread;            /* autograd node: thread of its forward, which counts the sequence numbers */
	uint32_t thread;
	enum phase_mark mark;
	bool workers;                   /* batch: its loader has worker processes */
	int64_t linked;                 /* operators: begin of the first whose autograd node ran; NO_TIME: none */
};

struct phase_span {
	int64_t start, end;
	int64_t computed;               /* backward: end of its last node, after which it waited for collectives.  Other phases: end */
	enum phase phase;
};

struct phase_step {
	int64_t start, end;
	bool headless;                  /* its begin was not recorded: it has no batch and no step before it */
};

struct phases {
	struct phase_span *list;        /* in order, disjoint; time between two spans is other */
	struct phase_step *steps;
	struct phase_span *comm;        /* times of collectives on any thread: in order, disjoint, not touching; phase is other */
	size_t n, n_steps, n_comm;
	bool inference;                 /* steps go from batch to batch: no optimizer was seen */
	uint32_t thread;                /* thread whose events define the phases */
	bool forward;                   /* the forward is known */
	bool doubtful;                  /* the forward is unknown: it was before zero_grad, and nothing shows its begin */
	size_t doubts;                  /* passes whose forward follows only from the rule of the longer side */
	size_t seen[PHASE_MARKS];       /* number of events used */
	size_t elsewhere;               /* batches fetched by other threads: they overlap with the phases and are not a phase */
};

/* The meaning of a PyTorch range for phases; backward: the range is an autograd node.  False: none. */
bool phase_mark_of(const char *name, bool backward, enum phase_mark *mark);

/*
 * Fills *out from n events of one process, in any order; sorts them.  launches: sorted begins of the calls that launched kernels, used only
 * for the rule of the longer side.  Release *out with phases_release().  0, or -1: out of memory.
 */
int phases_make(struct phase_event *events, size_t n, const int64_t *launches, size_t n_launches, struct phases *out);

/* phases_steps.c: sets the steps of *out from the sorted events that count.  0, or -1: out of memory. */
int phases_steps(const struct phase_event *events, size_t n, struct phases *out);
void phases_release(struct phases *p);

/* Index of the first span of a sorted list that ends after a time; n: none. */
size_t phases_first_after(const struct phase_span *list, size_t n, int64_t time);

#endif
