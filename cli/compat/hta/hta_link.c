/*
 * What HTA does with the rows of a file before its analyses (trace_parser.py, trace.py, trace_filter.py): rounds times inwards, links calls
 * with GPU rows by correlation id, makes times count from the earliest of the job, cuts the last profiler step off.
 */
#include "cli/compat/hta/hta_derived.h"

#include <math.h>
#include <stdlib.h>

#include "trace/grow.h"

static double microseconds(int64_t ns)
{
	int64_t exact = 1ll << 53;

	/* The double nearest to the decimal number in the file, as a JSON parser returns it. */
	return ns > -exact && ns < exact ? (double)ns / 1000.0 : (double)(ns / 1000) + (double)(ns % 1000) / 1000.0;
}

/* As HTA does, adds start and duration as doubles before rounding the sum, so that rounding errors are the same. */
static void round_inwards(struct hta_row *row)
{
	double ts = microseconds(row->ts), dur = microseconds(row->dur);
	double begin = ceil(ts), end = floor(ts + dur);

	if (fabs(begin) > 9e15 || fabs(end) > 9e15 || fabs(end - begin) > 9e15)
		return;         /* a damaged file: too large for a time in microseconds */
	row->ts = (int64_t)begin * 1000;
	row->dur = (int64_t)(end - begin) * 1000;
}

/* The smallest and the largest correlation id; low > high: none. */
struct range {
	int64_t low, high;
};

/* First pass: rounds times, finds GPU rows, the range of correlation ids (returned) and the earliest start (h->earliest). */
static struct range look_through(struct hta *h, struct hta_rank *r)
{
	bool rounded = h->how.rounded && r->fractional;
	struct range ids = { INT64_MAX, INT64_MIN };
	int64_t earliest = h->earliest;

	r->n_file = r->n;
	r->n_at = r->n ? (size_t)r->rows[r->n - 1].index + 1 : 0;
	for (size_t i = 0; i < r->n; i++) {
		struct hta_row *row = &r->rows[i];

		if (rounded)
			round_inwards(row);
		earliest = row->ts < earliest ? row->ts : earliest;
		row->partner = row->corr < 0 ? (row->corr < INT32_MIN ? INT32_MIN : (int32_t)row->corr) : 0;
		row->gpu = (row->on_stream && row->corr >= 0 && hta_place(r, row)->stream >= 0) ||
			   h->names[row->name].flags & HTA_HOST_WAIT;
		if (row->corr < 0)
			continue;
		ids.low = row->corr < ids.low ? row->corr : ids.low;
		ids.high = row->corr > ids.high ? row->corr : ids.high;
	}
	h->earliest = earliest;
	return ids;
}

/* Numbers of correlation ids.  Ids mostly count up, so that an array by id is small. */
struct numbers {
	uint32_t *dense;                /* by id - low, n of them */
	uint64_t n;
	int64_t low;
	struct map map;                 /* ids outside the array */
};

static uint32_t *number_of(struct numbers *n, int64_t id)
{
	uint64_t at = (uint64_t)id - (uint64_t)n->low;
	bool new;

	return at < n->n ? &n->dense[at] : map_put(&n->map, (uint64_t)id, UINT32_MAX, &new);
}

static int number_ids(struct hta_rank *r, struct range ids)
{
	struct numbers n = { .low = ids.low };
	bool done = true;

	r->ids = malloc((r->n + 1) * sizeof *r->ids);
	if (ids.low <= ids.high && (uint64_t)(ids.high - ids.low) / 4 <= r->n) {        /* else mostly empty */
		n.n = (uint64_t)(ids.high - ids.low) + 1;
		n.dense = calloc(n.n, sizeof *n.dense);
		done = n.dense != NULL;
	}
	done &= r->ids != NULL;
	for (size_t i = 0; i < r->n && done; i++) {
		uint32_t *number = r->rows[i].corr == -1 ? NULL : number_of(&n, r->rows[i].corr);

		done = number || r->rows[i].corr == -1;
		if (number && !*number)
			*number = (uint32_t)++r->n_ids;
		r->ids[i] = number ? *number : 0;
	}
	free(n.dense);
	map_release(&n.map);
	return done ? 0 : -1;
}

