/* Windows and step rows from PyTorch's callbacks. */
#include "inject/capture/windows.h"

#include <stdio.h>

#include "inject/capture/unstepped.h"
#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

static const struct step_row *step(size_t i)
{
	return fake_row(ROW_step, i);
}

static void torch_answer(struct stream *s, enum torchsteps_what what, uint32_t number, int64_t time, unsigned bits)
{
	const struct torchsteps_answer a = { .what = what, .number = number, .time = time, .batch = bits & 1, .sure = bits & 2, .ahead = bits & 4 };

	windows_torch_step(s, &a, time - 1);
}

TEST(a_schedule_begins_with_the_step_that_the_program_trains_first)
{
	struct stream *s = fake_stepped("=torch", "wait=1,active=1,repeat=1");
	int64_t t = clock_now();
	bool kept[7];

	torch_answer(s, TORCHSTEPS_FIRST, 0, t, 1);
	kept[0] = fake_call(s, 1);
	torch_answer(s, TORCHSTEPS_NEXT, 1, t + 10, 1 | 4);     /* three batches, fetched one right behind the other */
	kept[1] = fake_call(s, 2);
	torch_answer(s, TORCHSTEPS_NEXT, 2, t + 20, 1 | 4);
	kept[2] = fake_call(s, 3);
	torch_answer(s, TORCHSTEPS_TRAINS, 0, t, 2);
	kept[3] = fake_call(s, 4);
	torch_answer(s, TORCHSTEPS_NEXT, 1, t + 30, 2);
	kept[4] = fake_call(s, 5);
	torch_answer(s, TORCHSTEPS_NEXT, 2, t + 40, 2);
	kept[5] = fake_call(s, 6);
	torch_answer(s, TORCHSTEPS_NEXT, 3, t + 50, 2);
	kept[6] = fake_call(s, 7);
	CHECK(!kept[0] && !kept[1] && !kept[2] && !kept[3] && kept[4] && !kept[5] && !kept[6]);
	CHECK_EQ(fake_count(ROW_window), 1);
	CHECK_EQ(fake_count(ROW_step), 5);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(step(i)->number, i);
		CHECK_EQ(step(i)->flags, STEP_BATCH);
	}
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(step(2 + i)->number, i);
		CHECK_EQ(step(2 + i)->flags, 0);
		CHECK_EQ(step(2 + i)->window, i == 1);
	}
	CHECK_EQ(step(2)->start, t);
	CHECK_EQ(step(2)->first_corr, 1);
	CHECK_EQ(step(2)->end_corr, 5);
	stream_leave(s);
}

TEST(a_schedule_that_inference_had_begun_begins_anew_with_the_training)
{
	struct stream *s = fake_stepped("=torch", "wait=1,active=1,repeat=1");
	int64_t t = clock_now();
	bool kept[4];

	torch_answer(s, TORCHSTEPS_FIRST, 0, t, 1);
	torch_answer(s, TORCHSTEPS_NEXT, 1, t + 10, 1 | 2);
	kept[0] = fake_call(s, 1);
	torch_answer(s, TORCHSTEPS_TRAINS, 0, t + 10, 2);
	kept[1] = fake_call(s, 2);
	torch_answer(s, TORCHSTEPS_NEXT, 1, t + 20, 2);
	kept[2] = fake_call(s, 3);
	torch_answer(s, TORCHSTEPS_NEXT, 2, t + 30, 2);
	kept[3] = fake_call(s, 4);
	CHECK(kept[0] && !kept[1] && kept[2] && !kept[3]);
	CHECK_EQ(fake_count(ROW_step), 3);
	CHECK_EQ(step(1)->number, 0);
	CHECK_EQ(step(1)->first_corr, 1);
	CHECK_EQ(step(2)->number, 1);
	stream_leave(s);
}

TEST(the_number_of_a_step_is_what_the_rule_says_when_it_ends)
{
	struct stream *s = fake_stepped("=torch", "");
	int64_t t = clock_now();

	torch_answer(s, TORCHSTEPS_FIRST, 0, t, 1);
	fake_call(s, 1);
	torch_answer(s, TORCHSTEPS_TRAINS, 0, t, 2);
	torch_answer(s, TORCHSTEPS_NEXT, 1, t + 10, 2);
	fake_call(s, 2);
	torch_answer(s, TORCHSTEPS_NEXT, 9, t + 20, 2);
	fake_call(s, 3);
	torch_answer(s, TORCHSTEPS_NEXT, 10, t + 30, 2);
	fake_call(s, 4);
	CHECK_EQ(fake_count(ROW_step), 3);
	CHECK_EQ(step(1)->number, 8);
	CHECK_EQ(step(2)->number, 9);
	stream_leave(s);
}

TEST(windows_of_a_program_that_trains_without_a_step_of_an_optimizer_are_told_of)
{
	struct stream *s = fake_stepped("=torch", "active=1,wait=1,skip_first_wait=1,repeat=3");
	const struct health_cell *health = &guest->arena->health[HEALTH_window_unstepped];
	int64_t t = clock_now();

	torch_answer(s, TORCHSTEPS_FIRST, 0, t, 1);
	torch_answer(s, TORCHSTEPS_NEXT, 1, t + 10, 1 | 2);     /* closes window 1 */
	CHECK_EQ(health->count, 0);
	unstepped_trains(false);                                /* it trains, and that window had no step */
	CHECK_EQ(health->count, 1);
	torch_answer(s, TORCHSTEPS_NEXT, 2, t + 20, 2);         /* opens window 2 */
	unstepped_trains(true);
	torch_answer(s, TORCHSTEPS_NEXT, 3, t + 30, 2);
	CHECK_EQ(health->count, 1);
	torch_answer(s, TORCHSTEPS_NEXT, 4, t + 40, 2);         /* opens window 3 */
	windows_torch_over();
	CHECK_EQ(health->count, 2);
	stream_leave(s);
}
