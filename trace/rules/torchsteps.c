#include "trace/rules/torchsteps.h"

#include <string.h>

static bool starts_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

bool torchsteps_has_workers(const char *name)
{
	return starts_with(name, "enumerate(DataLoader)#_MultiProcessing");
}

enum torchsteps_event torchsteps_event_of(const char *name, bool begins)
{
	if (starts_with(name, "enumerate(DataLoader)#") || starts_with(name, "enumerate(DataPipe)#"))
		return !begins ? TORCHSTEPS_FETCHED : torchsteps_has_workers(name) ? TORCHSTEPS_WORKERS_BATCH : TORCHSTEPS_BATCH;
	if (starts_with(name, "Optimizer.step#"))
		return begins ? TORCHSTEPS_OPTIMIZER : TORCHSTEPS_STEPPED;
	return begins && starts_with(name, "Optimizer.zero_grad#") ? TORCHSTEPS_OPTIMIZER : TORCHSTEPS_NOTHING;
}

/* to - from; INT64_MAX on overflow, which times of a damaged trace can cause. */
static int64_t between(int64_t from, int64_t to)
{
	int64_t ns;

	return __builtin_sub_overflow(to, from, &ns) ? INT64_MAX : ns;
}

static struct torchsteps_answer answer(struct torchsteps *r, enum torchsteps_what what, int64_t time)
{
	r->began = time;
	return (struct torchsteps_answer){
		.what = what, .number = r->number, .time = time,
		.batch = r->mode != TORCHSTEPS_TRAINING, .sure = r->mode != TORCHSTEPS_OPEN,
	};
}

static const struct torchsteps_answer none = { .what = TORCHSTEPS_NONE };

/* ---- before it is known whether the program trains ---- */

/* The first event of the process: begins the first step. */
static struct torchsteps_answer first(struct torchsteps *r, enum torchsteps_event event, const struct torchsteps_place *at)
{
	r->begun = true;
	r->run = r->last = at->time;
	r->asked = at->ns;
	r->batches = event == TORCHSTEPS_BATCH;
	if (event != TORCHSTEPS_BATCH)
		r->mode = TORCHSTEPS_TRAINING;
	r->stepping = r->declared = event == TORCHSTEPS_STEPPED;
	r->stepped = r->declared;
	return answer(r, TORCHSTEPS_FIRST, at->time);
}

/* Whether the last fetch was the end of an epoch and had no batch.  The pause before the next epoch may be longer if fetches are slow. */
static bool was_empty(struct torchsteps *r, int64_t pause)
{
	int64_t took = between(r->asked, r->fetched), most = r->shortest / TORCHSTEPS_EMPTY;

	if (!r->workers && r->batches >= TORCHSTEPS_FETCHES && took < most && pause < (most > TORCHSTEPS_AHEAD ? most : TORCHSTEPS_AHEAD))
		return true;
	if (took < r->shortest || r->batches == 1)
		r->shortest = took;
	return false;
}

static struct torchsteps_answer batch_alone(struct torchsteps *r, const struct torchsteps_place *at)
{
	int64_t pause = between(r->fetched, at->ns);
	bool ahead = pause < TORCHSTEPS_AHEAD, empty = was_empty(r, pause);
	struct torchsteps_answer a;

	r->asked = at->ns;
	if (empty) {
		r->run = at->time;
		return answer(r, TORCHSTEPS_MOVED, at->time);
	}
	r->batches++;
	r->number++;
	r->worked += !ahead;
	if (!ahead)
		r->run = at->time;
	if (r->worked >= TORCHSTEPS_WORKED || r->batches > TORCHSTEPS_BATCHES)
		r->mode = TORCHSTEPS_INFERS;
	a = answer(r, TORCHSTEPS_NEXT, at->time);
	a.ahead = ahead;
	return a;
}

