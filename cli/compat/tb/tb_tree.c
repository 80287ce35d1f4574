/* Trees of operators. */
#include "cli/compat/tb/tb_tree.h"
#include "cli/model/map.h"

#include <math.h>
#include <stdlib.h>

/* Whether an event is a node of its thread's tree.  Other annotations are not: they need not nest with operators. */
static bool enters(const struct tb_event *e)
{
	return e->type == TB_OP || e->type == TB_PYTHON || e->type == TB_STEP || e->type == TB_MODULE ||
	       (e->type == TB_ANNOTATION && e->flags & (TB_LOADER | TB_OPTIMIZER | TB_COMMUNICATION));
}

bool tb_is_operator(const struct tb_run *r, const struct tb_node *n)
{
	const struct tb_event *e = n->event == TB_NONE ? NULL : &r->events[n->event];

	return e && !n->gone && e->type == TB_OP && !(e->flags & TB_HIDDEN);
}

struct tb_tree_builder {
	struct tb_tree *t;
	const struct tb_run *r;
	uint32_t *list;                 /* events of trees, by thread, then start, the longest first */
	uint32_t *thread;               /* by event: position of its thread in roots; TB_NONE: in no tree */
	uint32_t *node;                 /* by event: its node; TB_NONE: none */
	size_t n;
};

/* ---- threads ---- */

static int find_threads(struct tb_tree_builder *k)
{
	struct map threads = { 0 };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < k->r->n; i++) {
		const struct tb_event *e = &k->r->events[i];
		bool new = false;
		uint32_t *at = enters(e) ? map_put(&threads, e->tid, (uint32_t)k->t->n_roots, &new) : NULL;

		k->thread[i] = at ? *at - 1 : TB_NONE;
		if (!enters(e))
			continue;
		rc = at ? 0 : -1;
		k->list[k->n++] = i;
		if (new)
			k->t->tids[k->t->n_roots++] = e->tid;
	}
	map_release(&threads);
	return rc;
}

static int by_time(const void *a, const void *b, void *making)
{
	const struct tb_tree_builder *k = making;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct tb_event *e = &k->r->events[x], *f = &k->r->events[y];

	if (k->thread[x] != k->thread[y])
		return k->thread[x] > k->thread[y] ? 1 : -1;
	if (e->start != f->start)
		return e->start > f->start ? 1 : -1;
	if (e->end != f->end)
		return e->end < f->end ? 1 : -1;
	return (x > y) - (x < y);
}

/* ---- nodes ---- */

static uint32_t add_node(struct tb_tree *t, uint32_t event, uint32_t parent, int64_t start, int64_t end)
{
	uint32_t at = (uint32_t)t->n++;
	struct tb_node *p = parent == TB_NONE ? NULL : &t->nodes[parent];

	t->nodes[at] = (struct tb_node){ .event = event, .parent = parent, .first = TB_NONE, .last = TB_NONE, .next = TB_NONE,
					 .calls = TB_NONE, .start = start, .end = end };
	if (p && p->last != TB_NONE)
		t->nodes[p->last].next = at;
	else if (p)
		p->first = at;
	if (p)
		p->last = at;
	return at;
}

static void nest(struct tb_tree_builder *k)
{
	struct tb_tree *t = k->t;
	uint32_t thread = TB_NONE, open = TB_NONE;

	for (size_t i = 0; i < k->n; i++) {
		const struct tb_event *e = &k->r->events[k->list[i]];

		if (k->thread[k->list[i]] != thread) {
			thread = k->thread[k->list[i]];
			open = t->roots[thread] = add_node(t, TB_NONE, TB_NONE, INT64_MIN, INT64_MAX);
		}
		while (e->start >= t->nodes[open].end && t->nodes[open].parent != TB_NONE)
			open = t->nodes[open].parent;
		if (e->end > t->nodes[open].end) {
			t->crossing++;
			continue;
		}
		open = k->node[k->list[i]] = add_node(t, k->list[i], open, e->start, e->end);
		t->nodes[open].eligible = (e->flags & TB_ELIGIBLE) != 0;
	}
	for (size_t i = 0; i < t->n_roots; i++) {
		struct tb_node *root = &t->nodes[t->roots[i]];

		root->start = root->first == TB_NONE ? 0 : t->nodes[root->first].start;
		root->end = root->last == TB_NONE ? 0 : t->nodes[root->last].end;
	}
}

/* ---- calls ---- */

