/* The rule for phases, on sequences of events as in real training loops; and the phases report on a small trace. */
#include "cli/model/torch/phases.h"

#include "cli/model/torch/torch.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"
#include "trace/error.h"

#include <stdlib.h>
#include <string.h>

#define ON(thread, from, to, seq, fwd, mark) { from, to, seq, fwd, thread, mark, false, NO_TIME }
#define DATA(from, to)      ON(1, from, to, -1, 0, MARK_DATA)
#define ZERO(from, to)      ON(1, from, to, -1, 0, MARK_ZERO_GRAD)
#define STEP(from, to)      ON(1, from, to, -1, 0, MARK_OPTIMIZER)
#define NODE(from, to, seq) ON(1, from, to, seq, 1, MARK_BACKWARD)
#define DDP(from, to)       ON(1, from, to, -1, 0, MARK_PARALLEL)
#define REGION(from, to)    ON(1, from, to, -1, 0, MARK_FORWARD)
#define OPS(from, to, link) { from, to, -1, 0, 1, MARK_OPERATORS, false, link }

/* "data 0-10, forward 10-30, ... | 0-60, 60-90": the spans, then the steps. */
static void check(struct phase_event *events, size_t n, const char *want)
{
	static const char *const words[] = { "data", "forward", "backward", "optimizer", "zero_grad", "other" };
	struct phases p;
	char got[1000] = "";
	size_t at = 0;

	/* Events stay what they are: where it is doubtful without launches the rule is asked twice. */
	CHECK_EQ(phases_make(events, n, NULL, 0, &p), 0);
	phases_release(&p);
	CHECK_EQ(phases_make(events, n, NULL, 0, &p), 0);
	for (size_t i = 0; i < p.n; i++) {
		at += (size_t)snprintf(got + at, sizeof got - at, "%s%s %lld-%lld", i ? ", " : "", words[p.list[i].phase],
				       (long long)p.list[i].start, (long long)p.list[i].end);
		CHECK(i == 0 || p.list[i].start >= p.list[i - 1].end);
	}
	for (size_t i = 0; i < p.n_steps; i++)
		at += (size_t)snprintf(got + at, sizeof got - at, "%s%lld-%lld%s", i ? ", " : " | ", (long long)p.steps[i].start,
				       (long long)p.steps[i].end, p.steps[i].headless ? " headless" : "");
	for (size_t i = 0; i < p.n_comm; i++)
		at += (size_t)snprintf(got + at, sizeof got - at, "%s%lld-%lld", i ? ", " : " comm ", (long long)p.comm[i].start,
				       (long long)p.comm[i].end);
	CHECK_STR(got, want);
	phases_release(&p);
}

#define CHECK_PHASES(want, ...) do {                                                    \
	struct phase_event events_[] = { __VA_ARGS__ };                                 \
	check(events_, sizeof events_ / sizeof *events_, want);                         \
} while (0)

TEST(a_plain_loop_is_data_forward_backward_optimizer)
{
	CHECK_PHASES("data 0-10, forward 10-30, backward 30-50, other 50-52, optimizer 52-60, zero_grad 60-63, other 63-70, "
		     "data 70-75, forward 75-90, backward 90-95, other 95-96, optimizer 96-99 | 0-60, 60-99",
		     DATA(0, 10), NODE(30, 34, 12), NODE(35, 40, 11), NODE(41, 50, -1), STEP(52, 60), ZERO(60, 63),
		     DATA(70, 75), NODE(90, 95, 20), STEP(96, 99));
}

TEST(zero_grad_between_batch_and_backward_leaves_forward_on_both_sides)
{
	CHECK_PHASES("data 0-10, forward 10-12, zero_grad 12-15, forward 15-30, backward 30-50, optimizer 50-60 | 0-60",
		     DATA(0, 10), ZERO(12, 15), NODE(30, 50, 3), STEP(50, 60));
}

