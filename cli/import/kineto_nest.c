/*
 * What lies inside what.  Kineto writes slices in any order; on each thread they are sorted by time, outer before inner,
 * and a stack says what is open: so ranges get ids and levels, and calls and allocations the innermost range.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/import/kineto.h"

/*
 * A file in whole microseconds cuts begin and length off separately, so that a row may end up to 1 us behind the one
 * around it.
 */
#define SLACK_NS 1000

enum { ITEM_RANGE, ITEM_API, ITEM_ALLOC, ITEM_MARK, ITEM_NODE };         /* from ITEM_ALLOC on without a length */

struct item {
	int64_t start, end;
	uint32_t type, row;
};

struct open {
	int64_t end;
	uint64_t id, pushed;            /* pushed: counts up, the larger the further inside */
	uint32_t level;
};

/*
 * Python's functions and what PyTorch marks are two stacks, as NVTX domains are: a step begins in one call of step() and
 * ends in the next.
 */
struct stack {
	struct open *open;
	size_t n, cap;
};

/* Of two that begin together the longer one is outside; of equal ones a range, and what comes first in the file. */
static inline bool before(const struct item *a, const struct item *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if ((a->type >= ITEM_ALLOC) != (b->type >= ITEM_ALLOC))
		return b->type >= ITEM_ALLOC;
	if (a->end != b->end)
		return a->end > b->end;
	return a->type != b->type ? a->type < b->type : a->row < b->row;
}

static size_t run_at(const struct item *p, size_t at, size_t n)
{
	size_t end = at + 1;

	while (end < n && !before(&p[end], &p[end - 1]))
		end++;
	return end;
}

/* Files are long runs of rows in order: merging runs costs one look at each row where there is one run. */
static struct item *sort(struct item *from, struct item *to, size_t n)
{
	while (n) {
		size_t runs = 0;

		for (size_t at = 0; at < n;) {
			size_t middle = run_at(from, at, n), end = middle < n ? run_at(from, middle, n) : n, a = at, b = middle;

			if (at == 0 && middle == n)
				return from;
			for (size_t o = at; o < end; o++)
				to[o] = b == end || (a < middle && !before(&from[b], &from[a])) ? from[a++] : from[b++];
			at = end;
			runs++;
		}
		struct item *swap = from;

		from = to;
		to = swap;
		if (runs == 1)
			break;
	}
	return from;
}

struct nesting {
	struct kineto *k;
	struct host *h;
	struct stack stacks[2];
	uint64_t pushed;
};

static bool push(struct stack *s, struct open o)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 256;
		struct open *open = realloc(s->open, cap * sizeof *open);

		if (!open)
			return false;
		s->open = open;
		s->cap = cap;
	}
	s->open[s->n++] = o;
	return true;
}

static inline const struct open *top(const struct stack *s)
{
	return s->n ? &s->open[s->n - 1] : NULL;
}

/* Of both stacks, at a time. */
static const struct open *innermost(struct nesting *x, int64_t at)
{
	const struct open *a, *b;

	for (struct stack *s = x->stacks; s < x->stacks + 2; s++)
		while (s->n && s->open[s->n - 1].end <= at)
			s->n--;
	a = top(&x->stacks[0]);
	b = top(&x->stacks[1]);
	return !a || (b && b->pushed > a->pushed) ? b : a;
}

static bool range(struct nesting *x, const struct item *i, uint64_t id, const struct open *inside)
{
	struct range_row *r = (struct range_row *)x->h->range.data + i->row;
	struct stack *s = &x->stacks[x->k->python_domain && r->domain == x->k->python_domain];
	const struct open *around = top(s);
	struct open o = { i->end, id, ++x->pushed, inside ? inside->level + 1 : 0 };

	r->id = id;
	r->level = o.level;
	if (r->flags & RANGE_STARTEND)
		return true;
	if (around && i->end > around->end) {
		if (i->end - around->end > SLACK_NS) {
			r->flags |= RANGE_STARTEND;
			kineto_count(x->k, COUNT_CROSSING, "'%.80s' ends behind the row that it begins in",
				     x->k->texts.list[r->name].at);
			return true;
		}
		o.end = around->end;
	}
	return push(s, o);
}

/* The rows of one thread, sorted. */
static bool thread(struct nesting *x, const struct item *items, size_t n, uint32_t ordinal)
{
	uint64_t sequence = 0;

	x->stacks[0].n = x->stacks[1].n = 0;
	for (const struct item *i = items; i < items + n; i++) {
		const struct open *inside = innermost(x, i->start);

		if (i->type == ITEM_API)
			((struct api_row *)x->h->api.data)[i->row].range = inside ? inside->id : 0;
		else if (i->type == ITEM_ALLOC)
			((struct alloc_row *)x->h->alloc.data)[i->row].range = inside ? inside->id : 0;
		else if (i->type == ITEM_MARK)
			((struct mark_row *)x->h->mark.data)[i->row].range = inside ? inside->id : 0;
		else if (i->type == ITEM_NODE)
			((struct graph_node_row *)x->h->graph_node.data)[i->row].range = inside ? inside->id : 0;
		else if (!range(x, i, (uint64_t)ordinal << 40 | ++sequence, inside))
			return false;
	}
	return true;
}

