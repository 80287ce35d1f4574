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

static int64_t count_from_earliest(struct hta *h)
{
	int64_t earliest = INT64_MAX;

	for (size_t k = 0; k < h->n_ranks; k++)
		for (size_t i = 0; i < h->ranks[k].n; i++)
			if (h->ranks[k].rows[i].ts < earliest)
				earliest = h->ranks[k].rows[i].ts;
	for (size_t k = 0; k < h->n_ranks; k++)
		for (size_t i = 0; i < h->ranks[k].n; i++)
			h->ranks[k].rows[i].ts = time_sub(h->ranks[k].rows[i].ts, earliest);
	return earliest;
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

/*
 * Calls that begin before the cut stay, and GPU rows once for each of these with their correlation id: an inner join.
 * GPU rows come first.
 */
static int cut_last_step(const struct hta *h, struct hta_rank *r, int64_t earliest)
{
	struct hta_rank out = { .rank = r->rank, .n_file = r->n_file, .fractional = r->fractional };
	struct map calls = { 0 };       /* corr -> calls that stay */
	struct hta scratch = { 0 };
	int64_t cut;
	bool new;

	out.rows = malloc((r->n + 1) * sizeof *out.rows);
	out.cap = out.rows ? r->n + 1 : 0;
	if (!cut_of(h, r, earliest, &cut)) {
		free(out.rows);
		return 0;
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *row = &r->rows[i];
		uint32_t *count;

		if (hta_is_gpu(h, row) || row->ts >= cut)
			continue;
		count = map_put(&calls, (uint64_t)row->corr, 0, &new);
		if (!count)
			goto failed;
		++*count;
	}
	for (int gpu = 1; gpu >= 0; gpu--)
		for (size_t i = 0; i < r->n; i++) {
			const struct hta_row *row = &r->rows[i];
			uint32_t times = row->ts < cut;

			if (hta_is_gpu(h, row) != gpu)
				continue;
			if (gpu) {
				times = map_get(&calls, (uint64_t)row->corr);
				/* HTA has a GPU row once for each call with its correlation id; it ran once. */
				times = times == MAP_NONE ? 0 : h->how.rounded ? times : 1;
			}
			for (; times > 0; times--) {
				struct hta_row *to = hta_add_row(&scratch, &out);

				if (!to)
					goto failed;
				*to = *row;
			}
		}
	map_release(&calls);
	free(r->rows);
	*r = out;
	return 0;

failed:
	map_release(&calls);
	free(out.rows);
	return -1;
}

int hta_index(struct hta_rank *r)
{
	uint32_t most = 0;

	for (size_t i = 0; i < r->n; i++)
		most = r->rows[i].index > most ? r->rows[i].index : most;
	r->n_at = r->n ? (size_t)most + 1 : 0;
	r->at = malloc((r->n_at + 1) * sizeof *r->at);
	if (!r->at)
		return -1;
	memset(r->at, 0xff, (r->n_at + 1) * sizeof *r->at);
	for (size_t i = 0; i < r->n; i++)
		r->at[r->rows[i].index] = (uint32_t)i;
	return 0;
}

int hta_link(struct hta *h)
{
	for (size_t k = 0; k < h->n_ranks; k++) {
		struct hta_rank *r = &h->ranks[k];

		r->n_file = r->n;
		if (h->how.rounded && r->fractional)
			round_inwards(r);
		if (link_partners(h, r) < 0)
			return -1;
	}
	if (!h->how.whole) {
		int64_t earliest = count_from_earliest(h);
		bool steps = has_steps(h);

		for (size_t k = 0; k < h->n_ranks && steps; k++)
			if (cut_last_step(h, &h->ranks[k], earliest) < 0)
				return -1;
	}
	for (size_t k = 0; k < h->n_ranks; k++)
		if (hta_index(&h->ranks[k]) < 0)
			return -1;
	return 0;
}