/* nanoGPT's order: batches by hand, zero_grad between forward and backward. */
TEST(a_forward_in_front_of_zero_grad_begins_with_its_scope)
{
	CHECK_PHASES("forward 12-40, zero_grad 40-42, forward 42-43, backward 43-70, optimizer 70-75, other 75-85, "
		     "forward 85-110, zero_grad 110-112, forward 112-113, backward 113-140, optimizer 140-145 | 40-75 headless, 75-145",
		     DDP(12, 35), ZERO(40, 42), NODE(43, 70, 5), STEP(70, 75),
		     DDP(85, 105), ZERO(110, 112), NODE(113, 140, 15), STEP(140, 145));
	CHECK_PHASES("optimizer 0-5, other 5-15, forward 15-40, zero_grad 40-42, forward 42-43, backward 43-70 | 0-5 headless",
		     STEP(0, 5), REGION(15, 20), REGION(22, 30), ZERO(40, 42), NODE(43, 70, 5));
}

TEST(a_forward_in_front_of_zero_grad_begins_with_the_first_operator_whose_node_ran)
{
	CHECK_PHASES("optimizer 0-5, other 5-20, forward 20-40, zero_grad 40-42, forward 42-43, backward 43-70, optimizer 70-75 "
		     "| 0-5 headless, 5-75",
		     STEP(0, 5), OPS(6, 38, 20), ZERO(40, 42), NODE(43, 70, 5), OPS(71, 72, NO_TIME), STEP(70, 75));
	/* Behind it, too: a batch made by hand is other. */
	CHECK_PHASES("optimizer 0-5, other 5-6, zero_grad 6-8, other 8-20, forward 20-40, backward 40-60, other 60-70, forward 70-80, "
		     "backward 80-90, optimizer 90-95 | 0-5 headless, 5-95",
		     STEP(0, 5), ZERO(6, 8), OPS(9, 38, 20), NODE(40, 60, 5), OPS(61, 79, 70), NODE(80, 90, 15), STEP(90, 95));
	/* What is computed of the last step's loss is no forward: its nodes never run. */
	CHECK_PHASES("optimizer 0-5, other 5-20, data 20-25, forward 25-40, backward 40-60 | 0-5 headless",
		     STEP(0, 5), OPS(6, 18, NO_TIME), DATA(20, 25), OPS(26, 39, 26), NODE(40, 60, 5));
}

static bool forward_is_known(int before, int behind, const int64_t *launches, size_t n)
{
	struct phase_event events[40];
	struct phases p;
	bool known;
	size_t at = 0;
	int64_t t = 0;

	for (int i = 0; i < 10; i++) {
		events[at++] = (struct phase_event)STEP(t, t + 5);
		events[at++] = (struct phase_event)ZERO(t + 5 + before, t + 6 + before);
		events[at++] = (struct phase_event)NODE(t + 6 + before + behind, t + 50 + before + behind, 10 + i);
		t += 100;
	}
	CHECK_EQ(phases_make(events, at, launches, n, &p), 0);
	CHECK_EQ(p.doubts, 10);
	CHECK(p.forward != p.doubtful);
	for (size_t i = 0; i < p.n; i++)
		CHECK(p.forward || p.list[i].phase != PHASE_FORWARD);
	known = p.forward;
	phases_release(&p);
	return known;
}

TEST(where_forward_is_not_known_those_of_single_passes_are_other_too)
{
	CHECK_PHASES("data 0-5, other 5-10, backward 10-20, optimizer 20-25, other 25-60, zero_grad 60-62, other 62-63, backward 63-70, "
		     "optimizer 70-75 | 0-75",
		     DATA(0, 5), NODE(10, 20, 5), STEP(20, 25), ZERO(60, 62), NODE(63, 70, 15), STEP(70, 75));
}

TEST(a_forward_in_front_of_zero_grad_that_nothing_shows_is_unknown_and_not_small)
{
	int64_t launches[10];

	CHECK(!forward_is_known(30, 2, NULL, 0));
	CHECK(forward_is_known(2, 30, NULL, 0));
	/* On a GPU the host waits for the loss in front of zero_grad, and launches behind it; or the other way round. */
	for (int i = 0; i < 10; i++)
		launches[i] = i * 100 + 5 + 30 + 2;
	CHECK(forward_is_known(30, 5, launches, 10));
	for (int i = 0; i < 10; i++)
		launches[i] = i * 100 + 5;
	CHECK(!forward_is_known(5, 30, launches, 10));
}

TEST(a_forward_that_checkpointing_computes_again_is_backward)
{
	CHECK_PHASES("data 0-10, forward 10-40, backward 40-90, optimizer 90-95 | 0-95",
		     DATA(0, 10), DDP(12, 35), NODE(40, 60, 9), DDP(50, 55), NODE(60, 90, 8), STEP(90, 95));
}

