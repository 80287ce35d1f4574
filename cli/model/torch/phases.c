#include "cli/model/torch/phases.h"

#include "cli/model/map.h"
#include "cli/model/sort.h"
#include "trace/buf.h"

#include <string.h>

#define NEVER NO_TIME

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Range names of torch.utils.data, torch.optim and c10d's process groups, PyTorch 2.0 to 2.15. */
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
	else if (begins(name, "FSDP::post_forward") || begins(name, "DataParallel.forward") || begins(name, "Torch-Compiled Region"))
		*mark = MARK_FORWARD;
	else if (begins(name, "gloo:") || begins(name, "nccl:") || begins(name, "mpi:") || begins(name, "ucc:"))
		*mark = MARK_COMM;
	else
		return false;
	return true;
}

/* ---- choosing events ---- */

/* By start; of events with equal starts the outer one first. */
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

/*
 * A zero_grad without a batch before it: the forward may be before or after the zero_grad.  It is assumed on the longer side.  If that is
 * the side before, the begin of the forward is unknown.
 */
struct doubt {
	int64_t before, zero;           /* earliest begin of a forward before zero_grad; begin of the zero_grad */
	size_t span;                    /* position of the forward's span, if the forward is after zero_grad */
};

struct phase_builder {
	struct phases *out;
	struct buf spans, comm;         /* struct phase_span */
	struct map threads;             /* thread -> position in marks */
	struct buf marks;               /* struct thread_marks */
	struct map busy;                /* thread -> position in until */
	struct buf until;               /* int64_t: end of the thread's last outermost autograd node */
	struct map numbers;             /* forward thread -> position in highest */
	struct buf highest;             /* int64_t: highest sequence number so far */
	int64_t last;                   /* end of the last span or event; NEVER: none yet */
	int64_t pass, pass_end;         /* begin and end of the open backward pass; pass NEVER: none */
	int64_t closure_end;            /* end of the open step(closure); NEVER: none */
	bool fresh;                     /* a batch, closure or forward has begun and had no backward pass yet */
	int64_t signs, signs_end;       /* scopes and operators since `last`: begin of the first, end of the last; NEVER: none */
	int64_t linked, linked_next;    /* first operator whose autograd node ran: before the open pass, after its begin; NEVER: none */
	struct doubt doubt;             /* of the next forward; before NEVER: none */
	struct buf doubts;              /* struct doubt */
	bool oom;
};

static struct thread_marks *marks_of(struct phase_builder *k, uint32_t thread)
{
	const struct thread_marks none = { .thread = thread };
	bool new;
	uint32_t *at = map_put(&k->threads, thread, (uint32_t)k->threads.n, &new);

	if (at && new)
		buf_put(&k->marks, &none, sizeof none);
	k->oom |= !at || k->marks.oom;
	return k->oom ? NULL : (struct thread_marks *)k->marks.data + (*at - 1);
}

