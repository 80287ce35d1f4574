/* The page's texts about steps and communication. */
#include "cli/report/parts/gpu_times.h"
#include "cli/report/steps/comm_line.h"
#include "cli/report/steps/median_step.h"
#include "cli/report/steps/phase_sentence.h"
#include "cli/report/steps/step_line.h"
#include "cli/report/steps/step_view.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

enum { KERNEL = 1, NCCL, KIND };

#define STEP_ROW(at, length, number, kind, window, flags) \
	{ T0 + (at), (length), 0, (number), (kind), 0, 0, 1, (window), 0, 0, 100, (flags) }
#define RUN(at, length, name) { T0 + (at), (length), 0, 1, (name), 0, 1, 7, 1, 0, 0 }

static void begin(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, T0 + 900000, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_CUDA | PROCESS_KERNELS },
	     { T0 + 1, T0 + 900000, 2, 200, 200, 1, 0, PROCESS_CONNECTED | PROCESS_CUDA | PROCESS_KERNELS });
	for (uint32_t process = 1; process < 3; process++) {
		make_string(k, process, KERNEL, "_Z6vecaddPfS_i");
		make_string(k, process, NCCL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
		make_string(k, process, KIND, "train");
	}
}

/* Checks all three lines and takes the trace away. */
static void check_page(struct making *k, const char *steps, const char *phases, const char *comm)
{
	struct model *m = make_model(k);
	struct phase_words words;
	struct step_view v;
	char text[320];

	CHECK_EQ(step_view_begin(&v, m), 0);
	CHECK_EQ(step_line(&v, text, sizeof text), 0);
	CHECK_STR(text, steps);
	CHECK_EQ(phase_line(&v, &words), 0);
	CHECK_STR(words.phases, phases);
	CHECK_EQ(comm_line(&v, text, sizeof text), 0);
	CHECK_STR(text, comm);
	step_view_end(&v);
	model_close(m);
	unmake(k);
}

TEST(the_median_of_an_even_count_is_the_lower_one_and_a_real_step)
{
	struct making k;
	struct model *m;
	struct median_step of;

	begin(&k);
	ROWS(&k, 1, step, STEP_ROW(1000, 400, 0, 0, 1, 0), STEP_ROW(2000, 300, 1, 0, 1, 0), STEP_ROW(3000, 500, 2, 0, 1, 0),
	     STEP_ROW(4000, 300, 3, 0, 1, 0), STEP_ROW(5000, 900, 4, 0, 0, STEP_WARMUP), STEP_ROW(6000, 10, 5, 0, 1, STEP_INCOMPLETE));
	m = make_model(&k);
	CHECK_EQ(median_step(model_steps(m), ANY_PROCESS, 0, &of), 0);
	CHECK_EQ(of.n, 4);
	CHECK_EQ(of.median->number, 1);
	CHECK_EQ(of.slowest->number, 2);
	CHECK_EQ(median_step(model_steps(m), 0, 0, &of), 0);
	CHECK_EQ(of.n, 0);
	model_close(m);
	unmake(&k);
}

TEST(the_page_has_the_median_and_the_slowest_step_and_the_communication_of_the_median)
{
	struct making k;

	begin(&k);
	ROWS(&k, 1, step, STEP_ROW(1000, 4000, 0, KIND, 0, STEP_WARMUP), STEP_ROW(10000, 2000, 1, KIND, 1, 0),
	     STEP_ROW(20000, 3000, 2, KIND, 1, 0), STEP_ROW(30000, 9000, 3, KIND, 1, 0), STEP_ROW(40000, 1000, 4, KIND, 1, STEP_INCOMPLETE));
	ROWS(&k, 1, kernel, RUN(19000, 2000, KERNEL), RUN(20500, 2000, NCCL));
	check_page(&k, "3 of kind train (and 1 not recorded, 1 incomplete), median 3.00 us, slowest #3 at 9.00 us: GPU idle +8.50 us",
		   "", "2.00 us (67 % of median step #2); exposed (no compute runs): 1.50 us, 75 % of comm");
}

