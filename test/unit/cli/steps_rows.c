/* Assignment of rows to steps on random traces, compared with a direct implementation of the rule for each row. */
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include "cli/model/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 25
#define CALLS 300
#define RUNS  300

static uint64_t state;

static uint32_t dice(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 11) % n);
}

struct rolled {
	struct step_row steps[STEPS];
	bool crowded[STEPS];
	struct api_row calls[CALLS];
	struct kernel_row runs[RUNS];
	struct mark_row marks[RUNS];
	uint32_t base;                  /* correlation ids start here, often so that they begin anew on the way */
};

/* The clock and the ids go on together: 10 ids a microsecond.  0 is none, and left out where they begin anew. */
static uint32_t corr_at(const struct rolled *r, int64_t at)
{
	uint32_t corr = r->base + (uint32_t)at / 100;

	return corr + (corr < r->base);
}

static void roll_steps(struct rolled *r, bool side_by_side)
{
	int64_t at = 1000;

	for (uint32_t i = 0; i < STEPS; i++) {
		struct step_row *s = &r->steps[i];
		int64_t length = 100 * (1 + dice(30));

		*s = (struct step_row){ .start = T0 + at, .duration = length, .number = i, .thread = 1 + dice(3),
			.window = 1, .confidence = 100,
					.first_corr = corr_at(r, at), .end_corr = corr_at(r, at + length) };
		if (dice(8) == 0)
			s->thread = 0;
		if (dice(8) == 0)
			s->first_corr = s->end_corr = 0;        /* it saw no call */
		at += side_by_side ? 100 * dice(20) : length + 100 * dice(5);
	}
	for (uint32_t i = 0; i < STEPS; i++)
		for (uint32_t k = 0; k < STEPS; k++)
			r->crowded[i] |= i != k && r->steps[i].start < r->steps[k].start + r->steps[k].duration &&
					 r->steps[k].start < r->steps[i].start + r->steps[i].duration;
}

static void roll_rows(struct rolled *r)
{
	for (uint32_t i = 0; i < CALLS; i++) {
		int64_t at = 500 + 100 * dice(600);

		r->calls[i] = (struct api_row){ .start = T0 + at, .duration = 5, .corr = corr_at(r, at),
			.thread = 1 + dice(3), .step = -1 };
		if (dice(10) == 0)
			r->calls[i].corr = 0;
	}
	for (uint32_t i = 0; i < RUNS; i++) {
		const struct api_row *call = &r->calls[dice(CALLS)];

		r->runs[i] = (struct kernel_row){ .start = T0 + 100000 + i, .duration = 5,
			.corr = dice(5) ? call->corr : corr_at(r, 100 * dice(600)) };
		r->marks[i] = (struct mark_row){ .start = T0 + dice(60000), .thread = 1 + dice(3) };
	}
}

static bool holds(const struct step_row *s, uint32_t corr)
{
	return (s->first_corr || s->end_corr) && corr - s->first_corr < s->end_corr - s->first_corr;
}

/* Of those that hold it the one that began last; steps beside others only what their thread did. */
static int32_t rule(const struct rolled *r, uint32_t corr, int64_t start, uint32_t thread)
{
	int32_t best = -1;

	for (int32_t i = 0; i < STEPS; i++) {
		const struct step_row *s = &r->steps[i];

		if (corr ? !holds(s, corr) : start < s->start || start >= s->start + s->duration)
			continue;
		if (r->crowded[i] && s->thread && s->thread != thread)
			continue;
		if (best < 0 || s->start > r->steps[best].start)
			best = i;
	}
	return best;
}

/* Of several calls with one id the last. */
static const struct api_row *call_of(const struct rolled *r, uint32_t corr)
{
	for (uint32_t i = CALLS; corr && i-- > 0;)
		if (r->calls[i].corr == corr)
			return &r->calls[i];
	return NULL;
}

/* Steps that begin at the same time have no order: either is right. */
static bool right(const struct rolled *r, int32_t got, int32_t want)
{
	return got == want || (got >= 0 && want >= 0 && r->steps[got].start == r->steps[want].start);
}

static void check(struct model *m, const struct rolled *r, uint32_t process, size_t *found)
{
	const struct steps *s = model_steps(m);
	int32_t *calls = model_row_steps(m, ROW_api, 0), *runs = model_row_steps(m, ROW_kernel, 0),
		*marks = model_row_steps(m, ROW_mark, 0);
	unsigned wrong = 0;

#define NUMBER_OF(of, i) ((of)[i] < 0 ? -1 : (int32_t)s->list[(of)[i]].number)
	for (uint32_t i = 0; i < CALLS; i++) {
		const struct api_row *c = &r->calls[i];
		size_t row = (process - 1) * (size_t)CALLS + i;

		wrong += !right(r, NUMBER_OF(calls, row), rule(r, c->corr, c->start, c->thread));
		*found += calls[row] >= 0;
	}
	for (uint32_t i = 0; i < RUNS; i++) {
		const struct kernel_row *k = &r->runs[i];
		const struct api_row *c = call_of(r, k->corr);
		size_t row = (process - 1) * (size_t)RUNS + i;

		wrong += !right(r, NUMBER_OF(runs, row), c ? rule(r, c->corr, c->start, c->thread) : rule(r, k->corr,
			k->start, UINT32_MAX));
		wrong += !right(r, NUMBER_OF(marks, row), rule(r, 0, r->marks[i].start, r->marks[i].thread));
	}
#undef NUMBER_OF
	CHECK_EQ(wrong, 0);
	free(calls);
	free(runs);
	free(marks);
}

TEST(rows_of_random_traces_are_given_to_steps_by_the_rule)
{
	static struct rolled r[2];
	size_t found = 0;

	for (uint64_t round = 1; round <= 60; round++) {
		struct making k;
		struct model *m;

		state = round * 0x9e3779b97f4a7c15;
		make_begin(&k);
		for (uint32_t p = 1; p <= 2; p++) {
			struct rolled *one = &r[p - 1];

			memset(one, 0, sizeof *one);
			one->base = dice(2) ? 0xffffff00u - dice(300) : 1 + dice(1000);
			roll_steps(one, round % 2);
			roll_rows(one);
			make_rows(&k, p, ROW_step, one->steps, STEPS);
			make_rows(&k, p, ROW_api, one->calls, CALLS);
			make_rows(&k, p, ROW_kernel, one->runs, RUNS);
			make_rows(&k, p, ROW_mark, one->marks, RUNS);
		}
		make_end(&k);
		m = model_open(k.path, NULL);
		if (CHECK(m != NULL)) {
			check(m, &r[0], 1, &found);
			check(m, &r[1], 2, &found);
			model_close(m);
		}
		unmake(&k);
	}
	CHECK(found > 1000);            /* the dice are not so that nothing belongs to anything */
}