/* Links calls and GPU rows.  Of several calls (or GPU rows) with one correlation id, the last is the partner, as in HTA. */
static int link_partners(struct hta_rank *r)
{
	uint32_t *last[2];      /* by number of the id: index + 1 of the last call [0] and GPU row [1] */

	last[0] = calloc(2 * (r->n_ids + 1), sizeof **last);
	if (!last[0])
		return -1;
	last[1] = last[0] + r->n_ids + 1;
	for (size_t i = 0; i < r->n; i++)
		last[r->rows[i].gpu][r->ids[i]] = r->rows[i].index + 1;
	last[0][0] = last[1][0] = 0;
	for (size_t i = 0; i < r->n; i++) {
		uint32_t partner = last[!r->rows[i].gpu][r->ids[i]];

		if (partner)
			r->rows[i].partner = (int32_t)(partner - 1);
	}
	free(last[0]);
	return 0;
}

/* Makes times count from h->earliest; finds r->calls and whether there is a last step to cut off. */
static void count_from_earliest(struct hta *h, struct hta_rank *r)
{
	struct hta_calls_time c = { INT64_MAX, INT64_MIN, INT64_MIN, INT64_MIN };

	for (size_t i = 0; i < r->n; i++) {
		struct hta_row *row = &r->rows[i];
		int64_t end;

		row->ts = time_sub(row->ts, h->earliest);
		if (h->names[row->name].flags & HTA_STEP) {
			if (h->a_step == UINT32_MAX)
				h->a_step = row->name;
			h->cut |= h->how.rounded && row->name != h->a_step;     /* only the hta_ reports cut */
		}
		if (row->gpu)
			continue;
		end = hta_end(row);
		if (h->names[row->name].flags & HTA_STEP) {
			c.last_step = row->ts > c.last_step ? row->ts : c.last_step;
			c.step_end = end > c.step_end ? end : c.step_end;
		}
		c.first = row->ts < c.first ? row->ts : c.first;
		c.end = end > c.end ? end : c.end;
	}
	r->calls = c;
}

/*
 * *cut: the start of the rank's last step; without steps, of its first host row, so that nothing is kept.  With how.last_step: after the
 * end of the last step, plus h->earliest, because HTA compares it with an end that is not shifted.  Returns false when there are no host
 * rows.
 */
static bool cut_of(const struct hta *h, const struct hta_rank *r, int64_t *cut)
{
	const struct hta_calls_time *c = &r->calls;
	bool steps = c->last_step != INT64_MIN;

	*cut = steps ? c->last_step : c->first;
	if (h->how.last_step)
		*cut = h->how.rounded ? time_add(time_add(steps ? c->step_end : c->end, h->earliest), 1) : INT64_MAX;
	return c->first != INT64_MAX;
}

/* A growing list of rows that are kept. */
struct staying {
	uint32_t *rows;
	size_t n, cap;
};

static bool stays(struct staying *s, uint32_t row, uint32_t times)
{
	if (!GROW(s->rows, s->n + times, s->cap))
		return false;
	while (times-- > 0)
		s->rows[s->n++] = row;
	return true;
}

/* Groups the rows by correlation id, in the order of the first row of each id, as pandas' inner join does: the order decides ties. */
static bool group_by_id(const struct hta_rank *r, struct staying *s)
{
	uint32_t *first = calloc(r->n_ids + 1, sizeof *first);  /* by id, + 1 */
	struct timed *order = malloc((s->n + 1) * sizeof *order);
	bool done = first && order, apart = false;

	for (size_t i = 0; i < s->n && done; i++) {
		uint32_t id = r->ids[s->rows[i]];

		if (!first[id])
			first[id] = (uint32_t)i + 1;
		else
			apart |= id != r->ids[s->rows[i - 1]];
		order[i] = (struct timed){ .time = first[id], .row = s->rows[i] };
	}
	if (done && apart)
		done = timed_sort(order, s->n) == 0;
	for (size_t i = 0; i < s->n && done && apart; i++)
		s->rows[i] = order[i].row;
	free(first);
	free(order);
	return done;
}

/* Splits rows into host rows that start before the cut, and all GPU rows.  calls: number of these host rows by number of their id. */
static void part_rows(const struct hta_rank *r, int64_t cut, uint32_t *calls, struct staying *host, struct staying *gpu)
{
	for (size_t i = 0; i < r->n_file; i++) {
		if (r->rows[i].gpu) {
			gpu->rows[gpu->n++] = (uint32_t)i;
		} else if (r->rows[i].ts < cut) {
			host->rows[host->n++] = (uint32_t)i;
			calls[r->ids[i]]++;
		}
	}
}

/*
 * Makes r->order: GPU rows, then host rows.  As in HTA's inner join, a GPU row occurs once for each kept host row with its correlation id
 * (or, like it, without one); once in total if that gives too many rows, or if the job is not rounded.
 */
