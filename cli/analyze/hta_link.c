/*
 * From the rows of a file to those HTA analyses (trace_parser.py, trace.py, trace_filter.py): times rounded inwards,
 * calls linked with GPU rows by correlation, times counted from the job's earliest, the last profiler step cut off.
 */
#include "cli/analyze/hta.h"

#include <math.h>
#include <stdlib.h>

static double microseconds(int64_t ns)
{
	int64_t exact = 1ll << 53;

	/* The double nearest to the decimal number in the file: what a JSON parser made of it. */
	return ns > -exact && ns < exact ? (double)ns / 1000.0 : (double)(ns / 1000) + (double)(ns % 1000) / 1000.0;
}

/* HTA adds begin and length as doubles before it rounds the sum: the error of that sum decides, too. */
static void round_inwards(struct hta_row *row)
{
	double ts = microseconds(row->ts), dur = microseconds(row->dur);
	double begin = ceil(ts), end = floor(ts + dur);

	if (fabs(begin) > 9e15 || fabs(end) > 9e15 || fabs(end - begin) > 9e15)
		return;         /* no such time in microseconds: a damaged file's */
	row->ts = (int64_t)begin * 1000;
	row->dur = (int64_t)(end - begin) * 1000;
}

/* What all that follows wants to know; the rows with a correlation id, and the earliest begin. */
static int look_through(struct hta *h, struct hta_rank *r)
{
	bool rounded = h->how.rounded && r->fractional;
	int64_t earliest = h->earliest;

	r->low = INT64_MAX;
	r->high = INT64_MIN;
	r->n_file = r->n;
	r->n_at = r->n ? (size_t)r->rows[r->n - 1].index + 1 : 0;
	r->linked = malloc((r->n + 1) * sizeof *r->linked);
	if (!r->linked)
		return -1;
	r->n_linked = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct hta_row *row = &r->rows[i];

		if (rounded)
			round_inwards(row);
		earliest = row->ts < earliest ? row->ts : earliest;
		row->partner = row->corr < 0 ? (row->corr < INT32_MIN ? INT32_MIN : (int32_t)row->corr) : 0;
		row->gpu = (row->on_stream && row->corr >= 0 && hta_place(r, row)->stream >= 0) ||
			   h->names[row->name].flags & HTA_HOST_WAIT;
		if (row->corr == -1)
			continue;
		r->linked[r->n_linked++] = (uint32_t)i;
		if (row->corr < 0)
			continue;
		r->low = row->corr < r->low ? row->corr : r->low;
		r->high = row->corr > r->high ? row->corr : r->high;
	}
	h->earliest = earliest;
	return 0;
}

/*
 * Of several rows of a side with one correlation id the last one is everybody's partner, as pairs overwrite each
 * other.
 */
static int link_partners(struct hta_rank *r)
{
	struct hta_corr last[2] = { { 0 }, { 0 } };     /* of calls, of GPU rows: their index */
	int rc = hta_corr_begin(&last[0], r) < 0 || hta_corr_begin(&last[1], r) < 0 ? -1 : 0;

	for (size_t i = 0; i < r->n_linked && rc == 0; i++) {
		const struct hta_row *row = &r->rows[r->linked[i]];

		if (!hta_corr_set(&last[row->gpu], row->corr, row->index))
			rc = -1;
	}
	for (size_t i = 0; i < r->n_linked && rc == 0; i++) {
		struct hta_row *row = &r->rows[r->linked[i]];
		uint32_t partner = hta_corr_get(&last[!row->gpu], row->corr);

		if (partner != HTA_NO_CORR)
			row->partner = (int32_t)partner;
	}
	hta_corr_release(&last[0]);
	hta_corr_release(&last[1]);
	return rc;
}

/* Times from the job's earliest on, and where calls and steps begin and end. */
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
			h->cut |= row->name != h->a_step;
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
 * Where a rank is cut: the begin of its last step's row.  Without steps of its own nothing of it is kept.
 * With the last step, behind its end; HTA forgets that the ends it holds still count from the file's zero.
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

/* How many calls stay, by correlation id. */
struct calls {
	struct hta_corr of;
	uint32_t without;               /* that have none */
};

static bool count_call(struct calls *c, int64_t corr)
{
	uint32_t before;

	if (corr == -1) {
		c->without++;
		return true;
	}
	before = hta_corr_get(&c->of, corr);
	return hta_corr_set(&c->of, corr, before == HTA_NO_CORR ? 1 : before + 1);
}

static uint32_t calls_of(const struct calls *c, int64_t corr)
{
	uint32_t n = corr == -1 ? c->without : hta_corr_get(&c->of, corr);

	return n == HTA_NO_CORR ? 0 : n;
}

