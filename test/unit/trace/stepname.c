#include "trace/rules/stepname.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/test.h"

static void is_step(const char *name, enum stepname_rank rank, int64_t number)
{
	struct stepname s = { 0 };

	if (!CHECK(stepname_parse(&s, name, strlen(name))) || !CHECK_EQ(s.rank, rank) || !CHECK_EQ(s.number, number))
		printf("  '%s'\n", name);
}

static void is_none(const char *name)
{
	struct stepname s;

	if (!CHECK(!stepname_parse(&s, name, strlen(name))))
		printf("  '%s'\n", name);
}

TEST(well_known_step_markers_are_known_with_their_number)
{
	is_step("ProfilerStep#12", STEPNAME_PROFILER, 12);
	is_step("step 3", STEPNAME_STEP, 3);
	is_step("Step 3", STEPNAME_STEP, 3);
	is_step("STEP_3", STEPNAME_STEP, 3);
	is_step("step3", STEPNAME_STEP, 3);
	is_step("step:007", STEPNAME_STEP, 7);
	is_step("steps12", STEPNAME_STEP, 12);
	is_step("step=0", STEPNAME_STEP, 0);
	is_step("global_step_100", STEPNAME_STEP, 100);
	is_step("train_step_12", STEPNAME_STEP, 12);
	is_step("TrainStep 12", STEPNAME_STEP, 12);
	is_step("Train_Step_5", STEPNAME_STEP, 5);
	is_step("step 12/100", STEPNAME_STEP, 12);
	is_step("Step 12 of 100", STEPNAME_STEP, 12);
	is_step("epoch 1 step 12", STEPNAME_STEP, 12);
	is_step("epoch_0_step_12", STEPNAME_STEP, 12);
	is_step("epoch 1, step 2", STEPNAME_STEP, 2);
	is_step("epoch 1/step 2", STEPNAME_STEP, 2);
	is_step("iteration 5", STEPNAME_ITERATION, 5);
	is_step("iteration5", STEPNAME_ITERATION, 5);
	is_step("Iteration: 5", STEPNAME_ITERATION, 5);
	is_step("iteration[12,16)", STEPNAME_ITERATION, 12);
	is_step("iter_9", STEPNAME_ITERATION, 9);
	is_step("train_iter 77", STEPNAME_ITERATION, 77);
	is_step("batch_12", STEPNAME_BATCH, 12);
	is_step("Batch 12", STEPNAME_BATCH, 12);
	is_step("BATCH 0", STEPNAME_BATCH, 0);
	is_step("Train Epoch 3 Batch 12", STEPNAME_BATCH, 12);
	is_step("mini-batch 4", STEPNAME_BATCH, 4);
	is_step("val_batch_4", STEPNAME_BATCH, 4);
}

TEST(markers_without_a_number_are_known)
{
	is_step("train_step", STEPNAME_UNNUMBERED, -1);
	is_step("training_step", STEPNAME_UNNUMBERED, -1);
	is_step("TrainStep", STEPNAME_UNNUMBERED, -1);
	is_step("run_training_batch", STEPNAME_UNNUMBERED, -1);
	is_step("iteration", STEPNAME_UNNUMBERED, -1);
	is_step("step[DECODE bs=8]", STEPNAME_STEP, -1);
	is_step("execute_1_context_0(sq0sk0sqsq0sqsk0)_generation_1(sq1sk2sqsq1sqsk2)", STEPNAME_ENGINE, -1);
	is_step("execute_context_2(100)_generation_3(3)", STEPNAME_ENGINE, -1);
	is_step("execute_new_2_cached_3", STEPNAME_ENGINE, -1);
}

TEST(names_that_only_contain_such_words_are_none)
{
	static const char *const names[] = {
		"", "step", "batch", "iter", "12", "#12", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad",
		"optimizer_step", "optimizer step 3", "step 3 forward", "step 3x", "batch_size_32", "batchsize=4", "batch_idx=3",
		"[Strategy]SingleDeviceStrategy.training_step", "DeepSpeedEngine.forward", "forward-backward", "epoch 3", "train", "steppe 3",
		"train_epoch_3", "Epoch_2", "stepwise_12", "footstep 3", "steps", "next_step", "nccl:all_reduce", "## forward ##",
		"moveData3", "iteration of things", "step 99999999999999999999", "train_one_epoch_3", "execute", "execute_5", "execute_plan_3",
		"aten::batch_norm", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		is_none(names[i]);
}

static uint64_t series(const char *name)
{
	struct stepname s = { 0 };

	CHECK(stepname_parse(&s, name, strlen(name)));
	return s.series;
}

TEST(names_of_one_loop_are_one_series)
{
	CHECK(series("step 1") == series("step 200"));
	CHECK(series("train_step_1") == series("Train Step 2"));
	CHECK(series("epoch 1 step 7") == series("epoch 2 step 7"));
	CHECK(series("step 1/100") == series("step 2 of 100"));
	CHECK(series("train_step_1") != series("val_step_1"));
	CHECK(series("train_step_1") != series("step_1"));
	CHECK(series("step 1") != series("iteration 1"));
	CHECK(series("execute_1_context_0(a)") == series("execute_27_context_1(b)"));
}

TEST(any_bytes_may_be_a_name)
{
	static const char *const pieces[] = { "step", "Step", "train", "epoch", "batch", "iter", "execute_", "context_", "_", "#", " ", "[",
					      "(", ":", "1", "29", "\xff" };
	int parsed = 0;

	srand(7);
	for (int i = 0; i < 300000; i++) {
		struct stepname s;
		char name[24];
		size_t n = (size_t)rand() % sizeof name;
		char *exact = malloc(n + 1);            /* so that a sanitizer sees a read too far */

		for (size_t k = 0; k < n;) {
			const char *piece = pieces[(size_t)rand() % (sizeof pieces / sizeof *pieces)];

			if (i % 2)
				name[k++] = (char)rand();
			while (i % 2 == 0 && *piece && k < n)
				name[k++] = *piece++;
		}
		memcpy(exact + 1, name, n);
		if (stepname_parse(&s, exact + 1, n) && ++parsed)
			CHECK(s.number >= -1 && s.rank <= STEPNAME_ENGINE);
		free(exact);
	}
	CHECK(parsed > 1000);
}
