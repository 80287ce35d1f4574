#include "cli/model/join.h"

#include "cli/model/inside.h"
#include "cli/model/sort.h"

/* Correlation ids of one process: an array where they lie close together, as they do, else a map. */
struct corr_table {
	uint32_t low, n;
	uint32_t *rows;                 /* row + 1 of id low + i */
	struct map rest;
};

struct join {
	struct corr_table *api;         /* by process */
	struct map *ranges;             /* by process: range id -> row */
	uint32_t n_processes;
};

void join_free(struct join *j)
{
	if (!j)
		return;
	for (uint32_t p = 0; p < j->n_processes; p++) {
		if (j->api) {
			free(j->api[p].rows);
			map_release(&j->api[p].rest);
		}
		if (j->ranges)
			map_release(&j->ranges[p]);
	}
	free(j->api);
	free(j->ranges);
	free(j);
}

/* Rows from .. to of one process. */
static int fill_api(struct corr_table *t, const uint32_t *corr, size_t from, size_t to)
{
	uint32_t low = UINT32_MAX, high = 0;

	for (size_t i = from; i < to; i++) {
		if (corr[i] && corr[i] < low)
			low = corr[i];
		if (corr[i] > high)
			high = corr[i];
	}
	if (!high)
		return 0;
	t->low = low;
	if (high - low < (to - from) * 8 + 1024) {
		t->n = high - low + 1;
		t->rows = calloc(t->n, sizeof *t->rows);
		if (!t->rows)
			return -1;
	}
	for (size_t i = from; i < to; i++) {
		if (!corr[i])
			continue;
		if (t->rows)
			t->rows[corr[i] - low] = (uint32_t)i + 1;
		else if (!map_set(&t->rest, corr[i], (uint32_t)i))
			return -1;
	}
	return 0;
}

static int join_fill(struct model *m, struct join *j)
{
	const uint32_t *corr = MODEL_U32(m, api, corr), *api_process = model_row_process(m, ROW_api);
	const uint64_t *id = MODEL_U64(m, range, id);
	const uint32_t *range_process = model_row_process(m, ROW_range);
	size_t n_api = model_rows(m, ROW_api), n_ranges = model_rows(m, ROW_range), to;

	if (!corr || !api_process || !id || !range_process)
		return -1;
	for (size_t from = 0; from < n_api; from = to) {
		for (to = from + 1; to < n_api && api_process[to] == api_process[from]; to++)
			;
		if (fill_api(&j->api[api_process[from]], corr, from, to) < 0)
			return -1;
	}
	for (size_t i = 0; i < n_ranges; i++)
		if (!map_set(&j->ranges[range_process[i]], id[i], (uint32_t)i))
			return -1;
	return 0;
}

int model_join(struct model *m)
{
	struct join *j;

	if (m->join)
		return 0;
	j = calloc(1, sizeof *j);
	if (!j)
		return -1;
	j->n_processes = m->n_processes;
	j->api = calloc(m->n_processes, sizeof *j->api);
	j->ranges = calloc(m->n_processes, sizeof *j->ranges);
	if (!j->api || !j->ranges || join_fill(m, j) < 0) {
		join_free(j);
		return -1;
	}
	m->join = j;
	return 0;
}

size_t model_api_of(struct model *m, uint32_t process, uint32_t corr)
{
	const struct corr_table *t;
	uint32_t row;

	if (!corr || model_join(m) < 0)
		return NO_ROW;
	t = &m->join->api[process];
	if (t->rows)
		row = corr - t->low < t->n ? t->rows[corr - t->low] - 1 : MAP_NONE;
	else
		row = map_get(&t->rest, corr);
	return row == MAP_NONE ? NO_ROW : row;
}

size_t model_range_of(struct model *m, uint32_t process, uint64_t id)
{
	uint32_t row = id && model_join(m) == 0 ? map_get(&m->join->ranges[process], id) : MAP_NONE;

	return row == MAP_NONE ? NO_ROW : row;
}