/* Training begins.  Step 0 begins with the training thread's prefetched batches, or with this event if that thread has no loader. */
static struct torchsteps_answer trains(struct torchsteps *r, int64_t time)
{
	r->mode = TORCHSTEPS_TRAINING;
	r->number = 0;
	return answer(r, TORCHSTEPS_TRAINS, r->loader ? r->run : time);
}

/* ---- training ---- */

/* The batch is over: later events belong to the next step. */
static struct torchsteps_answer batch_over(struct torchsteps *r)
{
	bool late = r->stepped && !r->declared;

	if (r->stepped)
		r->size = r->stepped;
	r->stepped = r->groups = 0;
	r->declared = false;
	if (!late)
		return none;
	r->number++;
	return answer(r, TORCHSTEPS_NEXT, r->last);
}

/* A batch had TORCHSTEPS_OPTIMIZERS backward passes with an optimizer: each of them was a step. */
static void split(struct torchsteps *r)
{
	r->many = true;
	r->number += r->groups - 1;
	r->stepped = 1;
}

static struct torchsteps_answer node(struct torchsteps *r)
{
	r->groups += r->stepping;
	r->stepping = false;
	if (r->loader && !r->many && r->groups >= TORCHSTEPS_OPTIMIZERS)
		split(r);
	return r->loader && !r->many ? none : batch_over(r);
}

static struct torchsteps_answer stepped(struct torchsteps *r, int64_t time)
{
	bool moved = r->declared;

	r->last = time;
	r->stepping = true;
	if (++r->stepped < r->size)
		return none;
	r->declared = true;
	r->number += !moved;
	return answer(r, moved ? TORCHSTEPS_MOVED : TORCHSTEPS_NEXT, time);
}

/* ---- choosing the thread ---- */

/* Whether to handle a fetch; false: it belongs to another thread, is nested in another fetch, or has just ended. */
static bool takes_batch(struct torchsteps *r, enum torchsteps_event event, const struct torchsteps_place *at)
{
	if (!r->begun || (!r->owned && !r->loader))
		r->thread = at->thread;
	if (at->thread != r->thread)
		return false;
	r->loader = true;
	if (event == TORCHSTEPS_BATCH)
		return !r->fetching++;
	if (r->fetching && !--r->fetching)
		r->fetched = at->ns;
	return false;
}

/* Whether to handle an optimizer's event: only those of the first thread with an optimizer count. */
static bool takes_optimizer(struct torchsteps *r, uint32_t thread)
{
	if (!r->owned && r->thread != thread)
		r->loader = false;
	if (!r->owned)
		r->thread = thread;
	r->owned = true;
	if (thread != r->thread)
		return false;
	r->fetching = 0;
	return true;
}

static struct torchsteps_answer training(struct torchsteps *r, enum torchsteps_event event, int64_t time)
{
	switch (event) {
	case TORCHSTEPS_BATCH:
		return r->many ? none : batch_over(r);
	case TORCHSTEPS_NODE:
		return node(r);
	case TORCHSTEPS_STEPPED:
		return stepped(r, time);
	default:
		return none;
	}
}

struct torchsteps_answer torchsteps_feed(struct torchsteps *r, enum torchsteps_event event, const struct torchsteps_place *at)
{
	bool batch = event == TORCHSTEPS_BATCH || event == TORCHSTEPS_WORKERS_BATCH || event == TORCHSTEPS_FETCHED;

	if (event == TORCHSTEPS_WORKERS_BATCH) {
		r->workers = true;
		event = TORCHSTEPS_BATCH;
	}
	if (event == TORCHSTEPS_NOTHING || (batch && !takes_batch(r, event, at)))
		return none;
	if (!batch && event != TORCHSTEPS_NODE && !takes_optimizer(r, at->thread))
		return none;
	if (!r->begun)
		return first(r, event, at);
	if (r->mode == TORCHSTEPS_TRAINING)
		return training(r, event, at->time);
	return batch ? batch_alone(r, at) : trains(r, at->time);
}
