/* Assignment of rows to steps, on hand-written rows. */
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include "cli/model/names.h"
#include "cli/model/steps/steps.h"
#include "trace/error.h"

#include <stdlib.h>
#include <string.h>

#define PUSHED(n) (1ull << 40 | (n))

enum { LAUNCH = 1, KERNEL, NCCL, COPY, STEP, TRAIN, VAL, ANCHOR };

static void begin(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, T0 + 100000, 1, 100, 100, 1, 0,
		PROCESS_CONNECTED | PROCESS_CUDA | PROCESS_CUPTI | PROCESS_KERNELS });
	make_string(k, 1, LAUNCH, "cudaLaunchKernel_v7000");
	make_string(k, 1, KERNEL, "_Z6vecaddPfS_i");
	make_string(k, 1, NCCL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	make_string(k, 1, COPY, "cudaMemcpyAsync_v3020");
	make_string(k, 1, STEP, "one step");
	make_string(k, 1, TRAIN, "train");
	make_string(k, 1, VAL, "val");
	make_thread(k, 1, 1, 100, "main");
}

/* The steps of rows as text: "0 0 - 1". */
static void check_rows(struct model *m, unsigned record, size_t kind, const char *want)
{
	int32_t *of = model_row_steps(m, record, kind);
	char got[200];
	size_t n = 0;

	got[0] = '\0';
	for (size_t i = 0; of && i < model_rows(m, record); i++)
		n += of[i] < 0 ? (size_t)snprintf(got + n, sizeof got - n, "%s-", i ? " " : "")
			       : (size_t)snprintf(got + n, sizeof got - n, "%s%u", i ? " " : "",
						  model_steps(m)->list[of[i]].number);
	CHECK_STR(got, want);
	free(of);
}

#define CALL(at, corr, thread) { T0 + (at), 10, 0, (corr), (thread), LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 }
#define RUN(at, length, corr, name) { (at) ? T0 + (at) : 0, (length), 0, (corr), (name), 0, 1, 7, 1, 0, 0 }
/* A step: start, duration, number, thread, first and end of the correlation ids, flags. */
#define STEP_ROW(at, length, number, thread, first, last, flags) \
	     { T0 + (at), (length), 0, (number), 0, STEP, 0, (thread), 1, (first), (last), 100, (flags) }

TEST(calls_and_gpu_rows_are_given_to_steps_by_correlation_id_also_where_ids_begin_anew)
{
	struct making k;
	struct model *m;

	begin(&k);
	ROWS(&k, 1, step, STEP_ROW(1000, 1000, 0, 1, 0xfffffffe, 2, 0), STEP_ROW(3000, 1000, 1, 1, 4, 0, 0));
	/* The third is of step 0 by its id, though the clock says later; between two steps there is none. */
	ROWS(&k, 1, api, CALL(900, 0xfffffffd, 1), CALL(1100, 0xfffffffe, 1), CALL(2100, 1, 2), CALL(2500, 2, 1),
		CALL(3000, 4, 1),
	     CALL(9000, 5, 1));
	ROWS(&k, 1, kernel, RUN(5000, 10, 0xfffffffd, KERNEL), RUN(5100, 10, 0xfffffffe, KERNEL),
		RUN(1500, 10, 4, KERNEL),
	     RUN(5200, 10, 0xffffffff, KERNEL), RUN(0, 0, 1, KERNEL), RUN(5300, 10, 3, KERNEL));
	m = make_model(&k);
	check_rows(m, ROW_api, 0, "- 0 0 - 1 1");
	/* The fourth has no call in the trace: its id alone says it. */
	check_rows(m, ROW_kernel, 0, "- 0 1 0 0 -");
	unmake_model(&k, m);
}

