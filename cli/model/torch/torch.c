#include "cli/model/torch/torch.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"
#include "cli/model/sort.h"
#include "cli/model/torch/torch_inside.h"

static void torch_forget(struct model *m)
{
	struct torch_derived *t = m->torch;

	if (!t)
		return;
	free(t->public.list);
	free((void *)t->public.at);
	free((void *)t->public.parents);
	free((void *)t->public.around);
	t->public = (struct torch_ranges){ .n = 0 };
	t->made = false;
}

static void torch_release(struct model *m, bool rows_only)
{
	torch_forget(m);
	if (rows_only || !m->torch)
		return;
	for (uint32_t p = 0; m->torch->phases && p < m->n_processes; p++)
		phases_release(&m->torch->phases[p]);
	free(m->torch->phases);
	free(m->torch);
	m->torch = NULL;
}

struct torch_derived *torch_derived(struct model *m)
{
	if (!m->torch)
		m->torch = calloc(1, sizeof *m->torch);
	m->release[FROM_TORCH] = torch_release;
	return m->torch;
}

/* ---- PyTorch's rows ---- */

static bool is_domain(struct model *m, uint32_t process, uint32_t domain)
{
	return domain && strcmp(model_string(m, model_domain(m, process, domain)), TORCH_DOMAIN) == 0;
}

bool model_has_torch(struct model *m)
{
	const uint32_t *process, *id;
	struct torch_derived *t = torch_derived(m);

	if (!t || t->looked || !model_rows(m, ROW_range))
		return t && t->looked && t->has && model_rows(m, ROW_range);
	process = model_row_process(m, ROW_domain);
	id = MODEL_U32(m, domain, id);
	for (size_t i = 0; process && id && !t->has && i < model_rows(m, ROW_domain); i++)
		t->has = is_domain(m, process[i], id[i]);
	t->looked = process && id;
	return t->has;
}

struct counting {
	const uint32_t *domains;        /* by process: id of PyTorch's domain; 0: none */
	size_t n;
};

static int count_domain(const struct batch *b, void *state)
{
	struct counting *c = state;
	const uint32_t *domain = b->column[0], wanted = c->domains[b->process];

	for (size_t i = 0; wanted && i < b->n; i++)
		c->n += domain[i] == wanted;
	return 0;
}

size_t model_torch_count(struct model *m)
{
	static const unsigned fields[] = { COL_range_domain };
	const uint32_t *process = model_row_process(m, ROW_domain), *id = MODEL_U32(m, domain, id);
	uint32_t *domains = calloc(m->n_processes + 1, sizeof *domains);
	struct counting c[MODEL_WORKERS] = { { domains, 0 }, { domains, 0 } };
	void *const states[MODEL_WORKERS] = { &c[0], &c[1] };
	int rc = domains && process && id ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < model_rows(m, ROW_domain); i++)
		if (is_domain(m, process[i], id[i]))
			domains[process[i]] = id[i];
	if (rc == 0)
		rc = model_scan(m, ROW_range, fields, 1, count_domain, states);
	free(domains);
	return rc < 0 ? SIZE_MAX : c[0].n + c[1].n;
}

struct torch_columns {
	const int64_t *start, *duration;
	const uint32_t *process, *thread, *domain, *name, *flags, *level;
	size_t n;
};

static bool columns_read(struct model *m, struct torch_columns *c)
{
	c->n = model_rows(m, ROW_range);
	return (c->start = MODEL_I64(m, range, start)) && (c->duration = MODEL_I64(m, range, duration)) &&
	       (c->process = model_row_process(m, ROW_range)) && (c->thread = MODEL_U32(m, range, thread)) &&
	       (c->domain = MODEL_U32(m, range, domain)) && (c->name = MODEL_U32(m, range, name)) &&
	       (c->flags = MODEL_U32(m, range, flags)) && (c->level = MODEL_U32(m, range, level));
}

