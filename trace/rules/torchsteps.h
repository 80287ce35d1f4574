/*
 * Finds steps from PyTorch's ranges (DataLoader, Optimizer.step, autograd nodes).  The injected object feeds events while the program
 * runs, reports feed the events of a trace (cli/model/torch/phases.c); both get the same steps.  No clock, no I/O, no memory but *r.
 *
 * Training: a step goes from the end of one Optimizer.step to the end of the next.  Several optimizers in one batch make one step,
 * which ends with the last optimizer.  Their number is learnt from the previous batch, so that the step can end with the last optimizer
 * and not only when the next batch is fetched.  Without a loader, optimizers without a backward pass between them belong to one step.
 *
 * Batches alone do not tell whether a program trains: they may be an evaluation before training, prefetched batches, or inference.
 * Until a backward pass or an optimizer is seen, each batch is a provisional step.  When training begins, earlier provisional steps are
 * void and the running step is number 0; it began with its batch, or with the first of the batches prefetched with it.
 *
 * At the end of an epoch a fetch returns no batch.  In a program that does not train, such a fetch would count as a step.  It is
 * recognised because it is short and the next epoch begins at once: within TORCHSTEPS_AHEAD or a quarter of the shortest fetch.  This
 * works only for loaders without worker processes: with workers, a fetch takes as long as its batch is late, and the empty fetch stops
 * the workers.
 */
#ifndef TRACE_RULES_TORCHSTEPS_H
#define TRACE_RULES_TORCHSTEPS_H

#include <stdbool.h>
#include <stdint.h>

/* A program is taken not to train after WORKED batches with work between them, or after BATCHES batches. */
#define TORCHSTEPS_WORKED   4u
#define TORCHSTEPS_BATCHES  64u
#define TORCHSTEPS_AHEAD    1000000     /* ns between fetches; below it no work was done between them: the batch is prefetched */
#define TORCHSTEPS_OPTIMIZERS 8u        /* a batch with this many backward passes with an optimizer serves several steps */

#define TORCHSTEPS_EMPTY    4           /* a fetch this many times shorter than all earlier ones had no batch */
#define TORCHSTEPS_FETCHES  4u          /* earlier fetches needed for this test */

enum torchsteps_event {
	TORCHSTEPS_NOTHING,
	TORCHSTEPS_BATCH,               /* a fetch begins: DataLoader.__next__ */
	TORCHSTEPS_WORKERS_BATCH,       /* a fetch begins, from a loader with worker processes */
	TORCHSTEPS_FETCHED,             /* a fetch has ended */
	TORCHSTEPS_NODE,                /* an autograd node begins */
	TORCHSTEPS_OPTIMIZER,           /* zero_grad, or Optimizer.step, begins */
	TORCHSTEPS_STEPPED,             /* Optimizer.step has ended */
};

enum torchsteps_what {
	TORCHSTEPS_NONE,
	TORCHSTEPS_FIRST,               /* the first step begins */
	TORCHSTEPS_NEXT,                /* a step ends, the next one begins */
	TORCHSTEPS_MOVED,               /* correction: the running step begins at `time`, and the previous step ends then */
	TORCHSTEPS_TRAINS,              /* the program trains: the running step is the first one, earlier steps are void */
};

struct torchsteps_answer {
	enum torchsteps_what what;
	uint32_t number;                /* of the step that begins or runs */
	int64_t time;                   /* begin of that step; may be before the event */
	bool batch;                     /* the step is a batch of a program that has not trained so far */
	bool sure;                      /* false: provisional, the step may become void */
	bool ahead;                     /* the step's batch was prefetched: no work since the previous fetch */
};

struct torchsteps {
	enum { TORCHSTEPS_OPEN, TORCHSTEPS_INFERS, TORCHSTEPS_TRAINING } mode;
	bool begun, owned, loader, declared;
	bool many;                      /* a batch serves several steps, so fetches do not separate steps */
	bool workers;                   /* a loader has worker processes */
	bool stepping;                  /* an optimizer has stepped since the last backward pass */
	uint32_t thread;                /* the observed thread: the first with an optimizer; until there is one, the first that fetches */
	uint32_t fetching;              /* depth of nested fetches of the thread */
	uint32_t number;                /* of the running step */
	uint32_t batches, worked;       /* while the mode is open: batches so far; those with work before them */
	uint32_t stepped, size, groups; /* optimizers of this batch so far; of the previous batch; backward passes after an optimizer */
	int64_t run;                    /* begin of the first of the prefetched batches */
	int64_t asked, fetched, shortest;       /* ns: begin and end of the last fetch; shortest earlier fetch */
	int64_t last;                   /* end of the last Optimizer.step */
	int64_t began;                  /* begin of the running step */
};

/* Time and thread of an event. */
struct torchsteps_place {
	int64_t time, ns;               /* on the clock of the answers; on a clock that counts ns */
	uint32_t thread;
};

/* Feeds an event, in order of time; returns what it means for the steps.  *r is zeroed before the first event. */
struct torchsteps_answer torchsteps_feed(struct torchsteps *r, enum torchsteps_event event, const struct torchsteps_place *at);

/* Whether the event can change the state.  Callers may skip other events; most autograd nodes are such. */
static inline bool torchsteps_is_news(const struct torchsteps *r, enum torchsteps_event event)
{
	return event != TORCHSTEPS_NODE || r->stepping || r->mode != TORCHSTEPS_TRAINING;
}

/* Whether the name is that of a fetch from a loader with worker processes. */
bool torchsteps_has_workers(const char *name);

/* The event that the begin (begins) or the end of a PyTorch user scope with this name is. */
enum torchsteps_event torchsteps_event_of(const char *name, bool begins);

#endif
