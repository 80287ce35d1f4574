/*
 * Nesting.  Kineto writes slices in any order.  Here the rows of each thread are sorted by time, outer before inner, and a
 * stack of open ranges gives each range its id and level, and each call, allocation, mark and graph node its innermost range.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

#include "cli/import/rows/kineto.h"

/*
 * In files with whole microseconds, start and duration are truncated separately.  So a row may end up to 1 us after the row
 * that encloses it.
 */
#define SLACK_NS 1000

enum { ITEM_RANGE, ITEM_API, ITEM_ALLOC, ITEM_MARK, ITEM_NODE, ITEMS };  /* ITEM_ALLOC and above have no duration */

/* Offsets: the rows of a type in struct host; in a row its start, duration (0: none), innermost range (or own id) and thread. */
static const struct {
	size_t list, size, start, duration, range, thread;
} types[ITEMS] = {
#define TYPE(list, of, duration, range) \
	{ offsetof(struct host, list), sizeof(struct of##_row), offsetof(struct of##_row, start), duration, \
	  offsetof(struct of##_row, range), offsetof(struct of##_row, thread) }
	[ITEM_RANGE] = TYPE(range, range, offsetof(struct range_row, duration), id),
	[ITEM_API] = TYPE(api, api, offsetof(struct api_row, duration), range),
	[ITEM_ALLOC] = TYPE(alloc, alloc, 0, range),
	[ITEM_MARK] = TYPE(mark, mark, 0, range),
	[ITEM_NODE] = TYPE(graph_node, graph_node, 0, range),
#undef TYPE
};

struct nest_item {
	int64_t start, end;
	uint32_t type, row;
};

/* Linked list of the rows of one type and thread; nesting.next[type][row] is the row after `row`. */
struct chain {
	int64_t start, end;             /* of the last row */
	uint32_t first, last, n;
	bool unsorted;
};

struct open {
	int64_t end;
	uint64_t id, pushed;            /* pushed: sequence number; the larger one is further inside */
	uint32_t level;
};

/*
 * Open ranges, outermost first.  Python functions have a stack of their own, because they need not nest with PyTorch's
 * ranges: a step begins in one call of step() and ends in the next.
 */
struct stack {
	struct open *open;
	size_t n, cap;
};

/*
 * Sort order.  With equal starts: rows with a duration before those without, longer before shorter (the longer one is
 * outside), ranges before calls, then file order.
 */
static inline bool before(const struct nest_item *a, const struct nest_item *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if ((a->type >= ITEM_ALLOC) != (b->type >= ITEM_ALLOC))
		return b->type >= ITEM_ALLOC;
	if (a->end != b->end)
		return a->end > b->end;
	return a->type != b->type ? a->type < b->type : a->row < b->row;
}

static size_t run_at(const struct nest_item *p, size_t at, size_t n)
{
	size_t end = at + 1;

	while (end < n && !before(&p[end], &p[end - 1]))
		end++;
	return end;
}

/* Natural merge sort: files consist of long sorted runs, and one run costs one comparison a row.  Returns from or to. */
static struct nest_item *sort(struct nest_item *from, struct nest_item *to, size_t n)
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
		struct nest_item *swap = from;

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
	struct chain *chains;           /* ITEMS for each thread */
	uint32_t *next[ITEMS];          /* see struct chain; one entry for each row of the host */
	struct nest_item *items;        /* to sort: 2 * cap items */
	size_t cap;
};

static bool push(struct stack *s, struct open o)
{
	if (!GROW(s->open, s->n + 1, s->cap))
		return false;
	s->open[s->n++] = o;
	return true;
}

static inline const struct open *top(const struct stack *s)
{
	return s->n ? &s->open[s->n - 1] : NULL;
}

/* Closes ranges that ended at or before `at`; returns the innermost open range of both stacks, or NULL. */
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

/* Sets id and level of a range and opens it.  One that crosses the end of its enclosing range becomes a start/end range. */
static bool range(struct nesting *x, const struct nest_item *i, uint64_t id, const struct open *inside)
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
			kineto_count(x->k, COUNT_CROSSING, "'%.80s' ends after the row in which it begins",
				     x->k->texts.list[r->name].at);
			return true;
		}
		o.end = around->end;
	}
	return push(s, o);
}

/* ---- chains ---- */

static const struct buf *list_of(const struct host *h, unsigned type)
{
	return (const struct buf *)((const char *)h + types[type].list);
}

static size_t count(const struct host *h, unsigned type)
{
	return list_of(h, type)->len / types[type].size;
}

static inline struct nest_item item_of(const char *rows, unsigned type, uint32_t row)
{
	const char *at = rows + row * types[type].size;
	struct nest_item i = { .type = type, .row = row };
	int64_t duration = 0;

	memcpy(&i.start, at + types[type].start, sizeof i.start);
	if (types[type].duration)
		memcpy(&duration, at + types[type].duration, sizeof duration);
	i.end = i.start + duration;
	return i;
}

/* A range without an end lasts until the end of the trace. */
static void end_open(const struct kineto *k, struct range_row *r)
{
	r->duration = k->last - r->start;
	r->payload = 0;
}

