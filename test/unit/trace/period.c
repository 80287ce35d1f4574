#include "trace/rules/period.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/test.h"
#include "test/unit/trace/launches.h"

#define MOST 4096u

/* The steps of a program, on line (pass 0) or off line (pass 1). */
static struct score found_in(const struct program *prog, unsigned pass, struct period_step *steps, size_t *n)
{
	struct sequence s = program_run(prog);
	struct period *p = malloc(sizeof *p);
	struct score score;

	period_init(p);
	*n = sequence_feed(&s, p, steps, MOST, NULL);
	if (pass) {
		period_again(p);
		*n = sequence_feed(&s, p, steps, MOST, NULL);
	}
	score = sequence_score(&s, steps, *n, pass ? 0 : 2);
	free(p);
	sequence_free(&s);
	return score;
}

/* Nearly all steps of such a program are found, and nearly nothing else, over seeds and optimizers. */
static void finds(struct program prog, unsigned pass)
{
	static struct period_step steps[MOST];
	struct score sum = { 0 };
	size_t n;

	prog.steps = 60;
	for (prog.seed = 1; prog.seed <= 3; prog.seed++) {
		for (prog.optimizer = 0; prog.optimizer < N_OPTIMIZERS; prog.optimizer++) {
			struct score s = found_in(&prog, pass, steps, &n);

			sum.truth += s.truth;
			sum.found += s.found;
			sum.right += s.right;
		}
	}
	if (!CHECK(sum.right * 100 >= sum.truth * 95) || !CHECK(sum.right * 100 >= sum.found * 95))
		printf("  shape %u: %zu steps, %zu found, %zu of them right\n", prog.shape, sum.truth, sum.found, sum.right);
}

/* In every shape that trains step by step, on line and off line. */
static void finds_in_all(struct program prog)
{
	for (prog.shape = SHAPE_MLP; prog.shape <= SHAPE_RNN; prog.shape++) {
		finds(prog, 0);
		finds(prog, 1);
	}
}

TEST(steps_are_found_where_nothing_marks_them)
{
	finds_in_all((struct program){ 0 });
}

TEST(steps_are_found_after_a_warm_up)
{
	finds_in_all((struct program){ .warmup = true, .hints = true });
}

TEST(steps_are_found_while_the_program_gets_slower)
{
	finds_in_all((struct program){ .drift = true });
}

TEST(a_step_is_all_of_its_micro_batches)
{
	finds((struct program){ .shape = SHAPE_TRANSFORMER, .accumulate = 4 }, 1);
	finds((struct program){ .shape = SHAPE_MLP, .accumulate = 4 }, 1);
	finds_in_all((struct program){ .accumulate = 4, .hints = true });
}

TEST(batches_of_an_evaluation_are_no_steps)
{
	finds_in_all((struct program){ .evaluate_every = 50 });
	finds((struct program){ .shape = SHAPE_GRAPH, .evaluate_every = 50 }, 1);
}

TEST(shapes_may_change_from_step_to_step)
{
	finds_in_all((struct program){ .buckets = 8 });
}

TEST(kernels_may_depend_on_the_data)
{
	finds_in_all((struct program){ .dependent = 30, .hints = true });
}

TEST(threads_may_launch_in_turns_or_whenever_they_want)
{
	finds_in_all((struct program){ .threads = true, .side = true, .hints = true });
}

TEST(a_launch_of_a_graph_may_be_a_step)
{
	finds((struct program){ .shape = SHAPE_GRAPH }, 0);
	finds((struct program){ .shape = SHAPE_GRAPH }, 1);
	finds((struct program){ .shape = SHAPE_GRAPH_ALONE }, 0);
	finds((struct program){ .shape = SHAPE_GRAPH_ALONE }, 1);
}

TEST(steps_may_differ_in_length)
{
	finds_in_all((struct program){ .varying = 30, .hints = true });
	finds((struct program){ .shape = SHAPE_TRANSFORMER, .varying = 10 }, 1);
}

TEST(a_step_begins_behind_the_optimizer_or_with_a_batch_where_no_pause_tells)
{
	finds_in_all((struct program){ .tight = true, .hints = true });
	finds((struct program){ .shape = SHAPE_GRAPH, .tight = true }, 1);
}

TEST(steps_are_found_with_all_of_that_together)
{
	finds((struct program){ .shape = SHAPE_TRANSFORMER, .hints = true, .warmup = true, .drift = true, .accumulate = 4, .evaluate_every = 50,
		.buckets = 8, .dependent = 30, .threads = true, .side = true, .noise = true }, 1);
	finds((struct program){ .shape = SHAPE_CNN, .hints = true, .warmup = true, .drift = true, .evaluate_every = 50, .buckets = 8,
		.dependent = 30, .threads = true, .side = true, .noise = true }, 1);
}