/* A call belongs to the first event with its External id; without an id to no event (in the plugin, to the first module). */
static int own_calls(struct tb_tree_builder *k)
{
	const struct tb_run *r = k->r;
	struct tb_tree *t = k->t;
	struct map by_id = { 0 };
	int rc = 0;

	for (size_t i = r->n_calls; rc == 0 && i-- > 0;) {
		const struct tb_event *e = &r->events[r->calls[i].event];
		uint32_t first;

		t->call_node[i] = t->call_next[i] = TB_NONE;
		if (e->external == TB_NO_ID || !e->external)
			continue;
		first = map_get(&by_id, e->external);
		t->call_next[i] = first == MAP_NONE ? TB_NONE : first;
		rc = map_set(&by_id, e->external, (uint32_t)i) ? 0 : -1;
	}
	/* By thread, then by start. */
	for (size_t i = 0; rc == 0 && i < k->n; i++) {
		uint32_t event = k->list[i];
		const struct tb_event *e = &r->events[event];
		uint32_t first = e->external == TB_NO_ID || e->type == TB_MODULE ? MAP_NONE : map_get(&by_id, e->external);

		if (first == MAP_NONE || first == TB_NONE - 1)
			continue;
		rc = map_set(&by_id, e->external, TB_NONE - 1) ? 0 : -1;
		if (k->node[event] == TB_NONE)
			continue;
		t->nodes[k->node[event]].calls = first;
		for (; first != TB_NONE; first = t->call_next[first])
			t->call_node[first] = k->node[event];
	}
	map_release(&by_id);
	return rc;
}

/* ---- operators that only call one operator of their own name ---- */

static void disown(struct tb_tree *t, uint32_t call)
{
	for (; call != TB_NONE; call = t->call_next[call])
		t->call_node[call] = TB_NONE;
}

/* As autograd's profiler does, removes the inner operator: the outer one gets its calls and children, and keeps its own time. */
static void fold(struct tb_tree *t, const struct tb_run *r, uint32_t at)
{
	struct tb_node *n = &t->nodes[at];

	while (n->event != TB_NONE && n->first != TB_NONE && n->first == n->last) {
		struct tb_node *child = &t->nodes[n->first];
		const struct tb_event *e = &r->events[n->event], *f = &r->events[child->event];

		if (e->name != f->name || e->type != TB_OP || f->type != TB_OP)
			return;
		disown(t, n->calls);
		n->calls = child->calls;
		for (uint32_t call = n->calls; call != TB_NONE; call = t->call_next[call])
			t->call_node[call] = at;
		child->gone = true;
		n->first = child->first;
		n->last = child->last;
		for (uint32_t c = n->first; c != TB_NONE; c = t->nodes[c].next)
			t->nodes[c].parent = at;
	}
}

/* ---- sums ---- */

static void sum_up(struct tb_tree *t, const struct tb_run *r, uint32_t at)
{
	struct tb_node *n = &t->nodes[at];
	bool op = n->event != TB_NONE && r->events[n->event].type == TB_OP;

	n->host_self = time_sub(n->end, n->start);
	for (uint32_t c = n->first; c != TB_NONE; c = t->nodes[c].next) {
		const struct tb_node *child = &t->nodes[c];

		n->device = time_add(n->device, child->device);
		n->tensor = time_add(n->tensor, child->tensor);
		n->host_self = time_sub(n->host_self, time_sub(child->end, child->start));
		n->eligible |= op && child->eligible;
	}
	for (uint32_t c = n->calls; c != TB_NONE; c = t->call_next[c]) {
		const struct tb_call *call = &r->calls[c];
		const struct tb_event *e = &r->events[call->event];

		n->host_self = time_sub(n->host_self, time_sub(e->end, e->start));
		n->device_self = time_add(n->device_self, call->duration);
		n->tensor_self = time_add(n->tensor_self, call->tensor);
	}
	n->device = time_add(n->device, n->device_self);
	n->tensor = time_add(n->tensor, n->tensor_self);
	n->eligible |= op && n->tensor_self > 0;
}

/* Lists operators, children before their parents, in the plugin's order. */
static void list_operators(struct tb_tree *t, const struct tb_run *r)
{
	for (size_t i = 0; i < t->n_roots; i++) {
		uint32_t root = t->roots[i], at = root;

		for (bool down = true;;) {
			const struct tb_node *n = &t->nodes[at];

			if (down && n->first != TB_NONE) {
				at = n->first;
				continue;
			}
			if (tb_is_operator(r, n))
				t->operators[t->n_operators++] = at;
			if (at == root)
				break;
			down = n->next != TB_NONE;
			at = down ? n->next : n->parent;
		}
	}
}