TEST(calls_of_an_imported_trace_go_by_their_start_since_ids_may_be_in_any_order)
{
	struct making k;
	struct model *m;

	begin(&k);
	make_attribute(&k, 1, "imported=torch.profiler");
	ROWS(&k, 1, step, STEP_ROW(1000, 1000, 0, 1, 1, 3, 0), STEP_ROW(2000, 1000, 1, 1, 3, 10000, 0));
	ROWS(&k, 1, api, CALL(1100, 1, 1), CALL(1900, 9000, 1), CALL(2100, 3, 1), CALL(2900, 9001, 1));
	ROWS(&k, 1, kernel, RUN(5000, 10, 9000, KERNEL), RUN(5100, 10, 3, KERNEL));
	m = make_model(&k);
	check_rows(m, ROW_api, 0, "0 0 1 1");
	check_rows(m, ROW_kernel, 0, "0 1");
	CHECK_EQ(model_select(m, &(struct selection){ .steps = true, .first = 0, .last = 0 }), 0);
	check_rows(m, ROW_api, 0, "0 0");
	unmake_model(&k, m);
}

TEST(what_has_no_correlation_id_is_given_to_steps_by_its_start)
{
	struct making k;
	struct model *m;

	begin(&k);
	ROWS(&k, 1, step, STEP_ROW(1000, 1000, 0, 1, 5, 8, 0), STEP_ROW(2000, 1000, 1, 1, 8, 9, 0));
	ROWS(&k, 1, range, { T0 + 999, 5, PUSHED(1), 0, 1, 1, 0, 0, TRAIN, 0, 0, 0, 0, -1 },
	     { T0 + 1000, 5000, PUSHED(2), 0, 1, 1, 0, 0, TRAIN, 0, 0, 0, 0, -1 },
	     { T0 + 2000, 5, PUSHED(3), 0, 1, 1, 0, 0, TRAIN, 0, 0, 0, 0, -1 },
	     { T0 + 3000, 5, PUSHED(4), 0, 1, 1, 0, 0, TRAIN, 0, 0, 0, 0, -1 });
	ROWS(&k, 1, mark, { T0 + 1999, 0, 0, 2, 0, 0, VAL, 0, 0 });
	m = make_model(&k);
	check_rows(m, ROW_range, 0, "- 0 1 -");
	check_rows(m, ROW_mark, 0, "0");
	unmake_model(&k, m);
}

TEST(steps_of_one_kind_side_by_side_take_the_calls_of_their_own_threads)
{
	struct making k;
	struct model *m;

	begin(&k);
	ROWS(&k, 1, step, STEP_ROW(1000, 1000, 0, 1, 10, 20, 0), STEP_ROW(1500, 1000, 1, 2, 12, 30, 0),
		STEP_ROW(5000, 10, 2, 1, 40, 50, 0));
	ROWS(&k, 1, api, CALL(1100, 11, 1), CALL(1600, 13, 2), CALL(1700, 14, 1), CALL(1800, 15, 3), CALL(2100, 25, 2),
		CALL(5001, 41, 3));
	ROWS(&k, 1, kernel, RUN(9000, 10, 13, KERNEL), RUN(9100, 10, 14, KERNEL), RUN(9200, 10, 15, KERNEL),
		RUN(9300, 10, 16, KERNEL),
	     RUN(9400, 10, 41, KERNEL));
	m = make_model(&k);
	check_rows(m, ROW_api, 0, "0 1 0 - 1 2");
	check_rows(m, ROW_kernel, 0, "1 0 - - 2");
	unmake_model(&k, m);
}

TEST(steps_of_several_kinds_do_not_disturb_each_other)
{
	struct making k;
	struct model *m;
	const struct steps *s;

	begin(&k);
	ROWS(&k, 1, step, { T0 + 1000, 4000, 0, 0, TRAIN, STEP, 0, 1, 1, 10, 20, 100, 0 },
	     { T0 + 2000, 100, 0, 0, VAL, STEP, 0, 1, 1, 12, 14, 100, 0 },
	     { T0 + 3000, 100, 0, 1, VAL, STEP, 0, 1, 1, 15, 16, 100, 0 });
	ROWS(&k, 1, api, CALL(1100, 11, 1), CALL(2001, 12, 1), CALL(2010, 13, 1), CALL(2500, 14, 1), CALL(3001, 15, 1));
	m = make_model(&k);
	s = model_steps(m);
	CHECK_EQ(s->n_kinds, 2);
	CHECK_STR(model_string(m, s->kinds[0].name), "train");
	CHECK_EQ(s->kinds[1].n, 2);
	check_rows(m, ROW_api, 0, "0 0 0 0 0");
	check_rows(m, ROW_api, 1, "- 0 0 - 1");
	unmake_model(&k, m);
}