static bool join(const struct hta *h, struct hta_rank *r, const uint32_t *calls, const struct staying *host,
		 const struct staying *gpu)
{
	struct staying all = { .cap = gpu->n + host->n + 1 };
	bool done = (all.rows = malloc(all.cap * sizeof *all.rows)) != NULL, often;
	uint64_t pairs = 0;

	for (size_t i = 0; i < gpu->n; i++)
		pairs += calls[r->ids[gpu->rows[i]]];
	often = h->how.rounded && !hta_too_many_pairs(r, pairs);
	r->once = h->how.rounded && !often;
	for (size_t i = 0; i < gpu->n && done; i++) {
		uint32_t times = calls[r->ids[gpu->rows[i]]];

		done = stays(&all, gpu->rows[i], often || !times ? times : 1);
	}
	if (done && h->how.rounded)
		done = group_by_id(r, &all);
	done = done && GROW(all.rows, all.n + host->n, all.cap);
	if (done)
		memcpy(all.rows + all.n, host->rows, host->n * sizeof *all.rows);
	all.n += done ? host->n : 0;
	r->order = all.rows;
	r->n = all.n;
	return done;
}

/* Returns 0, or -1 when out of memory. */
static int cut_last_step(const struct hta *h, struct hta_rank *r)
{
	struct staying host = { .rows = malloc((r->n_file + 1) * sizeof(uint32_t)) },
		       gpu = { .rows = malloc((r->n_file + 1) * sizeof(uint32_t)) };
	uint32_t *calls = calloc(r->n_ids + 1, sizeof *calls);
	bool done = host.rows && gpu.rows && calls;
	int64_t cut;

	r->once = false;
	if (done && cut_of(h, r, &cut)) {
		part_rows(r, cut, calls, &host, &gpu);
		done = join(h, r, calls, &host, &gpu);
	}
	free(calls);
	free(host.rows);
	free(gpu.rows);
	return done ? 0 : -1;
}

static uint32_t *shrunk(uint32_t *list, size_t n)
{
	uint32_t *less = realloc(list, (n + 1) * sizeof *list);

	return less ? less : list;
}

static int make_index(struct hta_rank *r)
{
	r->at = malloc((r->n_at + 1) * sizeof *r->at);
	r->gpu = malloc((r->n + 1) * sizeof *r->gpu);
	r->derived = calloc(1, sizeof *r->derived);
	r->linked = malloc((r->n + 1) * sizeof *r->linked);
	if (!r->at || !r->gpu || !r->linked || !r->derived)
		return -1;
	memset(r->at, 0xff, (r->n_at + 1) * sizeof *r->at);
	r->n_gpu = r->n_linked = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *row = hta_row(r, i);

		r->at[row->index] = (uint32_t)i;
		if (row->on_stream)
			r->gpu[r->n_gpu++] = (uint32_t)i;
		if (row->corr != -1)
			r->linked[r->n_linked++] = (uint32_t)i;
	}
	r->gpu = shrunk(r->gpu, r->n_gpu);
	r->linked = shrunk(r->linked, r->n_linked);
	return 0;
}

int hta_link(struct hta *h)
{
	h->earliest = INT64_MAX;
	h->a_step = UINT32_MAX;
	for (size_t k = 0; k < h->n_ranks; k++)
		if (number_ids(&h->ranks[k], look_through(h, &h->ranks[k])) < 0 || link_partners(&h->ranks[k]) < 0)
			return -1;
	for (size_t k = 0; k < h->n_ranks && !h->how.whole; k++)
		count_from_earliest(h, &h->ranks[k]);
	for (size_t k = 0; k < h->n_ranks; k++)
		if ((h->cut && cut_last_step(h, &h->ranks[k]) < 0) || make_index(&h->ranks[k]) < 0)
			return -1;
	return 0;
}

int hta_link_last(struct hta *to, const struct hta *from)
{
	to->earliest = from->earliest;
	to->cut = true;
	to->ranks = calloc(from->n_ranks + 1, sizeof *to->ranks);
	while (to->ranks && to->n_ranks < from->n_ranks) {
		const struct hta_rank *whole = &from->ranks[to->n_ranks];
		struct hta_rank *r = &to->ranks[to->n_ranks++];

		*r = (struct hta_rank){
			.rank = whole->rank, .rows = whole->rows, .n_file = whole->n_file, .n = whole->n_file,
			.places = whole->places, .n_places = whole->n_places, .extras = whole->extras,
			.n_extras = whole->n_extras, .ids = whole->ids, .n_ids = whole->n_ids, .n_at = whole->n_at,
			.calls = whole->calls, .fractional = whole->fractional,
		};
		if (cut_last_step(to, r) < 0 || make_index(r) < 0)
			return -1;
	}
	return to->ranks ? 0 : -1;
}
