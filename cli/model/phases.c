#include "cli/model/phases.h"

#include "cli/model/map.h"
#include "cli/model/sort.h"
#include "trace/buf.h"
#include "trace/torchsteps.h"

#include <string.h>

#define NEVER INT64_MIN

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Names that torch.utils.data, torch.optim and c10d's process groups give their ranges: PyTorch 2.0 to 2.15. */
bool phase_mark_of(const char *name, bool backward, enum phase_mark *mark)
{
	if (backward)
		*mark = MARK_BACKWARD;
	else if (begins(name, "enumerate(DataLoader)#") || begins(name, "enumerate(DataPipe)#"))
		*mark = MARK_DATA;
	else if (begins(name, "Optimizer.step#"))
		*mark = MARK_OPTIMIZER;
	else if (begins(name, "Optimizer.zero_grad#"))
		*mark = MARK_ZERO_GRAD;
	else if (begins(name, "DistributedDataParallel.forward") || begins(name, "FullyShardedDataParallel.forward") ||
		 begins(name, "FSDP::root_pre_forward") || begins(name, "FSDP::pre_forward"))
		*mark = MARK_PARALLEL;
	else if (begins(name, "gloo:") || begins(name, "nccl:") || begins(name, "mpi:") || begins(name, "ucc:"))
		*mark = MARK_COMM;
	else
		return false;
	return true;
}

/* ---- whose events ---- */

/* By start; of those that begin together the outer one first. */
static int by_start(const void *a, const void *b)
{
	const struct phase_event *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->mark < y->mark ? -1 : x->mark > y->mark;
}

struct thread_marks {
	uint32_t thread;
	size_t n[PHASE_MARKS];
};

struct making {
	struct phases *out;
	struct buf spans, steps, comm;  /* struct phase_span, struct phase_step, struct phase_span */
	struct map threads;             /* thread -> position in marks */
	struct buf marks;               /* struct thread_marks */
	struct map busy;                /* thread -> position in until */
	struct buf until;               /* int64_t: end of its outermost autograd node */
	struct map numbers;             /* forward thread -> position in highest */
	struct buf highest;             /* int64_t: sequence number */
	int64_t last;                   /* end of the last thing known; NEVER: none yet */
	int64_t pass, pass_end;         /* the backward pass that is open; NEVER: none */
	int64_t closure_end;            /* of the step(closure) that is open; NEVER: none */
	bool fresh;                     /* a batch, or a closure, has begun and had no backward pass yet */
	bool oom;
};

static struct thread_marks *marks_of(struct making *k, uint32_t thread)
{
	const struct thread_marks none = { .thread = thread };
	bool new;
	uint32_t *at = map_put(&k->threads, thread, (uint32_t)k->threads.n, &new);

	if (at && new)
		buf_put(&k->marks, &none, sizeof none);
	k->oom |= !at || k->marks.oom;
	return k->oom ? NULL : (struct thread_marks *)k->marks.data + (*at - 1);
}

/* The thread that takes the most steps; without any, the one that fetches the most batches. */
static void choose_thread(struct making *k, const struct phase_event *e, size_t n)
{
	const struct thread_marks *best = NULL, *list;

	for (size_t i = 0; i < n && !k->oom; i++) {
		struct thread_marks *t = marks_of(k, e[i].thread);

		if (t)
			t->n[e[i].mark]++;
	}
	list = (const struct thread_marks *)k->marks.data;
	for (size_t i = 0; !k->oom && i < k->marks.len / sizeof *list; i++)
		if (!best || list[i].n[MARK_OPTIMIZER] > best->n[MARK_OPTIMIZER] ||
		    (list[i].n[MARK_OPTIMIZER] == best->n[MARK_OPTIMIZER] && list[i].n[MARK_DATA] > best->n[MARK_DATA]))
			best = &list[i];
	k->out->thread = best ? best->thread : 0;
}

/* Autograd nodes may run on threads of the engine; a thread with an optimizer or a loader of its own trains for itself. */
static bool is_ours(struct making *k, const struct phase_event *e)
{
	const struct thread_marks *t;

	if (e->thread == k->out->thread || e->mark == MARK_COMM)
		return true;
	t = marks_of(k, e->thread);
	return e->mark == MARK_BACKWARD && t && !t->n[MARK_OPTIMIZER] && !t->n[MARK_DATA] && !t->n[MARK_ZERO_GRAD];
}