TEST(the_same_launches_give_the_same_steps)
{
	static struct period_step one[MOST], two[MOST];
	struct program prog = { .shape = SHAPE_CNN, .steps = 40, .seed = 5, .dependent = 30, .noise = true };
	size_t n, m;

	memset(one, 0, sizeof one);
	memset(two, 0, sizeof two);
	found_in(&prog, 0, one, &n);
	found_in(&prog, 0, two, &m);
	CHECK(n > 30);
	CHECK_EQ(n, m);
	CHECK_EQ(memcmp(one, two, sizeof one), 0);
}

TEST(what_starts_a_step_and_how_long_it_is_are_told)
{
	struct program prog = { .shape = SHAPE_TRANSFORMER, .steps = 60, .seed = 2, .hints = true };
	struct sequence s = program_run(&prog);
	struct period *p = malloc(sizeof *p);
	struct period_step step;

	period_init(p);
	CHECK_EQ(p->model.launches, 0);
	for (size_t i = 0; i < s.n; i++)
		period_launch(p, &s.launches[i]);
	period_finish(p);
	CHECK_EQ(p->model.launches, s.steps[31] - s.steps[30]);
	CHECK(p->model.duration > 5000000 && p->model.duration < 12000000);
	CHECK(p->model.confidence > 0.7 && p->model.confidence <= 1);
	CHECK_EQ(p->model.anchor_offset, 0);
	CHECK(p->model.named);
	CHECK(!p->model.revised);
	while (period_take(p, &step))
		CHECK(step.first < step.last && step.last < s.n && step.start < step.end && step.start == s.launches[step.first].start);
	free(p);
	sequence_free(&s);
}

/* Anything may be fed; steps come in order, do not overlap, and lie within what was fed.  A sanitizer watches the memory. */
static void feed_anything(unsigned seed, unsigned n, unsigned names, unsigned configs)
{
	struct period *p = malloc(sizeof *p);
	struct period_step step;
	uint64_t last = 0, steps = 0;
	int64_t now = 0;

	srand(seed);
	period_init(p);
	for (unsigned i = 0; i < n; i++) {
		struct period_launch l = {
			.name = (uint64_t)rand() % names, .config = (uint64_t)rand() % configs, .thread = (uint32_t)rand() % 40,
			.flags = rand() % 50 ? 0 : (uint32_t)rand() % 8, .start = now,
		};

		now += rand() % 20000 - (rand() % 100 ? 0 : 100000);    /* clocks of several threads, not quite in order */
		l.end = rand() % 3 ? now : rand() % 3 ? 0 : INT64_MAX / 2;
		if (rand() % 10000 == 0)
			now = rand() % 2 ? INT64_MAX - 2000000000 : INT64_MIN + 2000000000;
		if (rand() % 5000 == 0)
			l.start = (int64_t)((uint64_t)rand() << 33 ^ (uint64_t)rand() << 2);
		period_launch(p, &l);
		if (rand() % 100 == 0)
			period_call(p, now);
		if (rand() % 20000 == 0)
			period_again(p), last = 0;
		while (period_take(p, &step)) {
			CHECK(step.first >= last && step.last >= step.first && step.last < p->n);
			last = step.last + 1;
			steps++;
		}
	}
	period_finish(p);
	CHECK(p->model.confidence >= 0 && p->model.confidence <= 1);
	free(p);
}

TEST(any_sequence_may_be_fed)
{
	feed_anything(1, 60000, 3, 1);
	feed_anything(2, 60000, 1, 1);
	feed_anything(3, 60000, 50, 4);
	feed_anything(4, 120000, 100000, 100000);
	feed_anything(5, 60000, 8, 1000);
	for (unsigned i = 0; i < 200; i++)
		feed_anything(100 + i, 10 + i, 1 + i % 7, 1 + i % 3);
}

TEST(a_step_longer_than_what_is_remembered_is_found)
{
	struct program prog = { .shape = SHAPE_TRANSFORMER, .steps = 12, .seed = 1, .accumulate = 48, .hints = true };
	static struct period_step steps[MOST];
	size_t n;
	struct score s = found_in(&prog, 1, steps, &n);

	CHECK(s.right >= 11);
	CHECK(s.found <= 12);
}

TEST(optimizers_are_known_by_the_names_of_their_kernels)
{
	CHECK(period_kernel_flags("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor>(...)"));
	CHECK(period_kernel_flags("_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi2EEE"));
	CHECK(period_kernel_flags("void multi_tensor_apply_kernel<TensorListMetadata<4>, LAMBStage1Functor<float>>"));
	CHECK(!period_kernel_flags("ampere_sgemm_128x64_nn"));
	CHECK(!period_kernel_flags("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"));
	CHECK(!period_kernel_flags(""));
}