TEST(accumulation_without_a_loader_is_split_by_sequence_numbers)
{
	CHECK_PHASES("backward 30-50, forward 50-70, backward 70-90, other 90-91, optimizer 91-99, forward 99-120, backward 120-130, "
		     "optimizer 130-140 | 30-99 headless, 99-140",
		     NODE(30, 40, 9), NODE(40, 50, 4), NODE(70, 80, 19), NODE(80, 85, 14), NODE(85, 90, -1), STEP(91, 99),
		     NODE(120, 130, 29), STEP(130, 140));
}

TEST(sequence_numbers_count_for_each_forward_thread)
{
	/* Numbers of thread 2 are lower and those of 1 go on running down: one pass. */
	CHECK_PHASES("data 0-10, forward 10-20, backward 20-50, optimizer 50-60 | 0-60",
		     DATA(0, 10), ON(7, 20, 30, 100, 1, MARK_BACKWARD), ON(8, 25, 35, 5, 2, MARK_BACKWARD),
		     ON(8, 36, 40, 4, 2, MARK_BACKWARD), ON(7, 41, 50, 99, 1, MARK_BACKWARD), STEP(50, 60));
}

TEST(a_step_with_a_closure_holds_forward_zero_grad_and_backward)
{
	CHECK_PHASES("data 0-10, other 10-12, forward 12-30, zero_grad 30-35, forward 35-36, backward 36-50, optimizer 50-70, "
		     "other 70-72, data 72-80, other 80-81, forward 81-90, backward 90-95, optimizer 95-99 | 0-70, 70-99",
		     DATA(0, 10), STEP(12, 70), ZERO(30, 35), NODE(36, 50, 4), DATA(72, 80), STEP(81, 99), NODE(90, 95, 9));
}

TEST(a_closure_that_is_called_again_and_again_leaves_the_search_to_the_optimizer)
{
	CHECK_PHASES("forward 10-12, zero_grad 12-14, forward 14-20, backward 20-30, optimizer 30-35, zero_grad 35-36, forward 36-40, "
		     "backward 40-50, optimizer 50-70 | 10-70 headless",
		     STEP(10, 70), ZERO(12, 14), NODE(20, 30, 4), ZERO(35, 36), NODE(40, 50, 9));
}

TEST(a_backward_inside_a_backward_is_part_of_it)
{
	CHECK_PHASES("data 0-10, forward 10-20, backward 20-60, optimizer 60-70 | 0-70",
		     DATA(0, 10), NODE(20, 50, 5), NODE(25, 30, 90), NODE(30, 40, 89), NODE(50, 60, 4), STEP(60, 70));
}

TEST(optimizers_of_one_batch_make_one_step)
{
	/* A GAN: two passes and two optimizers for each batch. */
	CHECK_PHASES("data 0-10, forward 10-20, backward 20-25, optimizer 25-30, forward 30-40, backward 40-45, optimizer 45-50, "
		     "data 50-60, forward 60-70, backward 70-75, optimizer 75-80, forward 80-85, backward 85-90, optimizer 90-95 "
		     "| 0-50, 50-95",
		     DATA(0, 10), NODE(20, 25, 5), STEP(25, 30), NODE(40, 45, 15), STEP(45, 50),
		     DATA(50, 60), NODE(70, 75, 25), STEP(75, 80), NODE(85, 90, 35), STEP(90, 95));
	/* Without a loader those between which there is no backward pass. */
	CHECK_PHASES("backward 20-25, optimizer 25-30, optimizer 30-35, forward 35-40, backward 40-45, optimizer 45-50, other 50-51, "
		     "optimizer 51-55 | 20-35 headless, 35-55",
		     NODE(20, 25, 5), STEP(25, 30), STEP(30, 35), NODE(40, 45, 15), STEP(45, 50), STEP(51, 55));
}

TEST(a_batch_that_serves_all_steps_does_not_make_them_one)
{
	struct phase_event events[41];
	struct phases p;

	events[0] = (struct phase_event)DATA(0, 1);
	for (int i = 0; i < 20; i++) {
		events[1 + 2 * i] = (struct phase_event)NODE(10 + 10 * i, 15 + 10 * i, 10 + i);
		events[2 + 2 * i] = (struct phase_event)STEP(15 + 10 * i, 18 + 10 * i);
	}
	CHECK_EQ(phases_make(events, 41, NULL, 0, &p), 0);
	CHECK_EQ(p.n_steps, 20);
	phases_release(&p);
}

