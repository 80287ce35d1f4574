#include "cli/analyze/hta_tree.h"

#include <stdlib.h>

enum { CLOSES, OPENS, NO_TIME };

static int kind_of(const struct hta_edge *e)
{
	return e->dur == 0 ? NO_TIME : e->opens ? OPENS : CLOSES;
}

static int compare(const void *a, const void *b)
{
	const struct hta_edge *x = a, *y = b;
	int kind = kind_of(x);

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (kind != kind_of(y))
		return kind - kind_of(y);
	if (x->opens != y->opens)       /* both take no time */
		return x->opens ? -1 : 1;
	if (x->dur != y->dur)
		return (x->dur > y->dur) == (kind == OPENS) ? -1 : 1;
	return x->row == y->row ? 0 : (x->row < y->row) == x->opens ? -1 : 1;
}

/* At one time nothing but ends, and then rows that take no time: these lie inside what ends. */
static void turn(struct hta_edge *edges, size_t n)
{
	size_t closes = 0;
	struct hta_edge *copy;

	while (closes < n && kind_of(&edges[closes]) == CLOSES)
		closes++;
	if (!closes || closes == n || kind_of(&edges[closes]) == OPENS)
		return;
	copy = malloc(closes * sizeof *copy);
	if (!copy)
		return;
	memcpy(copy, edges, closes * sizeof *copy);
	memmove(edges, edges + closes, (n - closes) * sizeof *edges);
	memcpy(edges + n - closes, copy, closes * sizeof *copy);
	free(copy);
}

void hta_sort_edges(struct hta_edge *edges, size_t n)
{
	qsort(edges, n, sizeof *edges, compare);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && edges[end].time == edges[i].time;)
			end++;
		if (end - i > 1)
			turn(&edges[i], end - i);
	}
}

/* ---- threads ---- */

int hta_by_thread(const void *a, const void *b)
{
	const struct hta_member *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->tid_text != y->tid_text)
		return x->tid_text < y->tid_text ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static bool same_thread(const struct hta_member *x, const struct hta_member *y)
{
	return x->pid == y->pid && x->tid == y->tid && x->tid_text == y->tid_text;
}

/* HTA takes these for streams. */
static bool is_stream(const struct hta_rank *r, const struct hta_member *list, size_t n)
{
	bool stream = true;

	for (size_t i = 0; i < n && stream; i++)
		stream = hta_stream(r, hta_row(r, list[i].row)) > 0;
	return stream || list[0].pid == 0 || (list[0].tid == 0 && list[0].tid_text == UINT32_MAX);
}

static void hang(struct hta_tree *t, uint32_t child, uint32_t parent)
{
	t->parent[child] = parent;
	t->next[child] = UINT32_MAX;
	if (t->first[parent] == UINT32_MAX)
		t->first[parent] = child;
	else
		t->next[t->last[parent]] = child;
	t->last[parent] = child;
}

/* Rows of the host by nesting.  depth 0 marks the top ones. */
static int nest(const struct hta_rank *r, struct hta_tree *t, const struct hta_member *list, size_t n)
{
	struct hta_edge *edges = malloc((2 * n + 1) * sizeof *edges);
	uint32_t *stack = malloc((n + 1) * sizeof *stack);
	size_t n_edges = 0, top = 0;

	for (size_t i = 0; i < n && edges && stack; i++) {
		const struct hta_row *row = hta_row(r, list[i].row);
		int64_t dur = row->dur > 0 ? row->dur : 0;

		if (hta_on_stream(row))
			continue;
		edges[n_edges++] = (struct hta_edge){ row->ts, dur, list[i].row, true };
		edges[n_edges++] = (struct hta_edge){ time_add(row->ts, dur), dur, list[i].row, false };
	}
	if (edges && stack) {
		hta_sort_edges(edges, n_edges);
		for (size_t i = 0; i < n_edges; i++) {
			if (!edges[i].opens) {
				top -= top > 0;
				continue;
			}
			if (top)
				hang(t, edges[i].row, stack[top - 1]);
			else
				t->depth[edges[i].row] = 0;
			stack[top++] = edges[i].row;
		}
	}
	free(edges);
	free(stack);
	return edges && stack ? 0 : -1;
}

/* ---- backward's thread below the main one ---- */

enum { MAIN_THREAD = 1, BACKWARD_THREAD };

static int label_of(const struct hta *h, const struct hta_rank *r, const struct hta_member *list, size_t n)
{
	int label = 0;

	for (size_t i = 0; i < n; i++) {
		const struct hta_name *name = &h->names[hta_row(r, list[i].row)->name];

		if (name->flags & HTA_STEP)
			return MAIN_THREAD;
		if (!label && strstr(name->text, "autograd::"))
			label = BACKWARD_THREAD;
	}
	return label;
}

static bool is_backward(const struct hta *h, const struct hta_row *row)
{
	return strncmp(h->names[row->name].text, "## backward ##", 14) == 0;
}

