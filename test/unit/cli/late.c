/* The rule for the late rank: small jobs with expectations worked out by hand, and random jobs. */
#include "cli/report/job/late.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define MOST 400
#define RANKS 4

/* A job of up to four ranks. */
static struct {
	int64_t durations[MOST * RANKS], steps[MOST];
	struct late_input in;
	struct late_rank ranks[RANKS];
	struct late_verdict v;
} job;

static void begin(size_t ranks)
{
	memset(&job, 0, sizeof job);
	job.in = (struct late_input){ .ranks = ranks, .durations = job.durations, .steps = job.steps };
}

static void add(int64_t step, const int64_t *durations)
{
	memcpy(&job.durations[job.in.collectives * job.in.ranks], durations, job.in.ranks * sizeof *durations);
	job.steps[job.in.collectives++] = step;
}
#define ADD(step, ...) add(step, (const int64_t[RANKS]){ __VA_ARGS__ })

static enum late_answer judged(void)
{
	CHECK_EQ(late_judge(&job.in, job.ranks, &job.v), 0);
	return job.v.answer;
}

static uint64_t state = 88172645463325252;

static int64_t dice(int64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int64_t)(state % (uint64_t)below);
}

/* What it would be if each rank came `late` ns after the first: the last one has the transfer alone. */
static void arrive(int64_t step, const int64_t *arrival, int64_t transfer)
{
	int64_t last = 0, durations[RANKS];

	for (size_t r = 0; r < job.in.ranks; r++)
		last = arrival[r] > last ? arrival[r] : last;
	for (size_t r = 0; r < job.in.ranks; r++)
		durations[r] = transfer + last - arrival[r];
	add(step, durations);
}

TEST(who_waits_least_is_late_by_the_least_difference)
{
	begin(3);
	for (int64_t s = 0; s < 8; s++)
		ADD(s, 1000 + 500, 1000, 1000 + 700 + s % 2);
	CHECK_EQ(judged(), LATE_NAMED);
	CHECK_EQ(job.v.late, 1);
	CHECK_EQ(job.v.against, 0);
	CHECK_EQ(job.v.steps, 8);
	CHECK_EQ(job.v.wait, 0);
	CHECK_EQ(job.v.least, 500);
	CHECK_EQ(job.v.most, 700);
	CHECK_EQ(job.v.margin, 500);
	CHECK_EQ(job.v.noise, 0);
	CHECK_EQ(job.v.between, NOISE_STEPS);
	CHECK_EQ(job.ranks[0].wait, 8 * 500);
	CHECK_EQ(job.ranks[2].wait, 8 * 700 + 4);
	CHECK_EQ(job.ranks[1].last, 8);
	CHECK_EQ(job.ranks[0].last, 0);
}

TEST(waits_of_a_step_add_up_and_the_median_step_counts)
{
	begin(2);
	for (int64_t s = 0; s < 6; s++) {
		ADD(s, 10 + s, 10);
		ADD(s, 20, 20 + 0);
		ADD(s, 30 + 100, 30);
	}
	CHECK_EQ(judged(), LATE_NAMED);
	CHECK_EQ(job.v.late, 1);
	CHECK_EQ(job.ranks[0].step_wait, 102);          /* of 100 .. 105 the lower middle */
	CHECK_EQ(job.v.margin, 102);
	CHECK_EQ(job.v.noise, 2);                       /* of 2 1 0 1 2 3 the fifth in order, four of five at most */
	CHECK_EQ(job.ranks[1].last, 11);                /* ties are nobody's */
	CHECK_EQ(job.ranks[0].collectives, 18);
}

TEST(a_margin_within_the_noise_names_nobody)
{
	begin(2);
	for (int64_t s = 0; s < 10; s++)                /* early by turns */
		ADD(s, 1000 + (s % 2 ? 300 : 0), 1000 + (s % 2 ? 0 : 290));
	CHECK_EQ(judged(), LATE_NOBODY);
	begin(2);
	for (int64_t s = 0; s < 10; s++)                /* equal */
		ADD(s, 1000, 1000);
	CHECK_EQ(judged(), LATE_NOBODY);
	CHECK_EQ(job.v.margin, 0);
}

TEST(one_slow_step_does_not_make_a_rank_late)
{
	begin(3);
	for (int64_t s = 0; s < 10; s++)
		ADD(s, 1000 + dice(20) + (s == 4) * 1000000, 1000 + dice(20), 1000 + dice(20) + (s == 4) * 1000000);
	CHECK(judged() != LATE_NAMED);
}

TEST(every_other_rank_must_wait_longer)
{
	begin(3);       /* two ranks are late together */
	for (int64_t s = 0; s < 10; s++)
		ADD(s, 1000 + 5000, 1000 + (s % 2) * 10, 1000 + !(s % 2) * 10);
	CHECK_EQ(judged(), LATE_NOBODY);
	CHECK_EQ(job.v.against, 2);
}

TEST(with_few_steps_noise_is_taken_between_collectives)
{
	/* Eight ranks of a real job have these in one step: those of rank 7, of the one next to it, and of one that is later twice. */
	begin(3);
	ADD(1, 10, 518, 4882);
	ADD(1, 8, 517, 1108);
	ADD(1, 7, 173, 170);
	ADD(1, 7, 131, 132);
	ADD(1, 86, 198, 95);
	ADD(1, 357, 468, 61);
	ADD(1, 468, 572, 70);
	ADD(1, 803, 915, 69);
	CHECK_EQ(judged(), LATE_NAMED);
	CHECK_EQ(job.v.late, 0);
	CHECK_EQ(job.v.between, NOISE_COLLECTIVES);
	CHECK_EQ(job.v.steps, 1);
	CHECK_EQ(job.v.wait, 1428);
	CHECK_EQ(job.v.margin, 1746);
	CHECK_EQ(job.v.noise, 8 * 4 * 3);               /* 8: the median deviation; 3: sqrt(8), upwards */
	CHECK_EQ(job.v.against, 1);
	CHECK_EQ(job.ranks[0].last, 5 - 0);
	CHECK_EQ(job.ranks[2].last, 3);
}