static int by_level(const void *a, const void *b, void *levels)
{
	const struct timed *x = a, *y = b;
	const uint32_t *level = levels;

	if (level[x->row] != level[y->row])
		return level[x->row] < level[y->row] ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* PyTorch's range rows by process and start; of equal starts the outer range first. */
static struct timed *order_of(struct model *m, const struct torch_columns *c, size_t *n)
{
	struct timed *order = malloc(c->n * sizeof *order + 1);
	uint32_t process = UINT32_MAX, domain = 0;
	bool wanted = false;
	size_t from = 0;

	*n = 0;
	for (size_t i = 0; order && i < c->n; i++) {
		if (c->process[i] != process && process != UINT32_MAX) {
			if (timed_sort(order + from, *n - from) < 0)
				goto failed;
			from = *n;
		}
		if (c->process[i] != process || c->domain[i] != domain)
			wanted = is_domain(m, c->process[i], c->domain[i]);
		process = c->process[i];
		domain = c->domain[i];
		if (wanted)
			order[(*n)++] = (struct timed){ .time = c->start[i], .row = (uint32_t)i };
	}
	if (order && timed_sort(order + from, *n - from) < 0)
		goto failed;
	for (size_t i = 0, end; order && i < *n; i = end) {
		for (end = i + 1; end < *n && order[end].time == order[i].time &&
				  c->process[order[end].row] == c->process[order[i].row];)
			end++;
		if (end - i > 1)
			qsort_r(order + i, end - i, sizeof *order, by_level, (void *)c->level);
	}
	return order;
failed:
	free(order);
	return NULL;
}

/* ---- op rows ---- */

static int join_ops(struct model *m, struct torch_ranges *t, const uint32_t *at)
{
	const uint64_t *range = MODEL_U64(m, op, range);
	const uint32_t *scope = MODEL_U32(m, op, scope), *process = model_row_process(m, ROW_op);

	if (!range || !scope || !process || model_join(m) < 0 || !(t->sequence = MODEL_I64(m, op, sequence)) ||
	    !(t->fwd_thread = MODEL_U64(m, op, fwd_thread)) || !(t->torch_thread = MODEL_U64(m, op, torch_thread)) ||
	    !(t->dims = MODEL_U32(m, op, dims)) || !(t->types = MODEL_U32(m, op, types)) ||
	    !(t->values = MODEL_U32(m, op, values)) || !(t->overload = MODEL_U32(m, op, overload)))
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_op); i < n; i++) {
		size_t row = model_range_of(m, process[i], range[i]);

		if (row == NO_ROW || at[row] == NO_TORCH)
			continue;
		t->list[at[row]].op = (uint32_t)i;
		t->list[at[row]].scope = scope[i];
		t->operators |= scope[i] == TORCH_OPERATOR;
	}
	return 0;
}

uint32_t torch_around(const struct torch_ranges *t, size_t range_row)
{
	return t->around[range_row];
}

uint32_t torch_open_at(const struct torch_ranges *t, uint32_t at, int64_t time)
{
	while (at != NO_TORCH && t->list[at].end <= time && t->list[at].start < time)
		at = t->list[at].parent < at ? t->list[at].parent : NO_TORCH;
	return at;
}

#define NOT_LOOKED 0xfffffffeu

/* Computes `around`.  All ranges on the way up get the same result, so each range is passed only once, however deep the nesting. */
static uint32_t *find_around(const struct torch_ranges *t, size_t n)
{
	uint32_t *around = malloc(n * sizeof *around + 1);

	for (size_t i = 0; around && i < n; i++)
		around[i] = t->at[i] != NO_TORCH ? t->at[i] : t->parents[i] == UINT32_MAX ? NO_TORCH : NOT_LOOKED;
	for (uint32_t i = 0; around && i < n; i++) {
		uint32_t up = i, next, found;

		while (around[up] == NOT_LOOKED)
			up = t->parents[up];
		found = around[up];
		for (up = i; around[up] == NOT_LOOKED; up = next) {
			next = t->parents[up];
			around[up] = found;
		}
	}
	return around;
}