/* Top rows of backward's thread that lie in a row of the main one become its children. */
static int connect(const struct hta *h, const struct hta_rank *r, struct hta_tree *t, const struct hta_member *main_list,
		   size_t n_main, const struct hta_member *back, size_t n_back)
{
	struct timed *tops = malloc((n_back + 1) * sizeof *tops);
	size_t n = 0;
	bool named = false;
	int rc;

	for (size_t j = 0; tops && j < n_back; j++)
		if (t->depth[back[j].row] == 0)
			tops[n++] = (struct timed){ .time = hta_row(r, back[j].row)->ts, .row = back[j].row };
	rc = tops ? timed_sort(tops, n) : -1;
	for (size_t i = 0; i < n_main && !named; i++)
		named = is_backward(h, hta_row(r, main_list[i].row));
	for (size_t i = 0; i < n_main && rc == 0; i++) {
		const struct hta_row *around = hta_row(r, main_list[i].row);
		size_t low = 0, high = n;

		if (named ? !is_backward(h, around) : !(h->names[around->name].flags & HTA_STEP))
			continue;
		while (low < high) {
			size_t middle = (low + high) / 2;

			if (tops[middle].time < around->ts)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < n && tops[low].time <= hta_end(around); low++) {
			uint32_t row = tops[low].row;

			if (t->depth[row] == 0 && hta_end(hta_row(r, row)) <= hta_end(around)) {
				t->depth[row] = -1;
				hang(t, row, main_list[i].row);
			}
		}
	}
	free(tops);
	return rc;
}

/* ---- all of it ---- */

/* Kernels below the calls that launched them; calls are those of threads that have a tree. */
static void hang_kernels(const struct hta_rank *r, struct hta_tree *t, const bool *in_tree)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *row = hta_row(r, i);
		uint32_t call = hta_stream(r, row) > 0 && row->partner > 0 ? hta_position(r, row->partner) : HTA_NOWHERE;

		/* A row that the cut put there twice counts once. */
		if (call != HTA_NOWHERE && in_tree[call] && r->at[row->index] == i)
			hang(t, (uint32_t)i, call);
	}
}

static int set_depths(const struct hta_rank *r, struct hta_tree *t)
{
	uint32_t *todo = malloc((r->n + 1) * sizeof *todo);
	size_t n = 0;

	for (size_t i = 0; todo && i < r->n; i++)
		if (t->depth[i] == 0)
			todo[n++] = (uint32_t)i;
	while (todo && n > 0) {
		uint32_t at = todo[--n];

		for (uint32_t c = t->first[at]; c != UINT32_MAX; c = t->next[c]) {
			t->depth[c] = t->depth[at] + 1;
			todo[n++] = c;
		}
	}
	free(todo);
	return todo ? 0 : -1;
}

static int build(const struct hta *h, const struct hta_rank *r, struct hta_tree *t, struct hta_member *list, bool *in_tree)
{
	struct { size_t first, n; } labelled[3] = { { 0 } };
	unsigned labels = 0, both = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct hta_place *place = hta_place(r, hta_row(r, i));

		list[i] = (struct hta_member){ place->pid, place->tid, place->tid_text, (uint32_t)i };
	}
	qsort(list, r->n, sizeof *list, hta_by_thread);
	for (size_t i = 0, end; i < r->n; i = end) {
		int label;

		for (end = i + 1; end < r->n && same_thread(&list[i], &list[end]);)
			end++;
		if (is_stream(r, &list[i], end - i))
			continue;
		for (size_t j = i; j < end; j++)
			in_tree[list[j].row] = true;
		if (nest(r, t, &list[i], end - i) < 0)
			return -1;
		label = label_of(h, r, &list[i], end - i);
		labels += label != 0;
		both |= 1u << label;
		labelled[label].first = i;
		labelled[label].n = end - i;
	}
	hang_kernels(r, t, in_tree);
	if (labels == 2 && both >> 1 == 3 &&
	    connect(h, r, t, &list[labelled[MAIN_THREAD].first], labelled[MAIN_THREAD].n,
		    &list[labelled[BACKWARD_THREAD].first], labelled[BACKWARD_THREAD].n) < 0)
		return -1;
	return set_depths(r, t);
}

int hta_tree(const struct hta *h, const struct hta_rank *r, struct hta_tree *t)
{
	struct hta_member *list = malloc((r->n + 1) * sizeof *list);
	bool *in_tree = calloc(r->n + 1, sizeof *in_tree);
	size_t bytes = (r->n + 1) * sizeof(uint32_t);
	int rc = -1;

	t->parent = malloc(bytes);
	t->depth = malloc(bytes);
	t->first = malloc(bytes);
	t->next = malloc(bytes);
	t->last = malloc(bytes);
	if (list && in_tree && t->parent && t->depth && t->first && t->next && t->last) {
		memset(t->parent, 0xff, bytes);
		memset(t->depth, 0xff, bytes);
		memset(t->first, 0xff, bytes);
		memset(t->next, 0xff, bytes);
		rc = build(h, r, t, list, in_tree);
	}
	free(list);
	free(in_tree);
	return rc;
}

void hta_tree_release(struct hta_tree *t)
{
	free(t->parent);
	free(t->depth);
	free(t->first);
	free(t->next);
	free(t->last);
}