/* Rows of a kind into the items of their threads; first: where the next of each thread goes. */
#define DEAL(list, of, length) do {                                                                      \
	const struct of##_row *r = (const struct of##_row *)h->list.data;                               \
	for (uint32_t i = 0; i < h->list.len / sizeof *r; i++)                                          \
		items[first[r[i].thread]++] = (struct item){ r[i].start, r[i].start + (length), type, i }; \
	type++;                                                                                         \
} while (0)

#define COUNT(list, of) do {                                                                            \
	const struct of##_row *r = (const struct of##_row *)h->list.data;                               \
	for (uint32_t i = 0; i < h->list.len / sizeof *r; i++)                                          \
		first[r[i].thread + 1]++;                                                               \
} while (0)

/* The first call at or behind a time. */
static uint32_t call_from(const struct item *calls, size_t n, int64_t time, uint32_t otherwise)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (calls[mid].start < time)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n ? calls[low].row : otherwise;
}

/* Steps are bounded by the first calls in and behind them, as recorded ones are. */
static void bound_steps(struct host *h, struct item *items, struct item *spare)
{
	size_t n_steps = h->step.len / sizeof(struct step_row), n_calls = h->api.len / sizeof(struct api_row), n = 0;
	struct step_row *steps = (struct step_row *)h->step.data;
	const struct api_row *api = (const struct api_row *)h->api.data;
	const struct item *calls;
	uint32_t beyond = 0;

	for (size_t i = 0; i < n_calls; i++) {
		if (!api[i].corr)
			continue;
		items[n++] = (struct item){ .start = api[i].start, .row = api[i].corr };
		beyond = api[i].corr >= beyond ? api[i].corr + 1 : beyond;
	}
	calls = sort(items, spare, n);
	for (size_t i = 0; i < n_steps; i++) {
		struct step_row *s = &steps[i];

		s->first_corr = call_from(calls, n, s->start, 0);
		s->end_corr = call_from(calls, n, s->start + s->duration, beyond);
		if (!s->first_corr || s->first_corr == s->end_corr)
			s->first_corr = s->end_corr = 0;
		s->range = ((const struct range_row *)h->range.data)[s->range].id;
	}
}

static int nest_host(struct kineto *k, struct host *h)
{
	size_t n = h->range.len / sizeof(struct range_row) + h->api.len / sizeof(struct api_row) +
		   h->alloc.len / sizeof(struct alloc_row) + h->mark.len / sizeof(struct mark_row) +
		   h->graph_node.len / sizeof(struct graph_node_row);
	struct item *items = malloc((n + 1) * sizeof *items), *spare = malloc((n + 1) * sizeof *items);
	size_t *first = calloc(k->n_threads + 2, sizeof *first), at = 0;
	struct nesting x = { .k = k, .h = h };
	struct op_row *op = (struct op_row *)h->op.data;
	uint32_t type = ITEM_RANGE;
	int rc = -1;

	if (!items || !spare || !first)
		goto out;
	COUNT(range, range);
	COUNT(api, api);
	COUNT(alloc, alloc);
	COUNT(mark, mark);
	COUNT(graph_node, graph_node);
	for (size_t t = 0; t < k->n_threads; t++)
		first[t + 1] += first[t];
	DEAL(range, range, r[i].duration);
	DEAL(api, api, r[i].duration);
	DEAL(alloc, alloc, 0);
	DEAL(mark, mark, 0);
	DEAL(graph_node, graph_node, 0);
	/* Dealt out, first[t] is where the thread's rows end. */
	for (size_t t = 0; t < k->n_threads; at = first[t++])
		if (!thread(&x, sort(items + at, spare + at, first[t] - at), first[t] - at, k->threads[t].ordinal))
			goto out;
	for (size_t i = 0; i < h->op.len / sizeof *op; i++)
		op[i].range = ((const struct range_row *)h->range.data)[op[i].range].id;
	if (h->step.len)
		bound_steps(h, items, spare);
	rc = 0;
out:
	free(x.stacks[0].open);
	free(x.stacks[1].open);
	free(items);
	free(spare);
	free(first);
	return rc;
}

int kineto_nest(struct kineto *k)
{
	pairs_finish(k);
	for (size_t i = 0; i < k->n_hosts; i++)
		if (nest_host(k, &k->hosts[i]) < 0)
			return trace_fail(k->err, 0, "out of memory");
	return 0;
}