/* Rows that stay, in a list that grows. */
struct staying {
	uint32_t *rows;
	size_t n, cap;
};

static bool stays(struct staying *s, uint32_t row, uint32_t times)
{
	if (s->cap - s->n < times) {
		size_t cap = s->n + times + s->cap / 2;
		uint32_t *rows = realloc(s->rows, cap * sizeof *rows);

		if (!rows)
			return false;
		s->rows = rows;
		s->cap = cap;
	}
	while (times-- > 0)
		s->rows[s->n++] = row;
	return true;
}

/* HTA has a GPU row once for each call with its correlation id; it ran once. */
static bool take_gpu_rows(const struct hta *h, const struct hta_rank *r, const struct calls *calls, const struct staying *from,
			  struct staying *to)
{
	for (size_t i = 0; i < from->n; i++) {
		uint32_t times = calls_of(calls, r->rows[from->rows[i]].corr);

		if (!stays(to, from->rows[i], h->how.rounded || !times ? times : 1))
			return false;
	}
	return true;
}

/* pandas' inner join has the rows of one correlation id together, where the first of them stands: it decides ties. */
static bool group_by_corr(const struct hta_rank *r, struct staying *s)
{
	struct hta_corr first = { 0 };
	struct timed *order = malloc((s->n + 1) * sizeof *order);
	int64_t before = -1;
	bool done = order && hta_corr_begin(&first, r) == 0, apart = false;

	for (size_t i = 0; i < s->n && done; i++) {
		int64_t corr = r->rows[s->rows[i]].corr;
		uint32_t at = hta_corr_get(&first, corr);

		if (at == HTA_NO_CORR) {
			at = (uint32_t)i;
			done = hta_corr_set(&first, corr, at);
		} else {
			apart |= corr != before;
		}
		before = corr;
		order[i] = (struct timed){ .time = at, .row = s->rows[i] };
	}
	if (done && apart)
		done = timed_sort(order, s->n) == 0;
	for (size_t i = 0; i < s->n && done && apart; i++)
		s->rows[i] = order[i].row;
	hta_corr_release(&first);
	free(order);
	return done;
}

/* Calls that begin before the cut, counted by their correlation id, and all GPU rows. */
static bool part_rows(const struct hta_rank *r, int64_t cut, struct calls *calls, struct staying *host, struct staying *gpu)
{
	for (size_t i = 0; i < r->n_file; i++) {
		const struct hta_row *row = &r->rows[i];

		if (row->gpu)
			gpu->rows[gpu->n++] = (uint32_t)i;
		else if (row->ts < cut)
			host->rows[host->n++] = (uint32_t)i;
	}
	for (size_t i = 0; i < host->n; i++)
		if (!count_call(calls, r->rows[host->rows[i]].corr))
			return false;
	return true;
}

/*
 * Calls that begin before the cut stay, and GPU rows once for each of these with their correlation id: an inner join.
 * GPU rows come first.  0, or -1: out of memory.
 */
static int cut_last_step(const struct hta *h, struct hta_rank *r)
{
	struct calls calls = { .without = 0 };
	struct staying host = { .rows = malloc((r->n_file + 1) * sizeof(uint32_t)) },
		       gpu = { .rows = malloc((r->n_file + 1) * sizeof(uint32_t)) }, all = { .n = 0 };
	bool done = host.rows && gpu.rows && hta_corr_begin(&calls.of, r) == 0;
	int64_t cut;

	if (done && cut_of(h, r, &cut)) {
		done = part_rows(r, cut, &calls, &host, &gpu);
		all.cap = gpu.n + host.n + 1;
		all.rows = malloc(all.cap * sizeof *all.rows);
		done = done && all.rows && take_gpu_rows(h, r, &calls, &gpu, &all) && (!h->how.rounded || group_by_corr(r, &all));
		for (size_t i = 0; i < host.n && done; i++)
			done = stays(&all, host.rows[i], 1);
		r->order = all.rows;
		r->n = all.n;
	}
	hta_corr_release(&calls.of);
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
	free(r->linked);
	r->linked = malloc((r->n + 1) * sizeof *r->linked);
	if (!r->at || !r->gpu || !r->linked)
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
		if (look_through(h, &h->ranks[k]) < 0 || link_partners(&h->ranks[k]) < 0)
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
			.n_extras = whole->n_extras, .n_at = whole->n_at, .low = whole->low, .high = whole->high,
			.calls = whole->calls, .fractional = whole->fractional,
		};
		if (cut_last_step(to, r) < 0 || make_index(r) < 0)
			return -1;
	}
	return to->ranks ? 0 : -1;
}