TEST(ranges_with_well_known_names_are_steps_and_the_surest_names_win)
{
	struct making k;
	struct model *m;
	const struct steps *s;

	begin(&k);
	make_string(&k, 1, 20, "ProfilerStep#7");
	make_string(&k, 1, 21, "ProfilerStep#8");
	make_string(&k, 1, 22, "batch 0");
	make_string(&k, 1, 23, "Optimizer.step#SGD.step");
	ROWS(&k, 1, range, { T0 + 1000, 1000, PUSHED(1), 0, 1, 1, 0, 0, 20, 0, 0, 0, 0, -1 },
	     { T0 + 1100, 100, PUSHED(2), 0, 1, 1, 0, 0, 22, 0, 0, 1, 0, -1 },
	     { T0 + 1300, 100, PUSHED(3), 0, 1, 1, 0, 0, 23, 0, 0, 1, 0, -1 },
	     { T0 + 1400, 100, PUSHED(4), 0, 1, 1, 0, 0, 20, 0, 0, 1, 0, -1 },
	     { T0 + 2000, 500, PUSHED(5), 0, 1, 1, 0, 0, 21, 0, 0, 0, RANGE_INCOMPLETE, -1 });
	ROWS(&k, 1, api, CALL(999, 1, 1), CALL(1000, 2, 1), CALL(1999, 3, 2), CALL(2000, 4, 1), CALL(2600, 5, 1));
	/* 30: no call of it is there, but its id lies between those of step 0. */
	ROWS(&k, 1, kernel, RUN(3000, 10, 1, KERNEL), RUN(3100, 10, 3, KERNEL), RUN(3200, 10, 4, KERNEL),
		RUN(3300, 10, 5, KERNEL));
	m = make_model(&k);
	s = model_steps(m);
	CHECK_EQ(s->source, STEPS_RANGES);
	CHECK_EQ(s->n, 2);
	CHECK_EQ(s->kinds[0].name, STRING_NONE);
	CHECK_STR(model_string(m, s->list[1].name), "ProfilerStep#8");
	CHECK_EQ(s->list[1].number, 1);
	CHECK_EQ(s->list[1].flags, STEP_INCOMPLETE);
	check_rows(m, ROW_api, 0, "- 0 0 1 -");
	check_rows(m, ROW_kernel, 0, "- 0 1 -");
	check_rows(m, ROW_range, 0, "0 0 0 0 1");
	unmake_model(&k, m);
}

/* Steps of a profiler, 1000 long; letters: s with an Optimizer.step, - without. */
static size_t profiler_steps(const char *letters)
{
	struct making k;
	struct model *m;
	size_t n;

	begin(&k);
	make_string(&k, 1, 20, "ProfilerStep#7");
	make_string(&k, 1, 23, "Optimizer.step#SGD.step");
	for (int i = 0; letters[i]; i++) {
		ROWS(&k, 1, range, { T0 + 1000 * i, 1000, PUSHED(2 * i + 1), 0, 1, 1, 0, 0, 20, 0, 0, 0, 0, -1 });
		if (letters[i] == 's')
			ROWS(&k, 1, range, { T0 + 1000 * i + 100, 100, PUSHED(2 * i + 2), 0, 1, 1, 0, 0, 23, 0, 0, 1, 0, -1 });
	}
	m = make_model(&k);
	n = model_steps(m)->n;
	unmake_model(&k, m);
	return n;
}

TEST(what_the_last_step_of_a_profiler_begins_is_no_step)
{
	CHECK_EQ(profiler_steps("sss-"), 3);
	CHECK_EQ(profiler_steps("ssss"), 4);
	CHECK_EQ(profiler_steps("ss--"), 4);    /* an evaluation */
	CHECK_EQ(profiler_steps("----"), 4);
	CHECK_EQ(profiler_steps("-"), 1);
}

