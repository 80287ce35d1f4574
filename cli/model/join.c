#include "cli/model/join.h"

#include "cli/model/inside.h"
#include "cli/model/sort.h"
#include "trace/grow.h"

/* Row by id: an array if the ids are dense, as usual, else a map. */
struct id_table {
	uint64_t low, high;             /* smallest and largest id; high 0: no ids */
	size_t n;                       /* number of ids */
	uint32_t *rows;                 /* row + 1 of id low + i */
	struct map rest;
};

struct join {
	struct id_table *api;           /* by process: correlation ids */
	struct id_table *ranges;        /* by process and upper part of the id (the thread) */
	struct map places;              /* process << 32 | upper part of the id -> position in ranges */
	size_t n_ranges, cap_ranges;
	uint32_t n_processes;
};

#define THREAD_SHIFT 40                 /* of range ids */

static void table_release(struct id_table *t)
{
	free(t->rows);
	map_release(&t->rest);
}

/* Tables are filled in three steps: announce every id (this function), allocate the table, store the rows. */
static void table_expect(struct id_table *t, uint64_t id)
{
	if (!id)
		return;
	t->low = !t->n || id < t->low ? id : t->low;
	t->high = id > t->high ? id : t->high;
	t->n++;
}

static int table_make(struct id_table *t)
{
	if (!t->n || t->high - t->low >= t->n * 8 + 1024)
		return 0;
	t->rows = calloc(t->high - t->low + 1, sizeof *t->rows);
	return t->rows ? 0 : -1;
}

static int table_put(struct id_table *t, uint64_t id, size_t row)
{
	if (!id)
		return 0;
	if (!t->rows)
		return map_set(&t->rest, id, (uint32_t)row) ? 0 : -1;
	t->rows[id - t->low] = (uint32_t)row + 1;
	return 0;
}

static size_t table_get(const struct id_table *t, uint64_t id)
{
	uint32_t row = MAP_NONE;

	if (!t->rows)
		row = map_get(&t->rest, id);
	else if (id >= t->low && id <= t->high)
		row = t->rows[id - t->low] - 1;
	return row == MAP_NONE ? NO_ROW : row;
}

void join_free(struct join *j)
{
	if (!j)
		return;
	for (uint32_t p = 0; j->api && p < j->n_processes; p++)
		table_release(&j->api[p]);
	for (size_t i = 0; i < j->n_ranges; i++)
		table_release(&j->ranges[i]);
	map_release(&j->places);
	free(j->api);
	free(j->ranges);
	free(j);
}

static int join_calls(struct model *m, struct join *j)
{
	const uint32_t *corr = MODEL_U32(m, api, corr), *process = model_row_process(m, ROW_api);
	size_t n = model_rows(m, ROW_api);

	if (!corr || !process)
		return -1;
	for (size_t i = 0; i < n; i++)
		table_expect(&j->api[process[i]], corr[i]);
	for (uint32_t p = 0; p < j->n_processes; p++)
		if (table_make(&j->api[p]) < 0)
			return -1;
	for (size_t i = 0; i < n; i++)
		if (table_put(&j->api[process[i]], corr[i], i) < 0)
			return -1;
	return 0;
}

static uint64_t place_key(uint32_t process, uint64_t id)
{
	return (uint64_t)process << 32 | id >> THREAD_SHIFT;
}

/* The table for a range id, added if it is new; valid until the next call.  NULL: out of memory. */
static struct id_table *ranges_of(struct join *j, uint32_t process, uint64_t id)
{
	bool new;
	uint32_t *place = map_put(&j->places, place_key(process, id), (uint32_t)j->n_ranges, &new);

	if (place && new) {
		if (!GROW(j->ranges, j->n_ranges + 1, j->cap_ranges))
			return NULL;
		j->ranges[j->n_ranges++] = (struct id_table){ 0 };
	}
	return place ? &j->ranges[*place - 1] : NULL;
}