TEST(inference_is_from_batch_to_batch)
{
	CHECK_PHASES("data 0-10, other 10-20, data 20-25, other 25-40, data 40-41 | 0-20, 20-40",
		     DATA(0, 10), DATA(20, 25), DATA(40, 41));
	/* Its forward: from the first to the last operator, or scope. */
	CHECK_PHASES("data 0-10, other 10-12, forward 12-18, other 18-20, data 20-25, other 25-27, forward 27-30, other 30-40, data 40-41 "
		     "| 0-20, 20-40",
		     DATA(0, 10), OPS(12, 18, NO_TIME), DATA(20, 25), OPS(27, 30, NO_TIME), DATA(40, 41));
	CHECK_PHASES("data 0-10, other 10-12, forward 12-18, other 18-20, data 20-25 | 0-20",
		     DATA(0, 10), DDP(12, 13), REGION(14, 18), DATA(20, 25));
}

TEST(other_threads_that_train_or_fetch_are_left_out)
{
	/* Thread 2 fetches ahead, thread 3 trains on its own; the engine's thread 9 works for thread 1. */
	CHECK_PHASES("zero_grad 0-2, forward 2-10, backward 10-20, optimizer 20-30, zero_grad 30-31, forward 31-40, backward 40-45, "
		     "optimizer 45-50 | 0-30 headless, 30-50",
		     ZERO(0, 2), ON(2, 1, 29, -1, 0, MARK_DATA), ON(9, 10, 20, 5, 1, MARK_BACKWARD), STEP(20, 30), ZERO(30, 31),
		     ON(3, 12, 14, 5, 3, MARK_BACKWARD), ON(3, 15, 16, -1, 0, MARK_OPTIMIZER),
		     ON(9, 40, 45, 15, 1, MARK_BACKWARD), STEP(45, 50));
}

TEST(collectives_are_merged_and_are_no_phase)
{
	CHECK_PHASES("data 0-10, forward 10-20, backward 20-40, optimizer 40-50 | 0-50 comm 25-38, 60-61",
		     DATA(0, 10), NODE(20, 40, 5), STEP(40, 50), ON(5, 25, 30, -1, 0, MARK_COMM), ON(6, 29, 38, -1, 0, MARK_COMM),
		     ON(5, 60, 61, -1, 0, MARK_COMM));
}

TEST(with_ddp_a_backward_pass_ends_with_the_collectives_that_it_waits_for)
{
	CHECK_PHASES("data 0-10, forward 10-20, backward 20-60, other 60-65, optimizer 65-70 | 0-70 comm 12-13, 38-39, 45-60, 75-80",
		     DATA(0, 10), ON(1, 11, 19, -1, 0, MARK_PARALLEL), ON(5, 12, 13, -1, 0, MARK_COMM), NODE(20, 40, 5),
		     ON(5, 38, 39, -1, 0, MARK_COMM), ON(6, 45, 60, -1, 0, MARK_COMM), STEP(65, 70), ON(6, 75, 80, -1, 0, MARK_COMM));
	/* Accumulation without a loader: buffers that the next forward sends do not belong to the pass before. */
	CHECK_PHASES("backward 20-50, forward 50-70, backward 70-80, optimizer 80-90 | 20-90 headless comm 30-55, 62-64",
		     NODE(20, 40, 5), ON(5, 30, 55, -1, 0, MARK_COMM), ON(1, 50, 68, -1, 0, MARK_PARALLEL),
		     ON(5, 62, 64, -1, 0, MARK_COMM), NODE(70, 80, 15), STEP(80, 90));
	/* A thread that issues collectives before anything else trains nothing. */
	CHECK_PHASES("forward 5-20, backward 20-30 comm 1-3", ON(5, 1, 3, -1, 0, MARK_COMM), DDP(5, 12), NODE(20, 30, 7));
	/* The scope that ends the pass begins the forward. */
	CHECK_PHASES("backward 20-50, forward 50-70, zero_grad 70-72, forward 72-75, backward 75-80, optimizer 80-90 | 20-90 headless comm 30-55",
		     NODE(20, 40, 5), ON(5, 30, 55, -1, 0, MARK_COMM), ON(1, 50, 68, -1, 0, MARK_PARALLEL), ZERO(70, 72),
		     NODE(75, 80, 15), STEP(80, 90));
}