TEST(ranges_of_several_series_are_kinds)
{
	struct making k;
	struct model *m;
	const struct steps *s;

	begin(&k);
	make_string(&k, 1, 20, "train_step_1");
	make_string(&k, 1, 21, "val_step_1");
	make_string(&k, 1, 22, "train_step_2");
	ROWS(&k, 1, range, { T0 + 1000, 100, PUSHED(1), 0, 1, 1, 0, 0, 20, 0, 0, 0, 0, -1 },
	     { T0 + 2000, 100, PUSHED(2), 0, 1, 1, 0, 0, 21, 0, 0, 0, 0, -1 },
	     { T0 + 3000, 100, PUSHED(3), 0, 1, 1, 0, 0, 22, 0, 0, 0, 0, -1 });
	m = make_model(&k);
	s = model_steps(m);
	CHECK_EQ(s->n_kinds, 2);
	CHECK_STR(model_string(m, s->kinds[0].name), "train_step");
	CHECK_EQ(s->kinds[0].n, 2);
	CHECK_STR(model_string(m, s->kinds[1].name), "val_step");
	unmake_model(&k, m);
}

TEST(a_mark_ends_the_step_before_and_the_last_one_is_incomplete)
{
	struct making k;
	struct model *m;
	const struct steps *s;

	begin(&k);
	make_string(&k, 1, 20, "step 0");
	make_string(&k, 1, 21, "step 1");
	ROWS(&k, 1, mark, { T0 + 1000, 0, 0, 1, 0, 0, 20, 0, 0 }, { T0 + 1500, 0, 0, 1, 0, 0, VAL, 0, 0 },
	     { T0 + 3000, 0, 0, 1, 0, 0, 21, 0, 0 });
	m = make_model(&k);
	s = model_steps(m);
	CHECK_EQ(s->source, STEPS_MARKS);
	CHECK_EQ(s->n, 2);
	CHECK_EQ(s->list[0].end, T0 + 3000);
	CHECK_EQ(s->list[0].flags, STEP_LOOSE);
	CHECK_EQ(s->list[1].end, T0 + 100000);
	CHECK_EQ(s->list[1].flags, STEP_LOOSE | STEP_INCOMPLETE);
	unmake_model(&k, m);
}

TEST(where_the_user_said_what_steps_are_none_are_guessed)
{
	struct making k;
	struct model *m;

	begin(&k);
	make_attribute(&k, 0, "setting.steps=nvtx:never");
	make_string(&k, 1, 20, "step 0");
	ROWS(&k, 1, range, { T0 + 1000, 100, PUSHED(1), 0, 1, 1, 0, 0, 20, 0, 0, 0, 0, -1 });
	m = make_model(&k);
	CHECK_EQ(model_steps(m)->n, 0);
	CHECK(model_steps(m)->asked);
	unmake_model(&k, m);
}

TEST(steps_that_were_known_before_their_window_began_were_not_recorded)
{
	struct making k;
	struct model *m;
	const struct step *s;

	begin(&k);
	ROWS(&k, 1, window, { T0 + 1800, 2200, 1, 14, 20, 4, 0, 0 });
	ROWS(&k, 1, step, { T0 + 1000, 500, 0, 0, 0, STEP, 0, 1, 1, 10, 12, 60, STEP_AUTO },
	     { T0 + 1500, 500, 0, 1, 0, STEP, 0, 1, 1, 12, 16, 60, STEP_AUTO },
	     { T0 + 2000, 500, 0, 2, 0, STEP, 0, 1, 1, 16, 18, 60, STEP_AUTO });
	m = make_model(&k);
	s = model_steps(m)->list;
	CHECK_EQ(s[0].window, 0);
	CHECK(!step_was_kept(model_steps(m), &s[0]));
	CHECK_EQ(s[1].window, 1);
	CHECK_EQ(s[1].flags, STEP_AUTO | STEP_INCOMPLETE);
	CHECK_EQ(s[2].window, 1);
	CHECK_EQ(s[2].flags, STEP_AUTO);
	unmake_model(&k, m);
}

/* ---- a part only ---- */