static int join_ranges(struct model *m, struct join *j)
{
	const uint64_t *id = MODEL_U64(m, range, id);
	const uint32_t *process = model_row_process(m, ROW_range);
	size_t n = model_rows(m, ROW_range);
	struct id_table *t = NULL;
	uint64_t last = 0;

	if (!id || !process)
		return -1;
	for (size_t i = 0; i < n; i++, last = place_key(process[i - 1], id[i - 1])) {
		if (!t || place_key(process[i], id[i]) != last)
			t = ranges_of(j, process[i], id[i]);
		if (!t)
			return -1;
		table_expect(t, id[i]);
	}
	for (size_t i = 0; i < j->n_ranges; i++)
		if (table_make(&j->ranges[i]) < 0)
			return -1;
	t = NULL;
	for (size_t i = 0; i < n; i++, last = place_key(process[i - 1], id[i - 1])) {
		if (!t || place_key(process[i], id[i]) != last)
			t = ranges_of(j, process[i], id[i]);
		if (!t || table_put(t, id[i], i) < 0)
			return -1;
	}
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
	if (!j->api || join_calls(m, j) < 0 || join_ranges(m, j) < 0) {
		join_free(j);
		return -1;
	}
	m->join = j;
	return 0;
}

size_t model_api_of(struct model *m, uint32_t process, uint32_t corr)
{
	return corr && model_join(m) == 0 ? table_get(&m->join->api[process], corr) : NO_ROW;
}

size_t model_range_of(struct model *m, uint32_t process, uint64_t id)
{
	uint32_t place;

	if (!id || model_join(m) < 0)
		return NO_ROW;
	place = map_get(&m->join->places, place_key(process, id));
	return place == MAP_NONE ? NO_ROW : table_get(&m->join->ranges[place], id);
}

/* ---- nesting ---- */

struct range_nesting {
	const int64_t *start, *duration;
	const uint32_t *thread, *level, *flags, *process;
	struct map threads;             /* process << 32 | thread -> number of the thread */
	struct map last;                /* number of the thread << 32 | level -> its last range at that level */
	uint32_t *parents;
};

/* A higher level is a damaged number. */
#define DEEPEST 65536u

static int nest_one(struct range_nesting *n, uint32_t row)
{
	uint64_t key = (uint64_t)n->process[row] << 32 | n->thread[row], place;
	uint32_t level = n->level[row], *thread, parent;
	bool new;

	if (n->flags[row] & RANGE_STARTEND || level >= DEEPEST)
		return 0;
	thread = map_put(&n->threads, key, (uint32_t)n->threads.n, &new);
	if (!thread)
		return -1;
	place = (uint64_t)*thread << 32 | level;
	parent = level ? map_get(&n->last, place - 1) : MAP_NONE;
	if (parent != MAP_NONE && time_add(n->start[parent], n->duration[parent]) >= n->start[row])
		n->parents[row] = parent;
	return map_set(&n->last, place, row) ? 0 : -1;
}

/* Sorts ranges that start at the same time by level, outer ranges first. */
static int outer_first(struct timed *p, size_t n, const uint32_t *level)
{
	for (size_t i = 0, end; i < n; i = end) {
		int64_t time = p[i].time;

		for (end = i + 1; end < n && p[end].time == time; end++)
			;
		if (end == i + 1)
			continue;
		for (size_t j = i; j < end; j++)
			p[j].time = level[p[j].row];
		if (timed_sort(p + i, end - i) < 0)
			return -1;
		for (size_t j = i; j < end; j++)
			p[j].time = time;
	}
	return 0;
}

static int nest_all(struct range_nesting *n, size_t rows)
{
	struct timed *order = malloc(rows * sizeof *order + 1);
	int rc = -1;

	if (!order)
		return -1;
	for (size_t i = 0; i < rows; i++)
		order[i] = (struct timed){ .time = n->start[i], .row = (uint32_t)i };
	if (timed_sort(order, rows) < 0 || outer_first(order, rows, n->level) < 0)
		goto out;
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
	struct range_nesting n = {
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
	map_release(&n.threads);
	map_release(&n.last);
	return n.parents;
}
