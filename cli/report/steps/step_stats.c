#include "cli/report/steps/step_stats.h"

#include <stdlib.h>

const char *const step_part_words[STEP_PARTS] = {
	[PART_WALL] = "wall", [PART_BUSY] = "gpu_busy", [PART_COMPUTE] = "compute", [PART_COMM] = "comm",
	[PART_EXPOSED] = "comm_exposed", [PART_COPIES] = "memcpy", [PART_IDLE] = "gpu_idle", [PART_CALLS] = "api",
};

/*
 * Parts that can explain an excess.  Communication under compute is not one: it makes no step longer.  CUDA calls of the host overlap GPU
 * idle time, so PART_CALLS is a cause only when idle time is unknown.
 */
static const enum step_part causes[] = { PART_COMPUTE, PART_EXPOSED, PART_COPIES, PART_IDLE };
#define CAUSES (sizeof causes / sizeof *causes)

static int by_value(const void *a, const void *b)
{
	int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;

	return p < q ? -1 : p > q;
}

int64_t percentile(const int64_t *sorted, size_t n, unsigned percent)
{
	size_t rank = (n * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

int64_t percentile_of(int64_t *values, size_t n, unsigned percent)
{
	qsort(values, n, sizeof *values, by_value);
	return percentile(values, n, percent);
}

/* The known values of a part, sorted; the caller frees them.  NULL: out of memory. */
static int64_t *values_of(const struct step_sample *samples, size_t n, enum step_part part, size_t *known)
{
	int64_t *v = malloc(n * sizeof *v + 1);

	*known = 0;
	for (size_t i = 0; v && i < n; i++)
		if (samples[i].part[part] >= 0)
			v[(*known)++] = samples[i].part[part];
	if (v && *known)
		qsort(v, *known, sizeof *v, by_value);
	return v;
}

int step_summary_of(const struct step_sample *samples, size_t n, enum step_part part, struct step_summary *s)
{
	int64_t *v = values_of(samples, n, part, &s->n);
	unsigned __int128 sum = 0;

	if (!v)
		return -1;
	for (size_t i = 0; i < s->n; i++)
		sum += (uint64_t)v[i];
	if (s->n) {
		s->mean = (int64_t)((sum + s->n / 2) / s->n);
		s->p50 = percentile(v, s->n, 50);
		s->p95 = percentile(v, s->n, 95);
		s->max = v[s->n - 1];
	}
	free(v);
	return 0;
}

/* Median absolute deviation of wall times; -1: out of memory. */
static int64_t median_deviation(const struct step_sample *samples, size_t n, int64_t median)
{
	int64_t *v = malloc(n * sizeof *v + 1), result;

	if (!v)
		return -1;
	for (size_t i = 0; i < n; i++)
		v[i] = llabs(samples[i].part[PART_WALL] - median);
	result = percentile_of(v, n, 50);
	free(v);
	return result;
}

static void consider(const struct step_sample *s, const struct step_summary *usual, enum step_part part, struct step_outlier *o)
{
	int64_t more = s->part[part] - usual[part].p50;

	if (s->part[part] < 0 || !usual[part].n || more <= o->explained)
		return;
	o->cause = part;
	o->explained = more;
}

static void explain(const struct step_sample *s, const struct step_summary *usual, struct step_outlier *o)
{
	o->cause = PART_WALL;
	o->explained = 0;
	for (size_t i = 0; i < CAUSES; i++)
		consider(s, usual, causes[i], o);
	if (s->part[PART_IDLE] < 0)
		consider(s, usual, PART_CALLS, o);
	if (s->part[PART_CALLS] > usual[PART_CALLS].p50 && usual[PART_CALLS].n)
		o->calls = s->part[PART_CALLS] - usual[PART_CALLS].p50;
	/* A part that explains less than a third of the excess is no cause. */
	if (o->explained < o->excess / 3)
		o->cause = PART_WALL;
}

int step_outliers(const struct step_sample *samples, size_t n, struct step_outlier *out, size_t room, size_t *all)
{
	struct step_summary usual[STEP_PARTS];
	size_t kept = 0;
	int64_t limit, apart;

	*all = 0;
	if (!n)
		return 0;
	for (int part = 0; part < STEP_PARTS; part++)
		if (step_summary_of(samples, n, (enum step_part)part, &usual[part]) < 0)
			return -1;
	apart = median_deviation(samples, n, usual[PART_WALL].p50);
	if (apart < 0)
		return -1;
	/* Times of a damaged trace can be anything: avoid overflow of apart * 5. */
	limit = usual[PART_WALL].p50 / 25 > apart || apart > INT64_MAX / 5 ? usual[PART_WALL].p50 / 5 : apart * 5;
	for (size_t i = 0; i < n; i++) {
		struct step_outlier o = { .sample = (uint32_t)i,
					  .excess = samples[i].part[PART_WALL] - usual[PART_WALL].p50 };
		size_t at;

		if (o.excess <= limit)
			continue;
		++*all;
		explain(&samples[i], usual, &o);
		for (at = kept; at > 0 && out[at - 1].excess < o.excess; at--)
			if (at < room)
				out[at] = out[at - 1];
		if (at < room)
			out[at] = o;
		kept += kept < room;
	}
	return (int)kept;
}