static void two_windows(struct making *k)
{
	begin(k);
	ROWS(k, 1, window, { T0 + 1000, 1000, 1, 10, 14, 4, 0, 0 },
		{ T0 + 5000, 1000, 2, 20, 22, 4, 0, WINDOW_INCOMPLETE });
	ROWS(k, 1, step, { T0 + 900, 100, 0, 0, 0, STEP, 0, 1, 0, 9, 10, 100, STEP_WARMUP },
	     { T0 + 1000, 500, 0, 1, 0, STEP, 0, 1, 1, 10, 12, 100, 0 },
	     { T0 + 1500, 500, 0, 2, 0, STEP, 0, 1, 1, 12, 14, 100, 0 },
	     { T0 + 5000, 1000, 0, 3, 0, STEP, 0, 1, 2, 20, 22, 100, STEP_INCOMPLETE });
	ROWS(k, 1, api, CALL(1000, 10, 1), CALL(1100, 11, 1), CALL(1500, 12, 1), CALL(1600, 13, 1), CALL(5000, 20, 1));
	/* In two chunks, so that a chunk's rows are all, some and none of what is asked for. */
	ROWS(k, 1, kernel, RUN(2000, 100, 10, KERNEL), RUN(2050, 100, 11, NCCL), RUN(2200, 100, 12, KERNEL));
	ROWS(k, 1, kernel, RUN(6000, 1000, 20, KERNEL), RUN(2400, 300, 13, KERNEL));
}

static void check_selected(const struct selection *s, size_t calls, size_t kernels, const char *sum)
{
	struct making k;
	struct model *m;
	char *got;

	two_windows(&k);
	m = make_model(&k);
	CHECK_EQ(model_select(m, s), 0);
	CHECK_EQ(model_rows(m, ROW_api), calls);
	CHECK_EQ(model_rows(m, ROW_kernel), kernels);
	CHECK_EQ(model_process_rows(m, ROW_kernel, 1), kernels);
	got = report_text(m, "cuda_gpu_kern_sum:mangled", TABLE_CSV, NULL, 0);
	CHECK_STR(strchr(got, '\n') + 1, sum);
	free(got);
	unmake_model(&k, m);
}

TEST(a_model_of_some_steps_has_their_rows_alone)
{
	check_selected(&(struct selection){ .steps = true, .first = 1, .last = 1 }, 2, 2,
		"50.0,100,1,100.0,100.0,100,100,0.0,_Z6vecaddPfS_i\n50.0,100,1,100.0,100.0,100,100,0.0,ncclDevKernel_AllReduce_Sum_f32_RING_LL\n");
	check_selected(&(struct selection){ .steps = true, .first = 2, .last = 9 }, 3, 3,
		"100.0,1400,3,466.7,300.0,100,1000,472.6,_Z6vecaddPfS_i\n");
}

TEST(a_model_of_a_window_has_its_rows_alone)
{
	check_selected(&(struct selection){ .window = 2 }, 1, 1,
		"100.0,1000,1,1000.0,1000.0,1000,1000,0.0,_Z6vecaddPfS_i\n");
	check_selected(&(struct selection){ .steps = true, .first = 2, .last = 9, .window = 1 }, 2, 2,
		"100.0,400,2,200.0,200.0,100,300,141.4,_Z6vecaddPfS_i\n");
}

TEST(imported_events_stay_with_the_rows_that_they_became)
{
	struct making k;
	struct model *m;

	two_windows(&k);
	for (uint32_t i = 0; i < 11; i++)
		ROWS(&k, 1, imported, { .index = i, .kind = i < 5 ? ROW_kernel : i < 10 ? ROW_api : ROW_none });
	ROWS(&k, 1, imported_arg, { .index = 3, .key = STEP }, { .index = 9, .key = STEP });
	m = make_model(&k);
	/* Of window 2 are the fourth kernel and the fifth call. */
	CHECK_EQ(model_select(m, &(struct selection){ .window = 2 }), 0);
	CHECK_EQ(model_rows(m, ROW_imported), 2);
	CHECK_EQ(MODEL_U64(m, imported, index)[0], 3);
	CHECK_EQ(MODEL_U64(m, imported, index)[1], 9);
	CHECK_EQ(model_rows(m, ROW_imported_arg), 2);
	unmake_model(&k, m);
}

/* ---- reports ---- */

