#include "cli/report/job/late.h"

#include "cli/model/sort.h"
#include "cli/report/steps/step_stats.h"

#include <stdlib.h>
#include <string.h>

#define NOISE_OF_STEPS 80u      /* noise between steps: this percentile of the distances from the median difference */
#define NOISE_FACTOR   4        /* noise of a collective in median absolute deviations; about two standard deviations with a few outliers */

/* Waits of every rank, by unit: a collective or a step. */
struct units {
	int64_t *waits;                 /* [unit * ranks + rank] */
	size_t n, ranks;
};

struct judging {
	const struct late_input *in;
	struct late_rank *ranks;
	struct late_verdict *v;
	struct units collectives, steps;
	int64_t *scratch;               /* room for one value per collective */
};

static int64_t shortest(const struct late_input *in, size_t collective, size_t *n)
{
	const int64_t *d = &in->durations[collective * in->ranks];
	int64_t least = INT64_MAX;

	*n = 0;
	for (size_t r = 0; r < in->ranks; r++)
		if (d[r] != LATE_ABSENT) {
			least = d[r] < least ? d[r] : least;
			(*n)++;
		}
	return least;
}

static void add_collective(struct judging *j, size_t collective)
{
	const struct late_input *in = j->in;
	const int64_t *d = &in->durations[collective * in->ranks];
	int64_t *wait = &j->collectives.waits[collective * in->ranks];
	size_t n, shared = 0, last = 0;
	int64_t least = shortest(in, collective, &n);

	for (size_t r = 0; r < in->ranks; r++) {
		wait[r] = n < 2 || d[r] == LATE_ABSENT ? 0 : time_sub(d[r], least);
		if (n < 2 || d[r] == LATE_ABSENT)
			continue;
		j->ranks[r].collectives++;
		j->ranks[r].wait = time_add(j->ranks[r].wait, wait[r]);
		if (!wait[r]) {
			shared++;
			last = r;
		}
	}
	if (shared == 1)
		j->ranks[last].last++;
}

/* ---- units ---- */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Puts the distinct steps into list, sorted.  Returns their number. */
static size_t distinct(const struct late_input *in, int64_t *list)
{
	size_t n = 0, kept = 0;

	for (size_t c = 0; c < in->collectives; c++)
		if (in->steps[c] != LATE_NO_STEP)
			list[n++] = in->steps[c];
	qsort(list, n, sizeof *list, by_value);
	for (size_t i = 0; i < n; i++)
		if (!i || list[i] != list[i - 1])
			list[kept++] = list[i];
	return kept;
}

static void move_row(struct units *u, size_t to, size_t from)
{
	memmove(&u->waits[to * u->ranks], &u->waits[from * u->ranks], u->ranks * sizeof *u->waits);
}

/* Sums waits by step; without steps, into one sum.  With steps, collectives in no counted step are left out. */
static void add_steps(struct judging *j)
{
	size_t ranks = j->in->ranks, kept = 0;

	j->v->steps = j->steps.n = distinct(j->in, j->scratch);
	for (size_t c = 0; c < j->in->collectives; c++) {
		const int64_t *at = j->steps.n ? bsearch(&j->in->steps[c], j->scratch, j->steps.n, sizeof *at, by_value) : j->scratch;

		if (!at)
			continue;
		for (size_t r = 0; r < ranks; r++) {
			int64_t *sum = &j->steps.waits[(size_t)(at - j->scratch) * ranks + r];

			*sum = time_add(*sum, j->collectives.waits[c * ranks + r]);
			j->ranks[r].judged += j->in->durations[c * ranks + r] != LATE_ABSENT;
		}
		move_row(&j->collectives, kept++, c);
	}
	j->collectives.n = kept;
	if (!j->steps.n)
		j->steps.n = 1;
}

/* ---- the rule ---- */

/* Median over units of (wait of a - wait of b).  *deviation: `percent` of the units are no further than this from the median. */
static int64_t difference(struct judging *j, const struct units *u, size_t a, size_t b, unsigned percent, int64_t *deviation)
{
	int64_t middle;

	for (size_t i = 0; i < u->n; i++)
		j->scratch[i] = time_sub(u->waits[i * u->ranks + a], u->waits[i * u->ranks + b]);
	middle = percentile_of(j->scratch, u->n, 50);
	for (size_t i = 0; i < u->n; i++) {
		int64_t d = time_sub(j->scratch[i], middle);

		j->scratch[i] = d < 0 ? time_sub(0, d) : d;
	}
	*deviation = percentile_of(j->scratch, u->n, percent);
	return middle;
}

static int64_t root(int64_t n)
{
	int64_t r = 0;

	while ((r + 1) * (r + 1) <= n)
		r++;
	return r;
}

