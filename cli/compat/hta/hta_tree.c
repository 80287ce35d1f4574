#include "cli/compat/hta/hta_tree.h"

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

/*
 * If at one time there are only ends and rows of no duration, moves these rows before the ends: they are inside the rows that end.  0, or
 * -1 when out of memory.
 */
static int ends_last(struct hta_edge *edges, size_t n)
{
	size_t closes = 0;
	struct hta_edge *copy;

	while (closes < n && kind_of(&edges[closes]) == CLOSES)
		closes++;
	if (!closes || closes == n || kind_of(&edges[closes]) == OPENS)
		return 0;
	copy = malloc(closes * sizeof *copy);
	if (!copy)
		return -1;
	memcpy(copy, edges, closes * sizeof *copy);
	memmove(edges, edges + closes, (n - closes) * sizeof *edges);
	memcpy(edges + n - closes, copy, closes * sizeof *copy);
	free(copy);
	return 0;
}

/* HTA's comparison.  At one time ends come before starts, starts before rows of no duration, and these before ends: not transitive. */
static bool stands_before(const struct hta_edge *x, const struct hta_edge *y)
{
	if (x->time != y->time)
		return x->time < y->time;
	if (x->row == y->row)
		return x->opens;
	if (!x->dur != !y->dur)
		return x->dur ? x->opens : !y->opens;
	if (x->opens != y->opens)
		return x->dur ? y->opens : x->opens;
	if (x->dur != y->dur)
		return (x->dur > y->dur) == x->opens;
	return (x->row < y->row) == x->opens;
}

/* Whether ends, starts and rows of no duration occur at one time, so that stands_before() is not transitive. */
static bool in_a_circle(const struct hta_edge *edges, size_t n)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < n && kinds != 7; i++)
		kinds = (i && edges[i].time == edges[i - 1].time ? kinds : 0) | 1u << kind_of(&edges[i]);
	return kinds == 7;
}

/* Sorts by time only.  0, or -1 when out of memory. */
static int sort_by_time(struct hta_edge *edges, size_t n)
{
	struct timed *order = malloc((n + 1) * sizeof *order);
	struct hta_edge *sorted = malloc((n + 1) * sizeof *sorted);
	int rc = order && sorted ? 0 : -1;

	for (size_t i = 0; i < n && rc == 0; i++)
		order[i] = (struct timed){ .time = edges[i].time, .row = (uint32_t)i };
	if (rc == 0)
		rc = timed_sort(order, n);
	for (size_t i = 0; i < n && rc == 0; i++)
		sorted[i] = edges[order[i].row];
	if (rc == 0)
		memcpy(edges, sorted, n * sizeof *edges);
	free(order);
	free(sorted);
	return rc;
}

int hta_sort_edges(struct hta_edge *edges, size_t n)
{
	if (sort_by_time(edges, n) < 0)
		return -1;
	if (in_a_circle(edges, n))
		return hta_sort_as_python(edges, n, stands_before);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && edges[end].time == edges[i].time;)
			end++;
		if (end - i < 2)
			continue;
		qsort(&edges[i], end - i, sizeof *edges, compare);
		if (ends_last(&edges[i], end - i) < 0)
			return -1;
	}
	return 0;
}

/* ---- threads ---- */

struct named_place {
	struct hta_place place;
	uint32_t at;
};

static int by_thread(const void *a, const void *b)
{
	const struct hta_place *x = &((const struct named_place *)a)->place, *y = &((const struct named_place *)b)->place;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->tid_text > y->tid_text) - (x->tid_text < y->tid_text);
}

/*
 * Sets of_place[]: by place, the number of its thread, in the order of by_thread().  Returns the number of threads; 0: none, or out of
 * memory.
 */