TEST(one_step_is_no_median_and_none_that_is_complete_is_said)
{
	struct making k;

	begin(&k);
	ROWS(&k, 1, step, STEP_ROW(1000, 4000, 7, 0, 1, 0));
	ROWS(&k, 1, kernel, RUN(1000, 2000, NCCL), RUN(500, 8000, KERNEL));
	check_page(&k, "1, #7 at 4.00 us (details: report -r steps)", "", "2.00 us (50 % of step #7); none exposed");
	begin(&k);
	ROWS(&k, 1, step, STEP_ROW(1000, 4000, 0, 0, 1, STEP_INCOMPLETE), STEP_ROW(9000, 4000, 1, 0, 1, STEP_INCOMPLETE));
	check_page(&k, "none complete, 2 incomplete (details: report -r steps)", "", "");
}

TEST(without_steps_communication_is_of_the_span_of_the_gpu)
{
	struct making k;

	begin(&k);
	ROWS(&k, 1, kernel, RUN(1000, 1000, KERNEL), RUN(5000, 500, NCCL), RUN(5100, 900, KERNEL));
	ROWS(&k, 2, kernel, RUN(1000, 3000, KERNEL), RUN(3000, 4000, NCCL), RUN(8000, 1000, KERNEL));
	check_page(&k, "", "", "4.00 us (50 % of the GPU's span of 8.00 us of process 2); exposed (no compute runs): 3.00 us, 75 % of comm");
}

TEST(nothing_is_said_of_communication_where_there_is_none_or_a_graph_hides_it)
{
	struct making k;

	begin(&k);
	ROWS(&k, 1, kernel, RUN(1000, 1000, KERNEL));
	check_page(&k, "", "", "");
	begin(&k);
	ROWS(&k, 1, kernel, RUN(1000, 1000, NCCL));
	ROWS(&k, 1, graph, { T0 + 6000, 300, 20, 0, 1, 7, 5, 0 });
	check_page(&k, "", "", "");
}

/* The line of a trace whose schedule is `schedule`, with these steps in each of so many processes. */
static void check_first_window(uint32_t processes, const char *schedule, uint32_t flags, uint32_t first_window, const char *want)
{
	struct making k;
	struct model *m;
	struct step_view v;
	char text[320];

	begin(&k);
	make_attribute(&k, 0, schedule);
	for (uint32_t process = 1; process <= processes; process++) {
		ROWS(&k, process, window, { T0 + 1000, 8000, 1, 0, 0, 4, 0, 0 });
		ROWS(&k, process, step, STEP_ROW(500, 1000, 3, 0, first_window, flags | STEP_AUTO | (first_window ? STEP_INCOMPLETE : 0)),
		     STEP_ROW(2000, 1000, 4, 0, 1, STEP_AUTO), STEP_ROW(3000, 1000, 5, 0, 1, STEP_AUTO));
	}
	m = make_model(&k);
	CHECK_EQ(step_view_begin(&v, m), 0);
	CHECK_EQ(first_window_line(&v, text, sizeof text), 0);
	CHECK_STR(text, want);
	step_view_end(&v);
	model_close(m);
	unmake(&k);
}

#define WHY_LATE "launches that repeat are recognised late. To record all, use a longer wait or --step nvtx:GLOB"

TEST(a_first_window_that_began_too_late_for_all_its_steps_says_why)
{
	check_first_window(1, "setting.schedule=wait=3,active=3", 0, 1, "2 of the 3 steps in window 1 are complete: " WHY_LATE);
	check_first_window(1, "setting.schedule=skip_first=1,wait=2,active=3", 0, 0, "2 of the 3 steps in window 1 are complete: " WHY_LATE);
	check_first_window(2, "setting.schedule=wait=3,active=3", 0, 1, "window 1 of 2 processes has less than 3 complete steps: " WHY_LATE);
	check_first_window(1, "setting.schedule=wait=3,warmup=1,active=3", STEP_WARMUP, 0, "");    /* cut short at its end */
	check_first_window(1, "setting.schedule=wait=3,active=2", 0, 1, "");
	check_first_window(1, "setting.delay_ms=5", 0, 1, "");
}