/* Appends the rows of a type to the chains of their threads, in file order.  Inlined, so that `type` is a constant. */
static inline __attribute__((always_inline)) void link_rows(struct nesting *x, unsigned type)
{
	const struct buf *list = list_of(x->h, type);
	const char *rows = (const char *)list->data;
	uint32_t n = (uint32_t)count(x->h, type), *next = x->next[type];

	for (uint32_t row = 0; row < n; row++) {
		struct range_row *r = type == ITEM_RANGE ? (struct range_row *)list->data + row : NULL;
		struct chain *c;
		struct nest_item i;
		uint32_t thread;

		if (r && r->flags & RANGE_INCOMPLETE)
			end_open(x->k, r);
		i = item_of(rows, type, row);
		memcpy(&thread, rows + row * types[type].size + types[type].thread, sizeof thread);
		c = &x->chains[thread * (size_t)ITEMS + type];
		if (c->n++) {
			next[c->last] = row;
			c->unsorted |= i.start < c->start || (i.start == c->start && i.end > c->end);
		} else {
			c->first = row;
		}
		c->last = row;
		c->start = i.start;
		c->end = i.end;
	}
}

static bool scratch(struct nesting *x, size_t n)
{
	if (x->cap >= n)
		return true;
	free(x->items);
	x->items = malloc(2 * n * sizeof *x->items);
	x->cap = x->items ? n : 0;
	return x->items;
}

static bool sort_chain(struct nesting *x, struct chain *c, unsigned type)
{
	const char *rows = (const char *)list_of(x->h, type)->data;
	uint32_t *next = x->next[type], row = c->first;
	const struct nest_item *sorted;

	if (!scratch(x, c->n))
		return false;
	for (uint32_t i = 0; i < c->n; i++, row = next[row])
		x->items[i] = item_of(rows, type, row);
	sorted = sort(x->items, x->items + x->cap, c->n);
	c->first = sorted[0].row;
	for (uint32_t i = 1; i < c->n; i++)
		next[sorted[i - 1].row] = sorted[i].row;
	return true;
}

/* ---- a thread ---- */

/* Position in a chain. */
struct head {
	struct nest_item item;
	char *rows;
	const uint32_t *next;
	uint32_t left;                  /* rows left, including `item` */
};

static bool place(struct nesting *x, const struct head *c, uint32_t ordinal, uint64_t *sequence)
{
	const struct open *inside = innermost(x, c->item.start);
	unsigned type = c->item.type;
	uint64_t id = inside ? inside->id : 0;

	if (type == ITEM_RANGE)
		return range(x, &c->item, (uint64_t)ordinal << 40 | ++*sequence, inside);
	memcpy(c->rows + c->item.row * types[type].size + types[type].range, &id, sizeof id);
	return true;
}

/* The head that comes first in the sort order, without `but`; NULL if there is no other. */
static inline struct head *first_of(struct head *c, size_t n, const struct head *but)
{
	struct head *first = NULL;

	for (struct head *end = c + n; c < end; c++)
		if (c != but && (!first || before(&c->item, &first->item)))
			first = c;
	return first;
}

/* Merges the chains of thread t and places each row. */
static bool thread(struct nesting *x, size_t t)
{
	struct chain *chains = &x->chains[t * ITEMS];
	struct head heads[ITEMS];
	uint64_t sequence = 0;
	size_t n = 0;

	for (unsigned type = 0; type < ITEMS; type++) {
		char *rows = (char *)list_of(x->h, type)->data;

		if (!chains[type].n)
			continue;
		if (chains[type].unsorted && !sort_chain(x, &chains[type], type))
			return false;
		heads[n++] = (struct head){ item_of(rows, type, chains[type].first), rows, x->next[type], chains[type].n };
	}
	x->stacks[0].n = x->stacks[1].n = 0;
	while (n) {
		struct head *c = first_of(heads, n, NULL), *other = first_of(heads, n, c);

		for (;;) {
			if (!place(x, c, x->k->threads[t].ordinal, &sequence))
				return false;
			if (!--c->left)
				break;
			c->item = item_of(c->rows, c->item.type, c->next[c->item.row]);
			if (other && before(&other->item, &c->item)) {
				struct head *was = c;

				c = other;
				other = n == 2 ? was : first_of(heads, n, c);
			}
		}
		*c = heads[--n];
	}
	return true;
}

/* ---- all of it ---- */

static bool nest_host(struct nesting *x)
{
	const struct range_row *ranges = (const struct range_row *)x->h->range.data;
	struct op_row *op = (struct op_row *)x->h->op.data;
	uint32_t *next;
	size_t n = 0;
	bool ok = true;

	for (unsigned type = 0; type < ITEMS; type++)
		n += count(x->h, type);
	next = malloc((n + 1) * sizeof *next);
	if (!next)
		return false;
	for (unsigned type = 0; type < ITEMS; type++)
		x->next[type] = type ? x->next[type - 1] + count(x->h, type - 1) : next;
	link_rows(x, ITEM_RANGE);
	link_rows(x, ITEM_API);
	link_rows(x, ITEM_ALLOC);
	link_rows(x, ITEM_MARK);
	link_rows(x, ITEM_NODE);
	for (size_t t = 0; t < x->k->n_threads && ok; t++)
		ok = &x->k->hosts[x->k->threads[t].host] != x->h || thread(x, t);
	free(next);
	for (size_t i = 0; ok && i < x->h->op.len / sizeof *op; i++)
		op[i].range = ranges[op[i].range].id;
	return ok && kineto_bound_steps(x->h) == 0;
}

int kineto_nest(struct kineto *k)
{
	struct nesting x = { .k = k, .chains = calloc(k->n_threads * ITEMS + 1, sizeof *x.chains) };
	bool ok = x.chains;

	for (size_t i = 0; i < k->n_hosts && ok; i++) {
		x.h = &k->hosts[i];
		ok = nest_host(&x);
	}
	free(x.stacks[0].open);
	free(x.stacks[1].open);
	free(x.items);
	free(x.chains);
	return ok ? 0 : trace_fail(k->err, 0, "out of memory");
}