static int make_tree(struct tb_tree_builder *k)
{
	struct tb_tree *t = k->t;
	const struct tb_run *r = k->r;
	int rc = find_threads(k);

	if (rc == 0) {
		qsort_r(k->list, k->n, sizeof *k->list, by_time, k);
		nest(k);
		rc = own_calls(k);
	}
	for (uint32_t i = 0; rc == 0 && i < t->n; i++)
		if (!t->nodes[i].gone)
			fold(t, r, i);
	for (uint32_t i = (uint32_t)t->n; rc == 0 && i-- > 0;)
		if (!t->nodes[i].gone)
			sum_up(t, r, i);
	if (rc == 0)
		list_operators(t, r);
	return rc;
}

int tb_tree_make(struct tb_tree *t, const struct tb_run *r)
{
	struct tb_tree_builder k = { .t = t, .r = r };
	int rc;

	*t = (struct tb_tree){ 0 };
	t->nodes = malloc((2 * r->n + 1) * sizeof *t->nodes);
	t->call_next = malloc((r->n_calls + 1) * sizeof *t->call_next);
	t->call_node = malloc((r->n_calls + 1) * sizeof *t->call_node);
	t->roots = malloc((r->n + 1) * sizeof *t->roots);
	t->tids = malloc((r->n + 1) * sizeof *t->tids);
	t->operators = malloc((r->n + 1) * sizeof *t->operators);
	k.list = malloc((r->n + 1) * sizeof *k.list);
	k.thread = malloc((r->n + 1) * sizeof *k.thread);
	k.node = malloc((r->n + 1) * sizeof *k.node);
	rc = t->nodes && t->call_next && t->call_node && t->roots && t->tids && t->operators && k.list && k.thread && k.node ? 0 : -1;
	if (rc == 0)
		memset(k.node, 0xff, (r->n + 1) * sizeof *k.node);
	if (rc == 0)
		rc = make_tree(&k);
	free(k.list);
	free(k.thread);
	free(k.node);
	return rc;
}

const struct tb_tree *tb_tree_of(struct tb_run *r)
{
	struct tb_tree *t = r->tree ? NULL : calloc(1, sizeof *t);

	if (t && tb_tree_make(t, r) < 0) {
		tb_tree_release(t);
		free(t);
		return NULL;
	}
	r->tree = r->tree ? r->tree : t;
	return r->tree;
}

void tb_tree_release(struct tb_tree *t)
{
	free(t->nodes);
	free(t->call_next);
	free(t->call_node);
	free(t->roots);
	free(t->tids);
	free(t->operators);
	*t = (struct tb_tree){ 0 };
}

/* ---- tensor cores (tensor_cores_parser.py) ---- */

double tb_tensor_share(const struct tb_tree *t, const struct tb_run *r, const struct timed *kernels, size_t n)
{
	int64_t all = 0, tensor = 0;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct tb_event *e = &r->events[kernels[i].row];
		uint32_t node = tb_node_of(t, e);

		if (node == TB_NONE || !tb_is_operator(r, &t->nodes[node]))
			continue;
		any = true;
		all = time_add(all, time_sub(e->end, e->start));
		if (e->flags & TB_TENSOR)
			tensor = time_add(tensor, time_sub(e->end, e->start));
	}
	return !any ? NAN : all > 0 ? 100.0 * (double)tensor / (double)all : 0;
}

/* Marks eligible nodes that have no eligible descendant.  below: zeros, by node. */
static void find_lowest(const struct tb_tree *t, bool *lowest, bool *below)
{
	for (size_t i = t->n; i-- > 0;) {
		const struct tb_node *n = &t->nodes[i];

		if (n->gone)
			continue;
		lowest[i] = n->eligible && !below[i];
		if ((lowest[i] || below[i]) && n->parent != TB_NONE)
			below[n->parent] = true;
	}
}

double tb_eligible_share(const struct tb_tree *t, const struct tb_run *r)
{
	bool *lowest = calloc(2 * t->n + 1, sizeof *lowest);
	int64_t all = 0, eligible = 0;

	if (!lowest)
		return NAN;
	find_lowest(t, lowest, lowest + t->n);
	for (size_t i = 0; i < r->n; i++) {
		const struct tb_event *e = &r->events[i];
		uint32_t node = tb_node_of(t, e);

		if (e->type != TB_KERNEL || node == TB_NONE)
			continue;
		if (lowest[node])
			eligible = time_add(eligible, time_sub(e->end, e->start));
		if (tb_is_operator(r, &t->nodes[node]))
			all = time_add(all, time_sub(e->end, e->start));
	}
	free(lowest);
	return all > 0 ? (double)eligible / (double)all : NAN;
}