#define HEAD "step,kind,name,window,process,start_ns,wall_ns,gpu_busy_ns,gpu_idle_ns,compute_ns,comm_ns,comm_exposed_ns,memcpy_ns," \
	"memset_ns,launched_start_ns,launched_end_ns,launched_busy_ns,api_ns,launches,kernels,warmup,complete\n"

static void check_report(struct model *m, const char *name, enum table_format format, const char *want)
{
	char *got = report_text(m, name, format, NULL, 0);

	CHECK_STR(got, want);
	free(got);
}

/* What steps 1 to 3 launched runs when none of them does: their GPU is idle, and known to be. */
TEST(the_report_of_steps_has_what_ran_inside_and_what_was_launched)
{
	struct making k;
	struct model *m;

	two_windows(&k);
	m = make_model(&k);
	check_report(m, "steps", TABLE_CSV, HEAD
		"1,,one step,1,1,1000,500,0,500,0,0,0,0,0,2000,2150,150,20,2,2,0,1\n"
		"2,,one step,1,1,1500,500,0,500,0,0,0,0,0,2200,2700,400,20,2,2,0,1\n"
		"3,,one step,2,1,5000,1000,0,1000,0,0,0,0,0,6000,7000,1000,10,1,1,0,0\n");
	/* Of the warm-up no row was kept: that is not known, not 0. */
	check_report(m, "steps:all", TABLE_CSV, HEAD
		"0,,one step,,1,900,100,,,,,,,,,,,,,,1,1\n"
		"1,,one step,1,1,1000,500,0,500,0,0,0,0,0,2000,2150,150,20,2,2,0,1\n"
		"2,,one step,1,1,1500,500,0,500,0,0,0,0,0,2200,2700,400,20,2,2,0,1\n"
		"3,,one step,2,1,5000,1000,0,1000,0,0,0,0,0,6000,7000,1000,10,1,1,0,0\n");
	check_report(m, "windows", TABLE_CSV,
		"window,cause,name,process,start_ns,duration_ns,steps,kernels,api_calls,complete\n"
		"1,schedule,,1,1000,1000,2,4,4,1\n"
		"2,schedule,,1,5000,1000,1,1,1,0\n");
	unmake_model(&k, m);
}

TEST(copies_sets_and_whole_graphs_have_their_part_of_a_step)
{
	struct making k;
	struct model *m;

	begin(&k);
	ROWS(&k, 1, step, STEP_ROW(1000, 1000, 0, 1, 10, 20, 0), STEP_ROW(2000, 1000, 1, 1, 20, 30, 0),
		STEP_ROW(3000, 1000, 2, 1, 0, 0, 0), STEP_ROW(5000, 1000, 3, 1, 0, 0, 0), STEP_ROW(6100, 1000, 4, 1, 0, 0, 0));
	ROWS(&k, 1, api, CALL(1000, 10, 1), CALL(1100, 11, 1), CALL(2000, 20, 1));
	ROWS(&k, 1, kernel, RUN(5000, 100, 10, KERNEL), RUN(0, 0, 10, KERNEL));
	/* Two copies that overlap each other and the kernel. */
	ROWS(&k, 1, memcpy, { T0 + 5050, 100, 64, 0, 11, 0, 1, 7, 1, 1, 3, 0, 0, 0, 0, 1 },
	     { T0 + 5100, 100, 64, 0, 11, 0, 1, 8, 1, 1, 3, 0, 0, 0, 0, 1 });
	ROWS(&k, 1, memset, { T0 + 5300, 50, 64, 0, 11, 0, 1, 7, 0, 3, 0, 0 });
	ROWS(&k, 1, graph, { T0 + 6000, 300, 20, 0, 1, 7, 5, 0 });
	m = make_model(&k);
	/*
	 * Of what ran in the graph nothing is known but when, so what step 1 launched and what step 4 computed is unknown.
	 * Step 2 launched nothing, which is known.
	 */
	check_report(m, "steps", TABLE_CSV, HEAD
		"0,,one step,1,1,1000,1000,0,1000,0,0,0,0,0,5000,5350,250,20,2,2,0,1\n"
		"1,,one step,1,1,2000,1000,0,1000,0,0,0,0,0,6000,6300,300,10,1,,0,1\n"
		"2,,one step,1,1,3000,1000,0,1000,0,0,0,0,0,,,,0,0,0,0,1\n"
		"3,,one step,1,1,5000,1000,250,750,100,0,0,150,50,,,,0,0,0,0,1\n"
		"4,,one step,1,1,6100,1000,200,800,,,,,,,,,0,0,0,0,1\n");
	unmake_model(&k, m);
}

