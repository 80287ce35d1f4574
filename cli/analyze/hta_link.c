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
static void round_inwards(struct hta_rank *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct hta_row *row = &r->rows[i];
		double ts = microseconds(row->ts), dur = microseconds(row->dur);
		double begin = ceil(ts), end = floor(ts + dur);

		if (fabs(begin) > 9e15 || fabs(end) > 9e15 || fabs(end - begin) > 9e15)
			continue;       /* no such time in microseconds: a damaged file's */
		row->ts = (int64_t)begin * 1000;
		row->dur = (int64_t)(end - begin) * 1000;
	}
}

/* Of several rows of a side with one correlation id the last one is everybody's partner, as pairs overwrite each
 * other. */
static int link_partners(const struct hta *h, struct hta_rank *r)
{
	struct hta_corr last[2] = { { 0 }, { 0 } };     /* of calls, of GPU rows */
	int rc = hta_corr_begin(&last[0], r) < 0 || hta_corr_begin(&last[1], r) < 0 ? -1 : 0;

	for (size_t i = 0; i < r->n && rc == 0; i++) {
		struct hta_row *row = &r->rows[i];

		row->partner = row->corr < 0 ? (row->corr < INT32_MIN ? INT32_MIN : (int32_t)row->corr) : 0;
		if (row->corr != -1 && !hta_corr_set(&last[hta_is_gpu(h, row)], row->corr, (uint32_t)i))
			rc = -1;
	}
	for (size_t i = 0; i < r->n && rc == 0; i++) {
		struct hta_row *row = &r->rows[i];
		uint32_t at = row->corr == -1 ? HTA_NO_CORR : hta_corr_get(&last[!hta_is_gpu(h, row)], row->corr);

		if (at != HTA_NO_CORR)
			row->partner = (int32_t)r->rows[at].index;
	}
	hta_corr_release(&last[0]);
	hta_corr_release(&last[1]);
	return rc;
}

static void count_from_earliest(struct hta *h)
{
	int64_t earliest = INT64_MAX;

	for (size_t k = 0; k < h->n_ranks; k++)
		for (size_t i = 0; i < h->ranks[k].n; i++)
			if (h->ranks[k].rows[i].ts < earliest)
				earliest = h->ranks[k].rows[i].ts;
	for (size_t k = 0; k < h->n_ranks; k++)
		for (size_t i = 0; i < h->ranks[k].n; i++)
			h->ranks[k].rows[i].ts = time_sub(h->ranks[k].rows[i].ts, earliest);
	h->earliest = earliest;
}

/* Two different ProfilerStep#N in the job: then there is a last one to cut off. */
static bool has_steps(const struct hta *h)
{
	uint32_t first = UINT32_MAX;

	for (size_t k = 0; k < h->n_ranks; k++)
		for (size_t i = 0; i < h->ranks[k].n; i++) {
			uint32_t name = h->ranks[k].rows[i].name;

			if (!(h->names[name].flags & HTA_STEP) || name == first)
				continue;
			if (first != UINT32_MAX)
				return true;
			first = name;
		}
	return false;
}

/*
 * Where a rank is cut: the begin of its last step's row.  Without steps of its own nothing of it is kept.
 * With the last step, behind its end; HTA forgets that the ends it holds still count from the file's zero.
 */
static bool cut_of(const struct hta *h, const struct hta_rank *r, int64_t earliest, int64_t *cut)
{
	int64_t last = INT64_MIN, first = INT64_MAX, step_end = INT64_MIN, end = INT64_MIN;

	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *row = &r->rows[i];

		if (hta_is_gpu(h, row))
			continue;
		if (h->names[row->name].flags & HTA_STEP) {
			last = row->ts > last ? row->ts : last;
			step_end = hta_end(row) > step_end ? hta_end(row) : step_end;
		}
		first = row->ts < first ? row->ts : first;
		end = hta_end(row) > end ? hta_end(row) : end;
	}
	*cut = last != INT64_MIN ? last : first;
	if (h->how.last_step)
		*cut = h->how.rounded ? time_add(time_add(last != INT64_MIN ? step_end : end, earliest), 1) : INT64_MAX;
	return first != INT64_MAX;
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

/* The rows of r that stay, at the end of out's. */
static bool take_staying(const struct hta *h, const struct hta_rank *r, int64_t cut, const struct calls *calls, bool gpu,
			 struct hta_rank *out)
{
	struct hta scratch = { 0 };

	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *row = &r->rows[i];
		uint32_t times = row->ts < cut;

		if (hta_is_gpu(h, row) != gpu)
			continue;
		if (gpu) {
			times = calls_of(calls, row->corr);
			/* HTA has a GPU row once for each call with its correlation id; it ran once. */
			times = h->how.rounded || !times ? times : 1;
		}
		for (; times > 0; times--) {
			struct hta_row *to = hta_add_row(&scratch, out);

			if (!to)
				return false;
			*to = *row;
		}
	}
	return true;
}

/* pandas' inner join has the rows of one correlation id together, where the first of them stands: it decides ties. */
static bool group_by_corr(struct hta_rank *r)
{
	struct hta_corr first = { 0 };
	struct timed *order = malloc((r->n + 1) * sizeof *order);
	struct hta_row *rows = NULL;
	bool done = order && hta_corr_begin(&first, r) == 0, apart = false;

	for (size_t i = 0; i < r->n && done; i++) {
		uint32_t at = hta_corr_get(&first, r->rows[i].corr);

		if (at == HTA_NO_CORR) {
			at = (uint32_t)i;
			done = hta_corr_set(&first, r->rows[i].corr, at);
		} else {
			apart |= r->rows[i].corr != r->rows[i - 1].corr;
		}
		order[i] = (struct timed){ .time = at, .row = (uint32_t)i };
	}
	if (done && apart) {
		rows = malloc(r->cap * sizeof *rows);
		done = rows && timed_sort(order, r->n) == 0;
		for (size_t i = 0; i < r->n && done; i++)
			rows[i] = r->rows[order[i].row];
		if (done) {
			free(r->rows);
			r->rows = rows;
		} else {
			free(rows);
		}
	}
	hta_corr_release(&first);
	free(order);
	return done;
}

