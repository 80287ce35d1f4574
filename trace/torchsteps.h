/*
 * Steps as PyTorch tells them.  One rule for both sides: the injected object feeds it while the program runs, reports feed it the events of a trace
 * (cli/model/phases.c).  Pure.
 *
 * A training step goes from the end of one Optimizer.step to that of the next.  Several optimizers of one batch make one step, which ends with the last of
 * them.  How many there are is learnt from the batch before, so that a step can end with the last one, not when the next batch is asked for.  Without a
 * loader those belong together that have no backward pass between them.
 *
 * Batches alone do not say whether a program trains: they may be an evaluation in front of the training, batches that are fetched ahead, or inference.  Until
 * a backward pass or an optimizer says so, each batch is a step that can be taken back.  When training begins, those that were given out are none, and the
 * step that runs is number 0: it began with the batch before, or with the first of the batches that were fetched right behind one another before.
 *
 * A loader is also asked at the end of an epoch, and has no batch then.  Where a program does not train that would be a step: it is told by its length, and by
 * the next epoch, which begins at once.  Only of a loader without worker processes: with them a fetch takes as long as its batch is late, and the one
 * without a batch stops the workers.
 */
#ifndef TRACE_TORCHSTEPS_H
#define TRACE_TORCHSTEPS_H

#include <stdbool.h>
#include <stdint.h>

/* Batches with work between them, and batches in all, after which a program is taken for one that does not train. */
#define TORCHSTEPS_WORKED   4u
#define TORCHSTEPS_BATCHES  64u
#define TORCHSTEPS_AHEAD    1000000     /* ns: a batch that is asked for sooner after the one before was fetched ahead: no work was done between */
#define TORCHSTEPS_OPTIMIZERS 8u        /* optimizers with a backward pass each, in one batch; with more the batch was fetched for many steps */

#define TORCHSTEPS_EMPTY    4           /* a fetch so many times shorter than any before had no batch */
#define TORCHSTEPS_FETCHES  4u          /* fetches before that can be told */

enum torchsteps_event {
	TORCHSTEPS_NOTHING,
	TORCHSTEPS_BATCH,               /* a loader is asked for one: DataLoader.__next__ begins */
	TORCHSTEPS_WORKERS_BATCH,       /* the same, of a loader with worker processes */
	TORCHSTEPS_FETCHED,             /* it has ended */
	TORCHSTEPS_NODE,                /* an autograd node begins */
	TORCHSTEPS_OPTIMIZER,           /* zero_grad, or Optimizer.step, begins */
	TORCHSTEPS_STEPPED,             /* Optimizer.step has ended */
};

enum torchsteps_what {
	TORCHSTEPS_NONE,
	TORCHSTEPS_FIRST,               /* the first step begins */
	TORCHSTEPS_NEXT,                /* a step ends, the next one begins */
	TORCHSTEPS_MOVED,               /* the step that runs begins only now, and the one before goes on until now */
	TORCHSTEPS_TRAINS,              /* the program trains: the step that runs is the first one, and those before are none */
};

struct torchsteps_answer {
	enum torchsteps_what what;
	uint32_t number;                /* of the step that begins or runs; the one before has one less */
	int64_t time;                   /* when it begins, which may have been before the event */
	bool batch;                     /* it is a batch of a program that has not trained so far */
	bool sure;                      /* false: whether it is one is not known yet */
	bool ahead;                     /* its batch was fetched right behind the one before */
};

struct torchsteps {
	enum { TORCHSTEPS_OPEN, TORCHSTEPS_INFERS, TORCHSTEPS_TRAINING } mode;
	bool begun, owned, loader, declared;
	bool many;                      /* a batch serves many steps: it bounds none */
	bool workers;                   /* a loader has worker processes */
	bool stepping;                  /* an optimizer has stepped since the last backward pass */
	uint32_t thread;                /* whose batches and optimizers count: the one that takes the steps, until then the first that fetches */
	uint32_t fetching;              /* loaders that it is in, one in the other */
	uint32_t number;                /* of the step that runs */
	uint32_t batches, worked;       /* before the program was known to train or not: all, those with work before them */
	uint32_t stepped, size, groups; /* optimizers of this batch so far, and of the one before; backward passes that follow one */
	int64_t run;                    /* begin of the batches that were fetched right behind one another */
	int64_t asked, fetched, shortest;       /* in ns: begin and end of the last fetch; the shortest one before it */
	int64_t last;                   /* end of the last Optimizer.step */
	int64_t began;                  /* when the step that runs began */
};

/* When and where something happens: on the clock that answers are in, and on one that counts nanoseconds. */
struct torchsteps_place {
	int64_t time, ns;
	uint32_t thread;
};

/* Events in order of time.  Zeroed at first. */
struct torchsteps_answer torchsteps_feed(struct torchsteps *r, enum torchsteps_event event, const struct torchsteps_place *at);

/* Most autograd nodes say nothing new, and need not be fed. */
static inline bool torchsteps_is_news(const struct torchsteps *r, enum torchsteps_event event)
{
	return event != TORCHSTEPS_NODE || r->stepping || r->mode != TORCHSTEPS_TRAINING;
}

/* Whether this is the name of a fetch from a loader with worker processes. */
bool torchsteps_has_workers(const char *name);

/* What a user scope of PyTorch's is to steps when it begins, or has ended. */
enum torchsteps_event torchsteps_event_of(const char *name, bool begins);

#endif