/* A step's kernel runs into the next one, beside a collective of the one before. */
static void crossing(struct making *k)
{
	begin(k);
	ROWS(k, 1, step, STEP_ROW(1000, 1000, 0, 1, 10, 20, 0), STEP_ROW(2000, 1000, 1, 1, 20, 30, 0),
		STEP_ROW(3000, 1000, 2, 1, 30, 40, 0));
	ROWS(k, 1, api, CALL(1000, 10, 1), CALL(1100, 11, 1), CALL(2000, 20, 1));
	ROWS(k, 1, kernel, RUN(1500, 800, 10, KERNEL), RUN(2200, 1000, 11, NCCL), RUN(2600, 100, 20, KERNEL));
	ROWS(k, 1, memcpy, { T0 + 2900, 300, 64, 0, 20, 0, 1, 7, 1, 1, 3, 0, 0, 0, 0, 1 });
}

#define CROSSING_1 "1,,one step,1,1,2000,1000,1000,0,400,800,600,100,0,2600,3200,400,10,1,1,0,1\n"

TEST(gpu_time_of_a_step_is_of_what_runs_in_it_whatever_launched_it)
{
	struct making k;
	struct model *m;

	crossing(&k);
	m = make_model(&k);
	check_report(m, "steps", TABLE_CSV, HEAD
		"0,,one step,1,1,1000,1000,500,500,500,0,0,0,0,1500,3200,1700,20,2,2,0,1\n"
		CROSSING_1
		"2,,one step,1,1,3000,1000,200,800,0,200,200,200,0,,,,0,0,0,0,1\n");
	unmake_model(&k, m);
}

TEST(a_step_that_is_selected_has_the_numbers_that_it_has_among_all)
{
	struct making k;
	struct model *m;

	for (uint32_t step = 1; step < 3; step++) {
		crossing(&k);
		m = make_model(&k);
		CHECK_EQ(model_select(m, &(struct selection){ .steps = true, .first = step, .last = step }), 0);
		check_report(m, "steps", TABLE_CSV, step == 1 ? HEAD CROSSING_1
			: HEAD "2,,one step,1,1,3000,1000,200,800,0,200,200,200,0,,,,0,0,0,0,1\n");
		unmake_model(&k, m);
	}
}

TEST(without_gpu_rows_the_gpu_columns_of_steps_are_unknown)
{
	struct making k;
	struct model *m;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, T0 + 100000, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_NVTX });
	make_string(&k, 1, 20, "step 0");
	ROWS(&k, 1, range, { T0 + 1000, 100, PUSHED(1), 0, 1, 1, 0, 0, 20, 0, 0, 0, 0, -1 });
	m = make_model(&k);
	check_report(m, "steps", TABLE_CSV, HEAD "0,,step 0,1,1,1000,100,,,,,,,,,,,,,,0,1\n");
	check_report(m, "windows", TABLE_CSV,
		"window,cause,name,process,start_ns,duration_ns,steps,kernels,api_calls,complete\n"
		"1,program,,1,1,99999,1,0,0,0\n");
	unmake_model(&k, m);
}