/*
 * Calls that begin before the cut stay, and GPU rows once for each of these with their correlation id: an inner join.
 * GPU rows come first.  1: out has them; 0: nothing is to be cut; -1: out of memory.
 */
static int cut_last_step(const struct hta *h, const struct hta_rank *r, struct hta_rank *out)
{
	struct calls calls = { .without = 0 };
	int64_t cut;
	bool done = hta_corr_begin(&calls.of, r) == 0;

	*out = *r;
	out->rows = NULL;
	out->n = out->cap = 0;
	if (!cut_of(h, r, h->earliest, &cut)) {
		hta_corr_release(&calls.of);
		return 0;
	}
	for (size_t i = 0; i < r->n && done; i++) {
		const struct hta_row *row = &r->rows[i];

		if (!hta_is_gpu(h, row) && row->ts < cut)
			done = count_call(&calls, row->corr);
	}
	out->rows = malloc((r->n + 1) * sizeof *out->rows);
	out->cap = out->rows ? r->n + 1 : 0;
	done = done && take_staying(h, r, cut, &calls, true, out) && (!h->how.rounded || group_by_corr(out)) &&
	       take_staying(h, r, cut, &calls, false, out);
	hta_corr_release(&calls.of);
	if (done)
		return 1;
	free(out->rows);
	out->rows = NULL;
	return -1;
}

int hta_index(struct hta_rank *r)
{
	uint32_t most = 0;

	r->n_gpu = r->n_linked = 0;
	for (size_t i = 0; i < r->n; i++) {
		most = r->rows[i].index > most ? r->rows[i].index : most;
		r->n_gpu += hta_on_stream(&r->rows[i]);
		r->n_linked += r->rows[i].corr != -1;
	}
	r->n_at = r->n ? (size_t)most + 1 : 0;
	r->at = malloc((r->n_at + 1) * sizeof *r->at);
	r->gpu = malloc((r->n_gpu + 1) * sizeof *r->gpu);
	r->linked = malloc((r->n_linked + 1) * sizeof *r->linked);
	if (!r->at || !r->gpu || !r->linked)
		return -1;
	memset(r->at, 0xff, (r->n_at + 1) * sizeof *r->at);
	r->n_gpu = r->n_linked = 0;
	for (size_t i = 0; i < r->n; i++) {
		r->at[r->rows[i].index] = (uint32_t)i;
		if (hta_on_stream(&r->rows[i]))
			r->gpu[r->n_gpu++] = (uint32_t)i;
		if (r->rows[i].corr != -1)
			r->linked[r->n_linked++] = (uint32_t)i;
	}
	return 0;
}

static void bound_ids(struct hta_rank *r)
{
	r->low = INT64_MAX;
	r->high = INT64_MIN;
	for (size_t i = 0; i < r->n; i++) {
		int64_t corr = r->rows[i].corr;

		if (corr < 0)
			continue;
		r->low = corr < r->low ? corr : r->low;
		r->high = corr > r->high ? corr : r->high;
	}
}

static int cut_ranks(struct hta *h)
{
	for (size_t k = 0; k < h->n_ranks; k++) {
		struct hta_rank *r = &h->ranks[k], out;
		int rc = cut_last_step(h, r, &out);

		if (rc < 0)
			return -1;
		if (!rc)
			continue;
		if (h->how.keep_uncut)
			out.uncut = r->rows;
		else
			free(r->rows);
		*r = out;
	}
	return 0;
}

int hta_link(struct hta *h)
{
	for (size_t k = 0; k < h->n_ranks; k++) {
		struct hta_rank *r = &h->ranks[k];

		r->n_file = r->n;
		bound_ids(r);
		if (h->how.rounded && r->fractional)
			round_inwards(r);
		if (link_partners(h, r) < 0)
			return -1;
	}
	if (!h->how.whole) {
		count_from_earliest(h);
		h->cut = has_steps(h);
		if (h->cut && cut_ranks(h) < 0)
			return -1;
	}
	for (size_t k = 0; k < h->n_ranks; k++)
		if (hta_index(&h->ranks[k]) < 0)
			return -1;
	return 0;
}

int hta_link_last(struct hta *to, const struct hta *from)
{
	to->earliest = from->earliest;
	to->cut = true;
	to->ranks = calloc(from->n_ranks + 1, sizeof *to->ranks);
	while (to->ranks && to->n_ranks < from->n_ranks) {
		struct hta_rank whole = from->ranks[to->n_ranks], *r = &to->ranks[to->n_ranks++];
		int rc;

		whole.rows = whole.uncut ? whole.uncut : whole.rows;
		whole.n = whole.n_file;
		whole.uncut = NULL;
		whole.at = whole.gpu = whole.linked = NULL;
		whole.queue = NULL;
		rc = cut_last_step(to, &whole, r);
		if (rc == 0) {
			r->rows = malloc((whole.n + 1) * sizeof *r->rows);
			r->n = r->cap = r->rows ? whole.n : 0;
			rc = r->rows ? 1 : -1;
			if (r->n)
				memcpy(r->rows, whole.rows, r->n * sizeof *r->rows);
		}
		if (rc < 0 || hta_index(r) < 0)
			return -1;
	}
	return to->ranks ? 0 : -1;
}