static size_t number_threads(const struct hta_rank *r, int64_t from, int64_t to, uint32_t *of_place)
{
	struct named_place *list = malloc((r->n_places + 1) * sizeof *list);
	size_t n = 0;

	if (!list)
		return 0;
	for (uint32_t i = 0; i < r->n_places; i++) {
		list[i] = (struct named_place){ r->places[i], i };
		if (list[i].place.tid == from)
			list[i].place.tid = to;
	}
	qsort(list, r->n_places, sizeof *list, by_thread);
	for (size_t i = 0; i < r->n_places; i++) {
		n += i == 0 || by_thread(&list[i], &list[i - 1]) != 0;
		of_place[list[i].at] = (uint32_t)n - 1;
	}
	free(list);
	return n;
}

bool hta_threads(const struct hta_rank *r, const uint32_t *rows, size_t n, int64_t from, int64_t to, struct hta_threads *t)
{
	uint32_t *of_place = malloc((r->n_places + 1) * sizeof *of_place);
	size_t sum = 0;

	*t = (struct hta_threads){ .rows = malloc((n + 1) * sizeof *t->rows) };
	t->n = of_place && t->rows ? number_threads(r, from, to, of_place) : 0;
	t->end = t->n || !n ? calloc(t->n + 1, sizeof *t->end) : NULL;
	for (size_t i = 0; i < n && t->end; i++)
		t->end[of_place[hta_row(r, rows ? rows[i] : i)->place]]++;
	for (size_t k = 0; k < t->n && t->end; k++) {
		size_t here = t->end[k];

		t->end[k] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n && t->end; i++) {
		uint32_t row = rows ? rows[i] : (uint32_t)i;

		t->rows[t->end[of_place[hta_row(r, row)->place]]++] = row;
	}
	free(of_place);
	return t->end != NULL;
}

void hta_threads_release(struct hta_threads *t)
{
	free(t->rows);
	free(t->end);
}

/* Whether HTA takes the thread with these rows for a stream. */
static bool is_stream(const struct hta_rank *r, const uint32_t *list, size_t n)
{
	const struct hta_place *place = hta_place(r, hta_row(r, list[0]));
	bool stream = true;

	for (size_t i = 0; i < n && stream; i++)
		stream = hta_stream(r, hta_row(r, list[i])) > 0;
	return stream || place->pid == 0 || (place->tid == 0 && place->tid_text == UINT32_MAX);
}

static void link_child(struct hta_tree *t, uint32_t child, uint32_t parent)
{
	t->parent[child] = parent;
	t->next[child] = UINT32_MAX;
	if (t->first[parent] == UINT32_MAX)
		t->first[parent] = child;
	else
		t->next[t->last[parent]] = child;
	t->last[parent] = child;
}

/* Builds the tree of the host rows of one thread; top rows get depth 0. */
static int nest(const struct hta_rank *r, struct hta_tree *t, const uint32_t *list, size_t n)
{
	struct hta_edge *edges = malloc((2 * n + 1) * sizeof *edges);
	uint32_t *stack = malloc((n + 1) * sizeof *stack);
	size_t n_edges = 0, top = 0;
	int rc = -1;

	/* All starts, then all ends, as in HTA: where its comparison is not transitive, the order of the input matters. */
	for (size_t i = 0; i < 2 * n && edges && stack; i++) {
		uint32_t at = list[i < n ? i : i - n];
		const struct hta_row *row = hta_row(r, at);
		int64_t dur = row->dur > 0 ? row->dur : 0;

		if (!hta_on_stream(row))
			edges[n_edges++] = (struct hta_edge){ i < n ? row->ts : time_add(row->ts, dur), dur, at, i < n };
	}
	if (edges && stack && hta_sort_edges(edges, n_edges) == 0) {
		rc = 0;
		for (size_t i = 0; i < n_edges; i++) {
			if (!edges[i].opens) {
				top -= top > 0;
				continue;
			}
			if (top)
				link_child(t, edges[i].row, stack[top - 1]);
			else
				t->depth[edges[i].row] = 0;
			stack[top++] = edges[i].row;
		}
	}
	free(edges);
	free(stack);
	return rc;
}

/* ---- rows of the backward thread below the main thread ---- */

enum { MAIN_THREAD = 1, BACKWARD_THREAD };