TEST(the_table_of_steps_sums_up_without_warm_up_and_names_outliers_with_their_cause)
{
	struct making k;
	struct model *m;
	char *got;

	begin(&k);
	/*
	 * 20 steps of 10 ms, of which the GPU computes 8; step 7 takes 30 ms, because its kernel does; 12 waits for the
	 * host.
	 */
	for (uint32_t i = 0; i < 20; i++) {
		int64_t at = 1000000000ll + i * 100000000ll, wall = 10000000 + i % 3 * 1000;

		if (i == 7 || i == 12)
			wall = 30000000;
		ROWS(&k, 1, step, { T0 + at, wall, 0, i, 0, STEP, 0, 1, !!i, i + 1, i + 2, 100, i ? 0 : STEP_WARMUP });
		ROWS(&k, 1, api, CALL(at, i + 1, 1));
		ROWS(&k, 1, kernel, RUN(at + 1000000, i == 7 ? 28000000 : 8000000, i + 1, KERNEL));
	}
	m = make_model(&k);
	got = report_text(m, "steps", TABLE_TEXT, NULL, 0);
	CHECK(strstr(got, "19 steps (excluded: 1 warm-up, 0 incomplete)\n") != NULL);
	CHECK(strstr(got, "  wall                     12.1 ms    10.0 ms    30.0 ms    30.0 ms\n") != NULL);
	CHECK(strstr(got, "  compute                  9.05 ms    8.00 ms    28.0 ms    28.0 ms\n") != NULL);
	CHECK(strstr(got, "2 of 19 steps are outliers (") != NULL);
	CHECK(strstr(got, "step 7 (one step): 30.0 ms, 20.0 ms above the median of 10.0 ms; compute is 20.0 ms above its median; "
			    "see -r cuda_gpu_kern_sum --step 7\n"));
	CHECK(strstr(got, "step 12 (one step): 30.0 ms, 20.0 ms above the median of 10.0 ms; gpu_idle is 20.0 ms above its median; "
			    "see -r critical_path --step 12\n"));
	free(got);
	unmake_model(&k, m);
}

TEST(steps_that_nothing_marks_are_found_by_what_is_launched)
{
	enum { STEPS = 40, LAUNCHES = 12 };
	struct making k;
	struct model *m;
	const struct steps *s;
	uint32_t corr = 1;

	begin(&k);
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		char name[8];

		snprintf(name, sizeof name, "k%u", i);
		make_string(&k, 1, 30 + i, name);
	}
	/* Something else first; then the loop, whose launches wait for the host at its begin, and end with a wait. */
	ROWS(&k, 1, api, CALL(500, 1, 1));
	ROWS(&k, 1, kernel, RUN(600, 10, 1, KERNEL));
	for (uint32_t step = 0; step < STEPS; step++)
		for (uint32_t i = 0; i < LAUNCHES; i++) {
			int64_t at = 10000 + step * 100000 + i * 1000 + (i ? 5000 : 0);

			ROWS(&k, 1, api, CALL(at, ++corr, 1));
			ROWS(&k, 1, kernel, RUN(at + 20000, 500, corr, 30 + i));
		}
	m = make_model(&k);
	s = model_steps(m);
	CHECK_EQ(s->source, STEPS_LAUNCHES);
	CHECK_EQ(s->n_kinds, 1);
	CHECK_EQ(s->n, STEPS);
	for (uint32_t i = 0; i < s->n; i++) {
		CHECK_EQ(s->list[i].start, T0 + 10000 + i * 100000);
		CHECK_EQ(s->list[i].number, i);
		CHECK_EQ(s->list[i].flags, STEP_AUTO | STEP_LATE | (i + 1 < s->n ? 0 : STEP_INCOMPLETE));
		CHECK(s->list[i].confidence > 50 && s->list[i].confidence <= 100);
	}
	CHECK_EQ(s->list[0].end, s->list[1].start);
	unmake_model(&k, m);
}

TEST(launches_that_do_not_repeat_are_no_steps)
{
	struct making k;
	struct model *m;

	begin(&k);
	for (uint32_t i = 0; i < 300; i++) {
		char name[8];

		snprintf(name, sizeof name, "k%u", i);
		make_string(&k, 1, 30 + i, name);
		ROWS(&k, 1, api, CALL(1000 * (i + 1), i + 1, 1));
		ROWS(&k, 1, kernel, RUN(1000 * (i + 1) + 500, 10, i + 1, 30 + i));
	}
	m = make_model(&k);
	CHECK_EQ(model_steps(m)->n, 0);
	CHECK_EQ(model_steps(m)->n_kinds, 0);
	CHECK_EQ(model_steps(m)->source, STEPS_NONE);
	unmake_model(&k, m);
}