/* The sum of n independent deviations is sqrt(n) times one of them; the root is rounded up. */
static int64_t sum_of_deviations(int64_t deviation, size_t n)
{
	int64_t r = root((int64_t)n);
	__int128 sum;

	if ((size_t)(r * r) < n)
		r++;
	sum = (__int128)deviation * NOISE_FACTOR * r;
	return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

static void weigh(struct judging *j, size_t other, size_t late, int64_t *margin, int64_t *noise)
{
	struct late_verdict *v = j->v;

	if (v->between == NOISE_STEPS) {
		*margin = difference(j, &j->steps, other, late, NOISE_OF_STEPS, noise);
		return;
	}
	difference(j, &j->collectives, other, late, 50, noise);
	*noise = sum_of_deviations(*noise, j->collectives.n) / (int64_t)j->steps.n;
	*margin = time_sub(j->ranks[other].step_wait, j->ranks[late].step_wait);
}

static void find_step_waits(struct judging *j)
{
	for (size_t r = 0; r < j->in->ranks; r++) {
		int64_t sum = 0;

		for (size_t i = 0; i < j->steps.n; i++) {
			j->scratch[i] = j->steps.waits[i * j->in->ranks + r];
			sum = time_add(sum, j->scratch[i]);
		}
		j->ranks[r].step_wait = j->v->between == NOISE_STEPS ? percentile_of(j->scratch, j->steps.n, 50) : sum / (int64_t)j->steps.n;
	}
}

/* Number of ranks with a judged collective; *equal: all have the same number of them; *least: the rank that waits least. */
static size_t taking_part(const struct judging *j, bool *equal, size_t *least)
{
	size_t n = 0, first = 0;

	*equal = true;
	for (size_t r = 0; r < j->in->ranks; r++) {
		if (!j->ranks[r].judged)
			continue;
		if (!n++)
			first = *least = r;
		*equal &= j->ranks[r].judged == j->ranks[first].judged;
		if (j->ranks[r].step_wait < j->ranks[*least].step_wait)
			*least = r;
	}
	return n;
}

/*
 * `late` is the late rank if every other rank waits longer than it by more than the noise.  The verdict has the margin and noise of the
 * rank with the least margin; if some ranks are within the noise, of the one of these with the least margin.
 */
static void compare(struct judging *j, size_t late)
{
	struct late_verdict *v = j->v;

	v->answer = LATE_NAMED;
	v->late = late;
	v->wait = j->ranks[late].step_wait;
	v->least = v->margin = INT64_MAX;
	v->most = INT64_MIN;
	for (size_t r = 0; r < j->in->ranks; r++) {
		int64_t margin, noise, wait = j->ranks[r].step_wait;
		enum late_answer answer;

		if (r == late || !j->ranks[r].judged)
			continue;
		v->least = wait < v->least ? wait : v->least;
		v->most = wait > v->most ? wait : v->most;
		weigh(j, r, late, &margin, &noise);
		answer = margin > noise ? LATE_NAMED : LATE_NOBODY;
		if (v->answer == answer ? margin < v->margin : answer == LATE_NOBODY) {
			v->answer = answer;
			v->margin = margin;
			v->noise = noise;
			v->against = r;
		}
	}
}

static void decide(struct judging *j)
{
	size_t late = 0;
	bool equal;

	j->v->collectives = j->collectives.n;
	j->v->between = j->v->steps >= LATE_STEPS ? NOISE_STEPS : NOISE_COLLECTIVES;
	find_step_waits(j);
	if (taking_part(j, &equal, &late) < 2)
		j->v->answer = LATE_ALONE;
	else if (!equal)
		j->v->answer = LATE_UNEQUAL;
	else if (j->v->between == NOISE_COLLECTIVES && j->collectives.n < LATE_COLLECTIVES)
		j->v->answer = LATE_FEW;
	else
		compare(j, late);
}

int late_judge(const struct late_input *in, struct late_rank *ranks, struct late_verdict *v)
{
	size_t cells = in->collectives * in->ranks + in->ranks + 1;
	struct judging j = {
		.in = in, .ranks = ranks, .v = v,
		.collectives = { calloc(cells, sizeof(int64_t)), in->collectives, in->ranks },
		.steps = { calloc(cells, sizeof(int64_t)), 0, in->ranks },
		.scratch = calloc(in->collectives + 1, sizeof(int64_t)),
	};
	int rc = -1;

	*v = (struct late_verdict){ .answer = LATE_ALONE };
	memset(ranks, 0, in->ranks * sizeof *ranks);
	if (j.collectives.waits && j.steps.waits && j.scratch) {
		for (size_t c = 0; c < in->collectives; c++)
			add_collective(&j, c);
		add_steps(&j);
		decide(&j);
		rc = 0;
	}
	free(j.collectives.waits);
	free(j.steps.waits);
	free(j.scratch);
	return rc;
}