/* Chooses the thread with the most optimizer steps; of equal ones, the one that fetches most batches. */
static void choose_thread(struct phase_builder *k, const struct phase_event *e, size_t n)
{
	const struct thread_marks *best = NULL, *list;

	for (size_t i = 0; i < n && !k->oom; i++) {
		struct thread_marks *t = e[i].mark == MARK_COMM ? NULL : marks_of(k, e[i].thread);

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

/*
 * Whether an event belongs to the chosen thread's training.  Autograd nodes may run on threads of the engine, but not on threads that have
 * their own optimizer or loader.
 */
static bool is_ours(struct phase_builder *k, const struct phase_event *e)
{
	const struct thread_marks *t;

	if (e->thread == k->out->thread || e->mark == MARK_COMM)
		return true;
	t = marks_of(k, e->thread);
	return e->mark == MARK_BACKWARD && t && !t->n[MARK_OPTIMIZER] && !t->n[MARK_DATA] && !t->n[MARK_ZERO_GRAD];
}

/* The value of a key, `first` if the key is new; NULL: out of memory. */
static int64_t *value_of(struct phase_builder *k, struct map *map, struct buf *values, uint64_t key, int64_t first)
{
	bool new;
	uint32_t *at = map_put(map, key, (uint32_t)map->n, &new);

	if (at && new)
		buf_put(values, &first, sizeof first);
	k->oom |= !at || values->oom;
	return k->oom ? NULL : (int64_t *)values->data + (*at - 1);
}

static void put_comm(struct phase_builder *k, const struct phase_event *e)
{
	struct phase_span *last = k->comm.len ? (struct phase_span *)(k->comm.data + k->comm.len) - 1 : NULL;
	const struct phase_span span = { e->start, e->end, e->end, PHASE_OTHER };

	k->out->seen[MARK_COMM]++;
	if (last && e->start <= last->end)
		last->end = e->end > last->end ? e->end : last->end;
	else if (e->start < e->end)
		buf_put(&k->comm, &span, sizeof span);
}

/* Whether an event lies inside an autograd node: checkpointing recomputes a forward in the backward pass. */
static bool in_node(struct phase_builder *k, const struct phase_event *e)
{
	const int64_t *until = value_of(k, &k->busy, &k->until, e->thread, NEVER);

	return until && e->start < *until;
}

/* Copies the events that count to out: those of the chosen thread's training, and only outermost autograd nodes. */
static size_t sift(struct phase_builder *k, const struct phase_event *e, size_t n, struct phase_event *out)
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
		if ((e[i].mark == MARK_PARALLEL || e[i].mark == MARK_FORWARD) && in_node(k, &e[i]))
			continue;
		k->out->seen[e[i].mark]++;
		out[kept++] = e[i];
	}
	return kept;
}

/* ---- spans ---- */

static void put_span(struct phase_builder *k, int64_t start, int64_t end, enum phase phase)
{
	const struct phase_span span = { start, end, end, phase };

	if (start != NEVER && start < end)
		buf_put(&k->spans, &span, sizeof span);
}

/* End of the open backward pass: that of the last collective that begins before the next event, at most the begin of that event. */
static int64_t waited_until(const struct phase_builder *k, int64_t next)
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

static void forward_before_pass(struct phase_builder *k)
{
	int64_t start = !k->fresh && k->linked != NEVER && k->linked >= k->last ? k->linked : k->last;

	put_span(k, k->last, start, PHASE_OTHER);
	k->doubt.span = k->spans.len / sizeof(struct phase_span);
	put_span(k, start, k->pass, PHASE_FORWARD);
	if (!k->fresh && k->linked == NEVER && k->doubt.before != NEVER && k->spans.len / sizeof(struct phase_span) > k->doubt.span)
		buf_put(&k->doubts, &k->doubt, sizeof k->doubt);
}

static void close_pass(struct phase_builder *k, int64_t next)
{
	struct phase_span *span;
	int64_t computed = k->pass_end;

	if (k->pass == NEVER)
		return;
	if (k->out->seen[MARK_PARALLEL])
		k->pass_end = waited_until(k, next);
	if (k->last != NEVER && k->pass < k->last)
		k->pass = k->last;
	forward_before_pass(k);
	put_span(k, k->pass, k->pass_end, PHASE_BACKWARD);
	span = k->spans.len ? (struct phase_span *)(k->spans.data + k->spans.len) - 1 : NULL;
	if (span && span->phase == PHASE_BACKWARD)
		span->computed = computed;
	if (k->last == NEVER || k->pass_end > k->last)
		k->last = k->pass_end;
	k->pass = NEVER;
	k->fresh = false;
	k->signs = k->doubt.before = NEVER;
	k->linked = k->linked_next;
	k->linked_next = NEVER;
}

static void node(struct phase_builder *k, const struct phase_event *e)
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
	/* A node that overlaps the open pass belongs to it: another device's or thread's part. */
	if (newer && k->pass != NEVER && e->start >= k->pass_end)
		close_pass(k, e->start);
	if (k->pass == NEVER) {
		k->pass = e->start;
		k->pass_end = e->end;
	}
	if (e->end > k->pass_end)
		k->pass_end = e->end;
}

static void put_forward(struct phase_builder *k, int64_t start, int64_t end, int64_t until)
{
	start = start > k->last ? start : k->last;
	end = end < until ? end : until;
	put_span(k, k->last, start, PHASE_OTHER);
	put_span(k, start, end, PHASE_FORWARD);
	put_span(k, end > start ? end : start, until, PHASE_OTHER);
}