static int fill(struct model *m, struct torch_ranges *t, const struct torch_columns *c, const struct timed *order, size_t n)
{
	uint32_t *at = malloc(c->n * sizeof *at + 1);

	t->at = at;
	t->list = calloc(n + 1, sizeof *t->list);
	t->parents = model_range_parents(m);
	if (!at || !t->list || !t->parents)
		return -1;
	memset(at, 0xff, c->n * sizeof *at);
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = order[i].row;

		at[row] = (uint32_t)i;
		t->list[i] = (struct torch_range){
			.start = c->start[row], .end = time_add(c->start[row], c->duration[row] > 0 ? c->duration[row] : 0),
			.row = row, .op = NO_TORCH, .process = c->process[row], .thread = c->thread[row],
			.name = c->name[row], .scope = TORCH_USER, .flags = c->flags[row],
		};
	}
	t->around = find_around(t, c->n);
	if (!t->around)
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint32_t up = t->parents[t->list[i].row];

		t->list[i].parent = NO_TORCH;
		if (up != UINT32_MAX)
			t->list[i].parent = torch_open_at(t, torch_around(t, up), t->list[i].start);
	}
	return join_ops(m, t, at);
}

const struct torch_ranges *model_torch(struct model *m)
{
	struct torch_derived *t = torch_derived(m);
	struct torch_columns c;
	struct timed *order;
	size_t n;
	int rc;

	if (!t || t->made)
		return t ? &t->public : NULL;
	order = columns_read(m, &c) ? order_of(m, &c, &n) : NULL;
	rc = order ? fill(m, &t->public, &c, order, n) : -1;
	free(order);
	if (rc < 0) {
		torch_forget(m);
		return NULL;
	}
	t->made = true;
	return &t->public;
}

const char *torch_scope_words(unsigned scope)
{
	static const char *const words[] = {
		"operator", "backward", "TorchScript", "kernel dtype", "custom class", "build feature", "lite interpreter", "user",
		"static runtime operator", "static runtime model",
	};

	return scope < sizeof words / sizeof *words ? words[scope] : "other";
}

/* ---- forward and backward ---- */

/* Key of a sequence number.  PyTorch numbers threads from 1 and counts autograd nodes per thread; 12 and 40 bits suffice for both. */
static uint64_t number_key(uint32_t process, uint64_t thread, int64_t sequence)
{
	return ((uint64_t)process << 52) ^ (thread << 40) ^ (uint64_t)sequence;
}

uint32_t *torch_forwards(struct model *m, const struct torch_ranges *t)
{
	uint32_t *of = malloc(t->n * sizeof *of + 1);
	bool *taken = calloc(t->n + 1, sizeof *taken), oom = !of || !taken;
	struct map last = { 0 };

	if (!oom)
		memset(of, 0xff, t->n * sizeof *of);
	for (size_t i = 0; !oom && i < t->n; i++) {
		const struct torch_range *r = &t->list[i];
		uint64_t thread, key;
		uint32_t forward;

		if (r->op == NO_TORCH || t->sequence[r->op] < 0 || (r->scope != TORCH_OPERATOR && r->scope != TORCH_BACKWARD))
			continue;
		thread = t->fwd_thread[r->op] ? t->fwd_thread[r->op] : t->torch_thread[r->op];
		key = number_key(r->process, thread, t->sequence[r->op]);
		if (!t->fwd_thread[r->op]) {
			oom = r->scope == TORCH_OPERATOR && !map_set(&last, key, (uint32_t)i);
			continue;
		}
		forward = map_get(&last, key);
		if (forward == MAP_NONE)        /* in Kineto's files, forward operators have no PyTorch thread number */
			forward = map_get(&last, number_key(r->process, 0, t->sequence[r->op]));
		if (forward == MAP_NONE || taken[forward] ||
		    strncmp(model_string(m, r->name), TORCH_EVALUATE, sizeof TORCH_EVALUATE - 1) == 0)
			continue;
		of[i] = forward;
		taken[forward] = true;
	}
	map_release(&last);
	free(taken);
	if (oom) {
		free(of);
		return NULL;
	}
	return of;
}