/* The value of a key; NULL: out of memory. */
static int64_t *value_of(struct making *k, struct map *map, struct buf *values, uint64_t key, int64_t first)
{
	bool new;
	uint32_t *at = map_put(map, key, (uint32_t)map->n, &new);

	if (at && new)
		buf_put(values, &first, sizeof first);
	k->oom |= !at || values->oom;
	return k->oom ? NULL : (int64_t *)values->data + (*at - 1);
}

static void put_comm(struct making *k, const struct phase_event *e)
{
	struct phase_span *last = k->comm.len ? (struct phase_span *)(k->comm.data + k->comm.len) - 1 : NULL;
	const struct phase_span span = { e->start, e->end, e->end, PHASE_OTHER };

	k->out->seen[MARK_COMM]++;
	if (last && e->start <= last->end)
		last->end = e->end > last->end ? e->end : last->end;
	else if (e->start < e->end)
		buf_put(&k->comm, &span, sizeof span);
}

/* Leaves what counts: of ours, and of autograd nodes the outermost ones. */
static size_t sift(struct making *k, struct phase_event *e, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n && !k->oom; i++) {
		if (e[i].end < e[i].start)
			continue;
		if (e[i].mark == MARK_COMM) {
			put_comm(k, &e[i]);
			continue;
		}
		if (!is_ours(k, &e[i])) {
			k->out->elsewhere += e[i].mark == MARK_DATA;
			continue;
		}
		if (e[i].mark == MARK_BACKWARD) {
			int64_t *until = value_of(k, &k->busy, &k->until, e[i].thread, NEVER);

			if (!until || e[i].start < *until)
				continue;
			*until = e[i].end;
		}
		k->out->seen[e[i].mark]++;
		e[kept++] = e[i];
	}
	return kept;
}

/* ---- spans ---- */

static void put(struct making *k, int64_t start, int64_t end, enum phase phase)
{
	const struct phase_span span = { start, end, end, phase };

	if (start != NEVER && start < end)
		buf_put(&k->spans, &span, sizeof span);
}

/* The end of the last collective that begins before the next event, which the pass waited for. */
static int64_t waited_until(const struct making *k, int64_t next)
{
	const struct phase_span *comm = (const struct phase_span *)k->comm.data;
	size_t n = k->comm.len / sizeof *comm, low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (comm[mid].start < next)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || comm[low - 1].end <= k->pass_end)
		return k->pass_end;
	return comm[low - 1].end < next ? comm[low - 1].end : next;
}

static void close_pass(struct making *k, int64_t next)
{
	struct phase_span *span;
	int64_t computed = k->pass_end;

	if (k->pass == NEVER)
		return;
	if (k->out->seen[MARK_PARALLEL])
		k->pass_end = waited_until(k, next);
	if (k->last != NEVER && k->pass < k->last)
		k->pass = k->last;
	put(k, k->last, k->pass, PHASE_FORWARD);
	put(k, k->pass, k->pass_end, PHASE_BACKWARD);
	span = k->spans.len ? (struct phase_span *)(k->spans.data + k->spans.len) - 1 : NULL;
	if (span && span->phase == PHASE_BACKWARD)
		span->computed = computed;
	if (k->last == NEVER || k->pass_end > k->last)
		k->last = k->pass_end;
	k->pass = NEVER;
	k->fresh = false;
}

static void node(struct making *k, const struct phase_event *e)
{
	bool newer = false;

	if (e->sequence >= 0) {
		int64_t *highest = value_of(k, &k->numbers, &k->highest, e->fwd_thread, -1);

		if (!highest)
			return;
		newer = e->sequence > *highest;
		if (newer)
			*highest = e->sequence;
	}
	/* Beside nodes of the open pass it is another device's or thread's part of the same one. */
	if (newer && k->pass != NEVER && e->start >= k->pass_end)
		close_pass(k, e->start);
	if (k->pass == NEVER) {
		k->pass = e->start;
		k->pass_end = e->end;
	}
	if (e->end > k->pass_end)
		k->pass_end = e->end;
}