/* Adds the spans between `last` and an event that is not a backward pass. */
static void gap(struct phase_builder *k, int64_t until, enum phase_mark next)
{
	bool linked = k->linked != NEVER && k->linked >= k->last && k->linked < until && next != MARK_OPTIMIZER;

	if (k->fresh && next != MARK_DATA) {
		put_span(k, k->last, until, PHASE_FORWARD);
	} else if (k->closure_end != NEVER) {
		put_span(k, k->last, until, PHASE_OPTIMIZER);
	} else if (linked) {
		put_forward(k, k->linked, until, until);
		k->fresh = true;
	} else if (k->fresh && k->signs != NEVER && k->signs < until) {
		/* Evaluation or inference: only operators and scopes show the forward. */
		put_forward(k, k->signs, k->signs_end, until);
	} else {
		put_span(k, k->last, until, PHASE_OTHER);
		if (next == MARK_ZERO_GRAD && k->doubt.before == NEVER) {
			k->doubt.before = k->last;
			k->doubt.zero = until;
		}
	}
	k->signs = k->linked = NEVER;
}

static void close_closure(struct phase_builder *k)
{
	close_pass(k, k->closure_end);
	put_span(k, k->last, k->closure_end, PHASE_OPTIMIZER);
	if (k->closure_end > k->last)
		k->last = k->closure_end;
	k->closure_end = NEVER;
	k->fresh = false;
}

static void sign(struct phase_builder *k, const struct phase_event *e)
{
	if (k->signs == NEVER || e->start < k->signs)
		k->signs = e->start;
	if (k->signs == e->start || e->end > k->signs_end)
		k->signs_end = e->end;
}

/* A scope of a forward: the forward begins with it, unless it has begun already. */
static void scope(struct phase_builder *k, const struct phase_event *e)
{
	if (!k->fresh && (k->last == NEVER || e->start >= k->last)) {
		put_span(k, k->last, e->start, k->closure_end != NEVER ? PHASE_OPTIMIZER : PHASE_OTHER);
		k->last = e->start;
		k->fresh = true;
		k->signs = NEVER;
	}
	sign(k, e);
}

/* Operators do not end a backward pass, because its collectives may run beside them. */
static void operators(struct phase_builder *k, const struct phase_event *e)
{
	int64_t *linked = k->pass != NEVER && e->linked >= k->pass ? &k->linked_next : &k->linked;

	if (e->linked != NO_TIME && *linked == NEVER)
		*linked = e->linked;
	if (k->pass == NEVER || e->start >= k->pass_end)
		sign(k, e);
}

static void mark(struct phase_builder *k, const struct phase_event *e, bool closure)
{
	static const enum phase phase_of[] = {
		[MARK_DATA] = PHASE_DATA, [MARK_OPTIMIZER] = PHASE_OPTIMIZER, [MARK_ZERO_GRAD] = PHASE_ZERO_GRAD,
	};
	int64_t start = e->start;

	close_pass(k, e->start);
	if (e->mark == MARK_PARALLEL || e->mark == MARK_FORWARD) {
		scope(k, e);
		return;
	}
	if (k->last != NEVER && e->end <= k->last)
		return;         /* nested: an optimizer in an optimizer, a loader in a loader */
	if (k->last != NEVER && start < k->last)
		start = k->last;
	/* A closure's forward begins inside it; the time before is other, like the time before a batch. */
	gap(k, start, closure ? MARK_DATA : e->mark);
	if (closure) {
		k->last = start;
		k->closure_end = e->end;
		k->fresh = true;
		return;
	}
	put_span(k, start, e->end, phase_of[e->mark]);
	k->fresh = e->mark == MARK_DATA || (k->fresh && e->mark == MARK_ZERO_GRAD);
	if (e->mark != MARK_ZERO_GRAD || k->fresh)
		k->doubt.before = NEVER;
	k->last = e->end;
}

/* Whether event i is an optimizer with an autograd node inside.  node: first autograd node after event i, or n. */
static bool runs_closure(const struct phase_event *e, size_t n, size_t i, size_t node)
{
	return e[i].mark == MARK_OPTIMIZER && node < n && e[node].start < e[i].end;
}