TEST(events_that_cross_or_are_turned_around_make_spans_that_do_not)
{
	CHECK_PHASES("", { 0 });
	CHECK_PHASES("data 0-10, data 10-15, forward 15-20, backward 20-40, optimizer 40-50 | 0-50",
		     DATA(0, 10), DATA(5, 15), DATA(6, 7), DATA(30, 20), NODE(20, 40, 5), STEP(35, 50), STEP(36, 41));
}

TEST(names_of_ranges_are_what_pytorch_gives_them)
{
	enum phase_mark mark = PHASE_MARKS;

	CHECK(phase_mark_of("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", false, &mark) && mark == MARK_DATA);
	CHECK(phase_mark_of("Optimizer.step#AdamW.step", false, &mark) && mark == MARK_OPTIMIZER);
	CHECK(phase_mark_of("Optimizer.zero_grad#SGD.zero_grad", false, &mark) && mark == MARK_ZERO_GRAD);
	CHECK(phase_mark_of("AddmmBackward0", true, &mark) && mark == MARK_BACKWARD);
	CHECK(phase_mark_of("gloo:all_reduce", false, &mark) && mark == MARK_COMM);
	CHECK(!phase_mark_of("forward", false, &mark) && !phase_mark_of("Optimizer.step", false, &mark));
}

/* ---- the report ---- */

enum { TORCH = 1, LOADER, OPTIMIZER, ADDMM, LAUNCH, KERNEL, NCCL, GLOO };

#define PUSHED(n) (1ull << 40 | (n))
#define RANGE(at, length, n, thread, name) { T0 + (at), (length), PUSHED(n), 0, (thread), (thread), 1, 0, (name), 0, 0, 0, 0, -1 }
#define CALL(at, corr) { T0 + (at), 10, 0, (corr), 1, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 }
#define RUN(at, length, corr, name) { T0 + (at), (length), 0, (corr), (name), 0, 1, 7, 1, 0, 0 }