TEST(too_few_collectives_tell_nothing)
{
	begin(2);
	for (int64_t s = 0; s < 4; s++)
		ADD(s, 1000, 9000);
	CHECK_EQ(judged(), LATE_FEW);
	ADD(4, 1000, 9000);
	CHECK_EQ(judged(), LATE_NAMED);
	CHECK_EQ(job.v.wait, 0);
	CHECK_EQ(job.v.least, 8000);
}

TEST(without_steps_times_are_those_of_the_whole)
{
	begin(2);
	for (int64_t s = 0; s < 6; s++)
		ADD(LATE_NO_STEP, 1000, 1100);
	CHECK_EQ(judged(), LATE_NAMED);
	CHECK_EQ(job.v.steps, 0);
	CHECK_EQ(job.v.least, 600);
}

TEST(collectives_in_no_step_are_not_judged_where_others_are_in_one)
{
	begin(2);
	for (int64_t s = 0; s < 6; s++)
		ADD(s, 1000, 1100);
	ADD(LATE_NO_STEP, 900000, 1000);
	CHECK_EQ(judged(), LATE_NAMED);
	CHECK_EQ(job.v.late, 0);
	CHECK_EQ(job.v.collectives, 6);
	CHECK_EQ(job.ranks[0].wait, 899000);
	CHECK_EQ(job.ranks[0].judged, 6);
	CHECK_EQ(job.ranks[0].collectives, 7);
}

TEST(ranks_in_different_numbers_of_collectives_are_not_compared)
{
	begin(3);
	for (int64_t s = 0; s < 8; s++)
		ADD(s, 1000, 2000, s ? 3000 : LATE_ABSENT);
	CHECK_EQ(judged(), LATE_UNEQUAL);
	begin(3);       /* who is in none at all is no part of it */
	for (int64_t s = 0; s < 8; s++)
		ADD(s, 1000, 2000, LATE_ABSENT);
	CHECK_EQ(judged(), LATE_NAMED);
	CHECK_EQ(job.v.late, 0);
	CHECK_EQ(job.ranks[2].collectives, 0);
	begin(2);
	for (int64_t s = 0; s < 8; s++)
		ADD(s, 1000, LATE_ABSENT);
	CHECK_EQ(judged(), LATE_ALONE);
	begin(0);
	CHECK_EQ(judged(), LATE_ALONE);
}

/* Two groups of two, then all four in pairs across: who is late is so in both of its groups, and those that wait for it are late in theirs. */
TEST(a_rank_that_makes_others_late_in_their_groups_is_the_late_one)
{
	begin(4);
	for (int64_t s = 0; s < 10; s++) {
		ADD(s, 100, 100, 100 + 5000, 100);              /* group 2, 3: 3 is late, 2 waits */
		job.durations[(job.in.collectives - 1) * 4] = job.durations[(job.in.collectives - 1) * 4 + 1] = LATE_ABSENT;
		ADD(s, 100 + s % 3, 100, LATE_ABSENT, LATE_ABSENT);
		ADD(s, LATE_ABSENT, 100 + 5000, LATE_ABSENT, 100);      /* group 1, 3: 1 waits for 3 */
		ADD(s, 100 + 5000, LATE_ABSENT, 100, LATE_ABSENT);      /* group 0, 2: 0 waits for 2, which waited for 3 */
	}
	CHECK_EQ(judged(), LATE_NAMED);
	CHECK_EQ(job.v.late, 3);
}

TEST(a_planted_delay_is_found_and_jitter_alone_names_nobody)
{
	unsigned found = 0, wrong = 0, named = 0;

	for (unsigned round = 0; round < 200; round++) {
		size_t ranks = 2 + (size_t)dice(3), late = (size_t)dice((int64_t)ranks);

		for (int delayed = 0; delayed < 2; delayed++) {
			begin(ranks);
			for (int64_t c = 0; c < 60; c++) {
				int64_t arrival[RANKS];

				for (size_t r = 0; r < ranks; r++)
					arrival[r] = dice(1000) + (delayed && r == late && c % 3 == 0) * 5000;
				arrive(c / 3, arrival, 300);
			}
			if (judged() != LATE_NAMED)
				continue;
			named += !delayed;
			found += delayed && job.v.late == late;
			wrong += delayed && job.v.late != late;
		}
	}
	CHECK_EQ(found, 200);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(named, 0);
}

TEST(hostile_durations_stay_in_range)
{
	begin(2);
	for (int64_t s = 0; s < 9; s++)
		ADD(s % 7 ? s : INT64_MAX - s, INT64_MAX, s);
	CHECK_EQ(judged(), LATE_NAMED);
	CHECK_EQ(job.ranks[0].wait, INT64_MAX);
	CHECK_EQ(job.v.late, 1);
	begin(2);
	for (int64_t s = 0; s < 3; s++)
		ADD(LATE_NO_STEP, INT64_MAX, 0);
	for (int64_t s = 0; s < 3; s++)
		ADD(LATE_NO_STEP, 0, INT64_MAX);
	CHECK_EQ(judged(), LATE_NOBODY);
}