static int label_of(const struct hta *h, const struct hta_rank *r, const uint32_t *list, size_t n)
{
	int label = 0;

	for (size_t i = 0; i < n; i++) {
		const struct hta_name *name = &h->names[hta_row(r, list[i])->name];

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

/* Top rows of the backward thread become children of the row of the main thread ("## backward ##", else a step) that contains them. */
static int connect(const struct hta *h, const struct hta_rank *r, struct hta_tree *t, const uint32_t *main_list,
		   size_t n_main, const uint32_t *back, size_t n_back)
{
	struct timed *tops = malloc((n_back + 1) * sizeof *tops);
	size_t n = 0;
	bool named = false;
	int rc;

	for (size_t j = 0; tops && j < n_back; j++)
		if (t->depth[back[j]] == 0)
			tops[n++] = (struct timed){ .time = hta_row(r, back[j])->ts, .row = back[j] };
	rc = tops ? timed_sort(tops, n) : -1;
	for (size_t i = 0; i < n_main && !named; i++)
		named = is_backward(h, hta_row(r, main_list[i]));
	for (size_t i = 0; i < n_main && rc == 0; i++) {
		const struct hta_row *around = hta_row(r, main_list[i]);
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
				link_child(t, row, main_list[i]);
			}
		}
	}
	free(tops);
	return rc;
}

/* ---- the whole tree ---- */

/* Makes GPU rows children of the calls that launched them, for calls in a tree. */
static void hang_kernels(const struct hta_rank *r, struct hta_tree *t, const bool *in_tree)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *row = hta_row(r, i);
		uint32_t call = hta_stream(r, row) > 0 && row->partner > 0 ? hta_position(r, row->partner) : HTA_NOWHERE;

		/* A row with several positions counts once. */
		if (call != HTA_NOWHERE && in_tree[call] && r->at[row->index] == i)
			link_child(t, (uint32_t)i, call);
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

static int build(const struct hta *h, const struct hta_rank *r, struct hta_tree *t, const struct hta_threads *threads,
		 bool *in_tree)
{
	struct { size_t first, n; } labelled[3] = { { 0 } };
	const uint32_t *rows = threads->rows;
	unsigned labels = 0, both = 0;

	for (size_t k = 0, i = 0, end; k < threads->n; k++, i = end) {
		int label;

		end = threads->end[k];
		if (i == end || is_stream(r, &rows[i], end - i))
			continue;
		for (size_t j = i; j < end; j++)
			in_tree[rows[j]] = true;
		if (nest(r, t, &rows[i], end - i) < 0)
			return -1;
		label = label_of(h, r, &rows[i], end - i);
		labels += label != 0;
		both |= 1u << label;
		labelled[label].first = i;
		labelled[label].n = end - i;
	}
	hang_kernels(r, t, in_tree);
	if (labels == 2 && both >> 1 == 3 &&
	    connect(h, r, t, &rows[labelled[MAIN_THREAD].first], labelled[MAIN_THREAD].n,
		    &rows[labelled[BACKWARD_THREAD].first], labelled[BACKWARD_THREAD].n) < 0)
		return -1;
	return set_depths(r, t);
}

int hta_tree(const struct hta *h, const struct hta_rank *r, struct hta_tree *t)
{
	struct hta_threads threads;
	bool listed = hta_threads(r, NULL, r->n, 0, 0, &threads);
	bool *in_tree = calloc(r->n + 1, sizeof *in_tree);
	size_t bytes = (r->n + 1) * sizeof(uint32_t);
	int rc = -1;

	t->parent = malloc(bytes);
	t->depth = malloc(bytes);
	t->first = malloc(bytes);
	t->next = malloc(bytes);
	t->last = malloc(bytes);
	if (listed && in_tree && t->parent && t->depth && t->first && t->next && t->last) {
		memset(t->parent, 0xff, bytes);
		memset(t->depth, 0xff, bytes);
		memset(t->first, 0xff, bytes);
		memset(t->next, 0xff, bytes);
		rc = build(h, r, t, &threads, in_tree);
	}
	hta_threads_release(&threads);
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