static void make_training(struct making *k, bool gpu)
{
	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, T0 + 100000, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_ENDED });
	make_string(k, 1, TORCH, "PyTorch");
	make_string(k, 1, LOADER, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	make_string(k, 1, OPTIMIZER, "Optimizer.step#SGD.step");
	make_string(k, 1, ADDMM, "AddmmBackward0");
	make_string(k, 1, LAUNCH, "cudaLaunchKernel_v7000");
	make_string(k, 1, KERNEL, "_Z4gemmPfS_S_");
	make_string(k, 1, NCCL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	make_string(k, 1, GLOO, "gloo:all_reduce");
	make_thread(k, 1, 1, 100, "main");
	ROWS(k, 1, domain, { 1, TORCH });
	for (int i = 0; i < 4; i++) {
		int at = i * 10000;

		ROWS(k, 1, range, RANGE(at, 1000, 4 * i + 1, 1, LOADER), RANGE(at + 4000, 3000, 4 * i + 2, 1, ADDMM),
		     RANGE(at + 5000, 4000, 4 * i + 4, 2, GLOO), RANGE(at + 8000, 1500, 4 * i + 3, 1, OPTIMIZER));
		ROWS(k, 1, op, { PUSHED(4 * i + 2), 10 * i + 7, 1, 1, 0, TORCH_BACKWARD, 0, 0, 0, 0, 0, 0 });
		if (gpu) {
			ROWS(k, 1, api, CALL(at + 2000, 3 * i + 1), CALL(at + 4500, 3 * i + 2), CALL(at + 8500, 3 * i + 3));
			ROWS(k, 1, kernel, RUN(at + 2500, 2500, 3 * i + 1, KERNEL), RUN(at + 5000, 4000, 3 * i + 2, KERNEL),
			     RUN(at + 8000, 2500, 3 * i + 2, NCCL), RUN(at + 9000, 400, 3 * i + 3, KERNEL));
		}
	}
	make_end(k);
}

static char *text_of(bool gpu, const char *report, enum table_format format)
{
	struct making k;
	struct model *m;
	char *text;

	make_training(&k, gpu);
	m = model_open(k.path, NULL);
	CHECK(m != NULL);
	text = report_text(m, report, format, NULL, 0);
	model_close(m);
	unmake(&k);
	return text;
}

static void check_report(bool gpu, const char *want)
{
	char *text = text_of(gpu, "phases", TABLE_CSV);

	CHECK_STR(strchr(text, '\n') + 1, want);
	free(text);
}

TEST(the_report_has_a_row_for_each_step_and_nothing_of_the_gpu_without_its_rows)
{
	check_report(false,
		     "0,train,9500,1000,3000,3000,1500,,1000,,,4000,2000,,,,,,,,,,,,,1\n"
		     "1,train,10000,1000,3000,3000,1500,,1500,,,4000,2000,,,,,,,,,,,,,1\n"
		     "2,train,10000,1000,3000,3000,1500,,1500,,,4000,2000,,,,,,,,,,,,,1\n"
		     "3,train,10000,1000,3000,3000,1500,,1500,,,4000,2000,,,,,,,,,,,,,1\n");
}

/*
 * The forward launches 2500 ns, which run into the backward pass; the collective of each step runs into the next one's
 * batch.  Idle is by when something ran, busy by what launched it.
 */
TEST(gpu_time_is_of_what_a_phase_launched_and_idle_of_when_it_ran)
{
	check_report(true,
		     "0,train,9500,1000,3000,3000,1500,,1000,1500,100,4000,2000,,2500,5500,400,,,1000,1500,0,0,,0,1\n"
		     "1,train,10000,1000,3000,3000,1500,,1500,2500,1100,4000,2000,,2500,5500,400,,,500,1500,0,0,,0,1\n"
		     "2,train,10000,1000,3000,3000,1500,,1500,2500,1100,4000,2000,,2500,5500,400,,,500,1500,0,0,,0,1\n"
		     "3,train,10000,1000,3000,3000,1500,,1500,2500,1100,4000,2000,,2500,5500,400,,,500,1500,0,0,,0,1\n");
}

/* Cell n of a line of CSV, from 0; an empty one is 0. */
static int64_t cell(const char *line, size_t n)
{
	while (n--)
		line = strchr(line, ',') + 1;
	return strtoll(line, NULL, 10);
}

TEST(idle_time_of_the_phases_adds_up_to_that_of_the_step_and_communication_is_the_same)
{
	enum { FIRST_IDLE = 19, STEP_IDLE = 8 };
	char *phases = text_of(true, "phases", TABLE_CSV), *steps = text_of(true, "steps", TABLE_CSV);
	const char *phase = phases, *step = steps;

	for (int i = 0; i < 4; i++) {
		int64_t idle = 0;

		phase = strchr(phase, '\n') + 1;
		step = strchr(step, '\n') + 1;
		for (size_t p = 0; p < PHASES; p++)
			idle += cell(phase, FIRST_IDLE + p);
		CHECK_EQ(idle, cell(step, STEP_IDLE));
		CHECK_EQ(cell(phase, 9), cell(step, 10));
		CHECK_EQ(cell(phase, 10), cell(step, 11));
	}
	free(phases);
	free(steps);
}

static void check_sentence(bool gpu, const char *want)
{
	char *text = text_of(gpu, "phases", TABLE_TEXT), *at = strstr(text, "  median step ");

	CHECK_STR(at ? at : text, want);
	free(text);
}

TEST(the_sentence_is_of_the_median_step_and_its_communication_is_that_of_gpu_rows)
{
	check_sentence(true, "  median step (#1 of 4 steps), 10.0 us: data 1.0 us, forward 3.0 us, backward 3.0 us, optimizer 1.5 us, other 1.5 us; "
		       "communication 2.50 us, of which 1.10 us (44 %) exposed; GPU idle 20 % of the step, most of it during forward\n");
}

TEST(without_gpu_rows_the_sentence_has_the_calls_that_issue_collectives)
{
	check_sentence(false, "  median step (#1 of 4 steps), 10.0 us: data 1.0 us, forward 3.0 us, backward 3.0 us, optimizer 1.5 us, other 1.5 us; "
		       "collectives issued for 4.00 us on the host, 2.00 us (50 %) outside the backward pass; "
		       "GPU time was not recorded\n");
}