/* What lies before something that is no backward pass. */
static void gap(struct making *k, int64_t until, enum phase_mark next)
{
	enum phase phase = PHASE_OTHER;

	if (k->fresh && next != MARK_DATA)
		phase = PHASE_FORWARD;
	else if (k->closure_end != NEVER)
		phase = PHASE_OPTIMIZER;
	put(k, k->last, until, phase);
}

static void close_closure(struct making *k)
{
	close_pass(k, k->closure_end);
	put(k, k->last, k->closure_end, PHASE_OPTIMIZER);
	if (k->closure_end > k->last)
		k->last = k->closure_end;
	k->closure_end = NEVER;
	k->fresh = false;
}

static void mark(struct making *k, const struct phase_event *e, bool closure)
{
	static const enum phase phase_of[] = {
		[MARK_DATA] = PHASE_DATA, [MARK_OPTIMIZER] = PHASE_OPTIMIZER, [MARK_ZERO_GRAD] = PHASE_ZERO_GRAD,
	};
	int64_t start = e->start;

	close_pass(k, e->start);
	if (e->mark == MARK_PARALLEL)
		return;         /* a forward begins, and whatever was before it has ended */
	if (k->last != NEVER && e->end <= k->last)
		return;         /* inside another: an optimizer in an optimizer, a loader in a loader */
	if (k->last != NEVER && start < k->last)
		start = k->last;
	/* What a closure computes begins in it: before it there are a framework's own affairs. */
	gap(k, start, closure ? MARK_DATA : e->mark);
	if (closure) {
		k->last = start;
		k->closure_end = e->end;
		k->fresh = true;
		return;
	}
	put(k, start, e->end, phase_of[e->mark]);
	k->fresh = e->mark == MARK_DATA || (k->fresh && e->mark == MARK_ZERO_GRAD);
	k->last = e->end;
}

/* Whether an autograd node begins inside of event i. */
static bool runs_closure(const struct phase_event *e, size_t n, size_t i)
{
	if (e[i].mark != MARK_OPTIMIZER)
		return false;
	for (size_t j = i + 1; j < n && e[j].start < e[i].end; j++)
		if (e[j].mark == MARK_BACKWARD)
			return true;
	return false;
}

static void spans_make(struct making *k, const struct phase_event *e, size_t n)
{
	for (size_t i = 0; i < n && !k->oom; i++) {
		if (k->closure_end != NEVER && e[i].start >= k->closure_end)
			close_closure(k);
		if (e[i].mark == MARK_BACKWARD)
			node(k, &e[i]);
		else
			mark(k, &e[i], k->closure_end == NEVER && runs_closure(e, n, i));
	}
	if (k->closure_end != NEVER)
		close_closure(k);
	close_pass(k, INT64_MAX);
}

/* ---- steps ---- */

/* An event of the rule that both sides share (trace/torchsteps.h). */
struct moment {
	int64_t time;
	enum torchsteps_event event;
	uint32_t thread, number;        /* number: of the range, in order */
};

/* What ends when another begins is over then. */
static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	bool x_ends = x->event == TORCHSTEPS_FETCHED || x->event == TORCHSTEPS_STEPPED;
	bool y_ends = y->event == TORCHSTEPS_FETCHED || y->event == TORCHSTEPS_STEPPED;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->number == y->number)
		return x_ends ? 1 : -1;
	if (x_ends != y_ends)
		return x_ends ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void put_moments(struct buf *moments, const struct phase_event *e, uint32_t number)
{
	static const struct { enum torchsteps_event begins, ends; } of[PHASE_MARKS] = {
		[MARK_DATA] = { TORCHSTEPS_BATCH, TORCHSTEPS_FETCHED }, [MARK_OPTIMIZER] = { TORCHSTEPS_OPTIMIZER, TORCHSTEPS_STEPPED },
		[MARK_ZERO_GRAD] = { TORCHSTEPS_OPTIMIZER, TORCHSTEPS_NOTHING }, [MARK_BACKWARD] = { TORCHSTEPS_NODE, TORCHSTEPS_NOTHING },
	};
	const struct moment begin = { e->start, of[e->mark].begins, e->thread, number };
	const struct moment end = { e->end, of[e->mark].ends, e->thread, number };

	if (begin.event)
		buf_put(moments, &begin, sizeof begin);
	if (end.event)
		buf_put(moments, &end, sizeof end);
}