static void spans_make(struct phase_builder *k, const struct phase_event *e, size_t n)
{
	size_t next = 0;                /* first autograd node after event i */

	for (size_t i = 0; i < n && !k->oom; i++) {
		for (; next < n && (next <= i || e[next].mark != MARK_BACKWARD); next++)
			;
		if (k->closure_end != NEVER && e[i].start >= k->closure_end)
			close_closure(k);
		if (e[i].mark == MARK_BACKWARD)
			node(k, &e[i]);
		else if (e[i].mark == MARK_OPERATORS)
			operators(k, &e[i]);
		else
			mark(k, &e[i], k->closure_end == NEVER && runs_closure(e, n, i, next));
	}
	if (k->closure_end != NEVER)
		close_closure(k);
	close_pass(k, INT64_MAX);
}

/* ---- is the forward known? ---- */

static size_t launches_before(const int64_t *launches, size_t n, int64_t time)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (launches[mid] < time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Whether the side before zero_grad is longer: by launches if there are any, since the host's time is mostly waiting; else by time. */
static bool is_before(const struct doubt *d, const struct phase_span *f, const int64_t *launches, size_t n)
{
	size_t before = launches_before(launches, n, d->zero) - launches_before(launches, n, d->before);
	size_t behind = launches_before(launches, n, f->end) - launches_before(launches, n, f->start);

	return before || behind ? before > behind : d->zero - d->before > f->end - f->start;
}

static void judge_doubts(struct phase_builder *k, const int64_t *launches, size_t n_launches)
{
	const struct doubt *d = (const struct doubt *)k->doubts.data;
	struct phase_span *list = (struct phase_span *)k->spans.data;
	size_t n = k->doubts.len / sizeof *d, before = 0, forwards = 0;

	k->oom |= k->doubts.oom || k->spans.oom;
	if (k->oom)
		return;
	for (size_t i = 0; i < n; i++)
		before += is_before(&d[i], &list[d[i].span], launches, n_launches);
	k->out->doubts = n;
	k->out->doubtful = before * 2 > n;
	/* If the forward is unknown, count every forward as other, so that printed phases add up to the step. */
	for (size_t i = 0; i < k->spans.len / sizeof *list; i++) {
		forwards += list[i].phase == PHASE_FORWARD;
		if (k->out->doubtful && list[i].phase == PHASE_FORWARD)
			list[i].phase = PHASE_OTHER;
	}
	k->out->forward = forwards && !k->out->doubtful;
}

int phases_make(struct phase_event *events, size_t n, const int64_t *launches, size_t n_launches, struct phases *out)
{
	struct phase_builder k = { .out = out, .last = NEVER, .pass = NEVER, .closure_end = NEVER, .signs = NEVER, .linked = NEVER,
			    .linked_next = NEVER, .doubt = { .before = NEVER } };

	struct phase_event *kept = malloc(n * sizeof *kept + 1);

	*out = (struct phases){ .n = 0 };
	if (!kept)
		return -1;
	if (n)
		qsort(events, n, sizeof *events, by_start);
	choose_thread(&k, events, n);
	n = sift(&k, events, n, kept);
	spans_make(&k, kept, n);
	out->inference = !out->seen[MARK_OPTIMIZER];
	judge_doubts(&k, launches, n_launches);
	k.oom |= phases_steps(kept, n, out) < 0;
	free(kept);
	map_release(&k.threads);
	map_release(&k.busy);
	map_release(&k.numbers);
	buf_free(&k.marks);
	buf_free(&k.until);
	buf_free(&k.highest);
	buf_free(&k.doubts);
	out->list = (struct phase_span *)k.spans.data;
	out->n = k.spans.len / sizeof *out->list;
	out->comm = (struct phase_span *)k.comm.data;
	out->n_comm = k.comm.len / sizeof *out->comm;
	if (!k.oom && !k.spans.oom && !k.comm.oom)
		return 0;
	phases_release(out);
	return -1;
}

void phases_release(struct phases *p)
{
	free(p->list);
	free(p->steps);
	free(p->comm);
	*p = (struct phases){ .n = 0 };
}

size_t phases_first_after(const struct phase_span *list, size_t n, int64_t time)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list[mid].end <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