/* ---- nesting ---- */

/* The last range seen at each level of one thread. */
struct open_levels {
	uint32_t *rows;
	uint32_t n;
};

struct nesting {
	const int64_t *start, *duration;
	const uint32_t *thread, *level, *flags, *process;
	struct map threads;             /* process << 32 | thread -> open_levels */
	struct buf open;
	uint32_t *parents;
};

/* A level beyond this is no nesting but a damaged number. */
#define DEEPEST 65536u

static int nest_one(struct nesting *n, uint32_t row)
{
	static const struct open_levels none;
	uint64_t key = (uint64_t)n->process[row] << 32 | n->thread[row];
	uint32_t level = n->level[row], *place;
	struct open_levels *open;
	bool new;

	if (n->flags[row] & RANGE_STARTEND || level >= DEEPEST)
		return 0;
	place = map_put(&n->threads, key, (uint32_t)n->threads.n, &new);
	if (!place)
		return -1;
	if (new)
		buf_put(&n->open, &none, sizeof none);
	if (n->open.oom)
		return -1;
	open = (struct open_levels *)n->open.data + (*place - 1);
	if (level >= open->n) {
		uint32_t grown = level * 2 + 8;
		uint32_t *rows = realloc(open->rows, grown * sizeof *rows);

		if (!rows)
			return -1;
		memset(rows + open->n, 0xff, (grown - open->n) * sizeof *rows);
		open->rows = rows;
		open->n = grown;
	}
	if (level) {
		uint32_t parent = open->rows[level - 1];

		if (parent != UINT32_MAX && time_add(n->start[parent], n->duration[parent]) >= n->start[row])
			n->parents[row] = parent;
	}
	open->rows[level] = row;
	return 0;
}

/* Ranges that start at the same time: the outer one first. */
static void outer_first(struct timed *p, size_t n, const uint32_t *level)
{
	for (size_t i = 1; i < n; i++) {
		struct timed x = p[i];
		size_t j = i;

		for (; j > 0 && p[j - 1].time == x.time && level[p[j - 1].row] > level[x.row]; j--)
			p[j] = p[j - 1];
		p[j] = x;
	}
}

static int nest_all(struct nesting *n, size_t rows)
{
	struct timed *order = malloc(rows * sizeof *order + 1);
	int rc = -1;

	if (!order)
		return -1;
	for (size_t i = 0; i < rows; i++)
		order[i] = (struct timed){ .time = n->start[i], .row = (uint32_t)i };
	if (timed_sort(order, rows) < 0)
		goto out;
	outer_first(order, rows, n->level);
	for (size_t i = 0; i < rows; i++)
		if (nest_one(n, order[i].row) < 0)
			goto out;
	rc = 0;
out:
	free(order);
	return rc;
}

uint32_t *model_range_parents(struct model *m)
{
	size_t rows;
	struct nesting n = {
		.start = MODEL_I64(m, range, start), .duration = MODEL_I64(m, range, duration),
		.thread = MODEL_U32(m, range, thread), .level = MODEL_U32(m, range, level),
		.flags = MODEL_U32(m, range, flags), .process = model_row_process(m, ROW_range),
	};

	rows = model_rows(m, ROW_range);
	n.parents = malloc(rows * sizeof *n.parents + 1);
	if (n.parents)
		memset(n.parents, 0xff, rows * sizeof *n.parents);
	if (!n.start || !n.duration || !n.thread || !n.level || !n.flags || !n.process || !n.parents ||
	    nest_all(&n, rows) < 0) {
		free(n.parents);
		n.parents = NULL;
	}
	for (size_t i = 0; i < n.open.len / sizeof(struct open_levels); i++)
		free(((struct open_levels *)n.open.data)[i].rows);
	buf_free(&n.open);
	map_release(&n.threads);
	return n.parents;
}