/* Groups of optimizer steps: those without a backward pass between them belong together. */
static size_t count_groups(const struct phase_event *e, size_t n)
{
	size_t groups = 0;
	bool open = false;

	for (size_t i = 0; i < n; i++) {
		groups += e[i].mark == MARK_OPTIMIZER && !open;
		open = e[i].mark == MARK_OPTIMIZER || (open && e[i].mark != MARK_BACKWARD);
	}
	return groups;
}

static void put_step(struct making *k, const struct torchsteps_answer *a, struct phase_step *open)
{
	struct phase_step *last = k->steps.len ? (struct phase_step *)(k->steps.data + k->steps.len) - 1 : NULL;

	if (a->what == TORCHSTEPS_TRAINS)
		k->steps.len = 0;
	else if (a->what == TORCHSTEPS_MOVED && last)
		last->end = a->time;
	else if (a->what == TORCHSTEPS_NEXT && open->start < a->time)
		buf_put(&k->steps, &(struct phase_step){ open->start, a->time, open->headless }, sizeof *open);
	*open = (struct phase_step){ .start = a->time, .headless = a->what == TORCHSTEPS_FIRST && !a->batch };
}

/* Without an optimizer what remains is from batch to batch.  The step that runs at the end is none. */
static void steps_make(struct making *k, const struct phase_event *e, size_t n)
{
	struct torchsteps rule = { .many = count_groups(e, n) > k->out->seen[MARK_DATA] * TORCHSTEPS_OPTIMIZERS };
	struct buf moments = { 0 };
	struct phase_step open = { 0 };
	const struct moment *list;

	for (size_t i = 0; i < n; i++)
		if (!k->out->inference || e[i].mark == MARK_DATA)
			put_moments(&moments, &e[i], (uint32_t)i);
	list = (const struct moment *)moments.data;
	if (moments.len)
		qsort(moments.data, moments.len / sizeof *list, sizeof *list, by_time);
	for (size_t i = 0; !moments.oom && i < moments.len / sizeof *list; i++) {
		const struct torchsteps_place at = { list[i].time, list[i].time, list[i].thread };
		struct torchsteps_answer a = torchsteps_feed(&rule, list[i].event, &at);

		if (a.what != TORCHSTEPS_NONE)
			put_step(k, &a, &open);
	}
	k->oom |= moments.oom;
	buf_free(&moments);
}

int phases_make(struct phase_event *events, size_t n, struct phases *out)
{
	struct making k = { .out = out, .last = NEVER, .pass = NEVER, .closure_end = NEVER };

	*out = (struct phases){ .n = 0 };
	if (n)
		qsort(events, n, sizeof *events, by_start);
	choose_thread(&k, events, n);
	n = sift(&k, events, n);
	spans_make(&k, events, n);
	out->inference = !out->seen[MARK_OPTIMIZER];
	steps_make(&k, events, n);
	map_release(&k.threads);
	map_release(&k.busy);
	map_release(&k.numbers);
	buf_free(&k.marks);
	buf_free(&k.until);
	buf_free(&k.highest);
	if (k.oom || k.spans.oom || k.steps.oom || k.comm.oom) {
		buf_free(&k.spans);
		buf_free(&k.steps);
		buf_free(&k.comm);
		return -1;
	}
	out->list = (struct phase_span *)k.spans.data;
	out->n = k.spans.len / sizeof *out->list;
	out->steps = (struct phase_step *)k.steps.data;
	out->n_steps = k.steps.len / sizeof *out->steps;
	out->comm = (struct phase_span *)k.comm.data;
	out->n_comm = k.comm.len / sizeof *out->comm;
	return 0;
}

void phases_release(struct phases *p)
{
	free(p->list);
	free(p->steps);
	free(p->comm);
	*p = (struct phases){ .n = 0 };
}
