/* The GPU span and its busy and idle times, as docs/reference/numbers.md defines them. */
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include "cli/model/gpu/gpu.h"
#include "cli/model/gpu/gpu_span.h"
#include "cli/model/steps/steps.h"

#include <stdio.h>
#include <stdlib.h>

enum { LAUNCH = 1, COMPUTE, NCCL, STEP };

#define CALL(at, corr)              { T0 + (at), 10, 0, (corr), 1, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 }
#define RUN(at, length, corr, name) { T0 + (at), length, 0, corr, name, 0, 1, 7, 0, 0, 0 }
#define WHOLE 2                     /* number of the process that has no windows */

/*
 * Process 1, in two windows of a step each: the first step's second kernel runs on into the second step, beside its own.
 * Process 2 has no window, and works between them.
 */
static struct model *open_both(struct making *k)
{
	struct model *m;

	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, T0 + 100000, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_CUDA },
	     { T0 + 1, T0 + 100000, WHOLE, 200, 200, 1, 0, PROCESS_CONNECTED | PROCESS_CUDA });
	for (uint32_t p = 1; p <= WHOLE; p++) {
		make_string(k, p, LAUNCH, "cudaLaunchKernel_v7000");
		make_string(k, p, COMPUTE, "_Z6vecaddPfS_i");
		make_string(k, p, NCCL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
		make_string(k, p, STEP, "one step");
		make_thread(k, p, 1, 100 * p, "main");
		ROWS(k, p, device, { .id = 0, .uuid_high = 5, .uuid_low = 6 });
	}
	ROWS(k, 1, window, { T0 + 1000, 1000, 1, 10, 12, 4, 0, 0 }, { T0 + 5000, 1000, 2, 20, 22, 4, 0, 0 });
	ROWS(k, 1, step, { T0 + 1000, 1000, 0, 1, 0, STEP, 0, 1, 1, 10, 12, 100, 0 },
	     { T0 + 5000, 1000, 0, 2, 0, STEP, 0, 1, 2, 20, 22, 100, 0 });
	ROWS(k, 1, api, CALL(1000, 10), CALL(1100, 11), CALL(5000, 20), CALL(5100, 21));
	ROWS(k, 1, kernel, RUN(1200, 100, 10, COMPUTE), RUN(1250, 200, 11, NCCL), RUN(5300, 500, 20, NCCL));
	ROWS(k, 1, kernel, RUN(5600, 600, 21, COMPUTE), { 0, 0, 0, 21, COMPUTE, 0, 1, 7, 0, 0, 0 });
	ROWS(k, 1, memcpy, { .start = T0 + 1600, .duration = 3500, .corr = 11 });
	ROWS(k, WHOLE, kernel, RUN(3000, 400, 1, COMPUTE), RUN(4000, 100, 2, COMPUTE));
	make_end(k);
	m = model_open(k->path, NULL);
	CHECK(m != NULL);
	return m;
}

static void end(struct making *k, struct model *m)
{
	model_close(m);
	unmake(k);
}

/* "1200-5100 5300-6200", without T0. */
static const char *text_of(const struct spans *s, char text[200])
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < s->n; i++)
		at += (size_t)snprintf(text + at, 200 - at, "%s%lld-%lld", at ? " " : "", (long long)(s->list[i].time - T0),
				       (long long)(s->list[i].end - T0));
	return text;
}

static void check_spans(const struct selection *selection, const char *first, const char *second)
{
	struct making k;
	struct model *m = open_both(&k);
	struct gpu_rows *rows;
	struct spans *spans;
	char text[200];

	if (selection)
		CHECK_EQ(model_select(m, selection), 0);
	rows = model_gpu_rows_in_span(m, &spans);
	CHECK(rows != NULL);
	CHECK_STR(text_of(&spans[1], text), first);
	CHECK_STR(text_of(&spans[2], text), second);
	gpu_rows_free(m, rows);
	gpu_spans_free(m, spans);
	end(&k, m);
}

TEST(the_gpu_span_of_a_process_goes_from_the_first_to_the_last_row_of_each_window)
{
	check_spans(NULL, "1200-5100 5300-6200", "3000-4100");
}

TEST(the_gpu_span_of_a_part_is_that_of_the_part)
{
	check_spans(&(struct selection){ .window = 1 }, "1200-5100", "3000-4100");
	/* A process without windows has all it did in window 1. */
	check_spans(&(struct selection){ .window = 2 }, "5300-6200", "");
	/* Steps are from their start to their end on the host.  Process 2 has none. */
	check_spans(&(struct selection){ .steps = true, .first = 2, .last = 2 }, "5000-6000", "");
	check_spans(&(struct selection){ .steps = true, .first = 1, .last = 9 }, "1000-2000 5000-6000", "");
	check_spans(&(struct selection){ .processes = (const bool[]){ true, false, true } }, "", "3000-4100");
	check_spans(&(struct selection){ .processes = (const bool[]){ true, true, false } }, "1200-5100 5300-6200", "");
}

TEST(rows_are_sets_by_work_and_count_whatever_launched_them)
{
	struct making k;
	struct model *m = open_both(&k);
	struct gpu_rows *rows = model_gpu_rows(m);
	char text[200];

	CHECK_STR(text_of(&rows[1].work[GPU_COMPUTE], text), "1200-1300 5600-6200");
	CHECK_STR(text_of(&rows[1].work[GPU_COMM], text), "1250-1450 5300-5800");
	CHECK_STR(text_of(&rows[1].work[GPU_COPIES], text), "1600-5100");
	CHECK_EQ(rows[1].work[GPU_SETS].n, 0);
	CHECK_STR(text_of(&rows[1].busy, text), "1200-1450 1600-5100 5300-6200");
	CHECK_EQ(rows[1].rows, 6);
	CHECK_EQ(rows[1].untimed, 1);
	CHECK_EQ(rows[0].rows, 0);
	gpu_rows_free(m, rows);
	end(&k, m);
}

TEST(what_an_earlier_step_launched_is_in_the_step_in_which_it_runs)
{
	struct making k;
	struct model *m = open_both(&k);
	struct gpu_rows *rows;
	struct spans *spans;
	char text[200];

	CHECK_EQ(model_select(m, &(struct selection){ .steps = true, .first = 2, .last = 2 }), 0);
	CHECK_EQ(model_rows(m, ROW_memcpy), 0);
	rows = model_gpu_rows_in_span(m, &spans);
	CHECK_STR(text_of(&rows[1].busy, text), "5000-5100 5300-6000");
	CHECK_STR(text_of(&rows[1].work[GPU_COPIES], text), "5000-5100");
	gpu_rows_free(m, rows);
	gpu_spans_free(m, spans);
	end(&k, m);
}

/* What the page says of the device that both use. */
static void check_gpu(const struct selection *selection, uint32_t processes, int64_t span, int64_t busy)
{
	struct making k;
	struct model *m = open_both(&k);
	struct gpu *g;

	if (selection)
		CHECK_EQ(model_select(m, selection), 0);
	CHECK_EQ(model_gpus(m, &g), 1);
	CHECK_EQ(g[0].processes, processes);
	CHECK_EQ(g[0].span, span);
	CHECK_EQ(g[0].busy, busy);
	free(g);
	end(&k, m);
}

TEST(a_device_has_the_spans_of_its_processes)
{
	check_gpu(NULL, 2, 3900 + 900, 250 + 3500 + 900);
	check_gpu(&(struct selection){ .window = 2 }, 2, 900, 900);
	check_gpu(&(struct selection){ .steps = true, .first = 2, .last = 2 }, 2, 1000, 100 + 700);
	check_gpu(&(struct selection){ .processes = (const bool[]){ true, false, true } }, 1, 1100, 500);
}

TEST(a_model_of_a_process_has_its_rows_alone)
{
	struct making k;
	struct model *m = open_both(&k);

	CHECK_EQ(model_rows(m, ROW_kernel), 7);
	CHECK_EQ(model_select(m, &(struct selection){ .processes = (const bool[]){ true, false, true } }), 0);
	CHECK_EQ(model_rows(m, ROW_kernel), 2);
	CHECK_EQ(model_process_rows(m, ROW_kernel, 2), 2);
	CHECK_EQ(MODEL_I64(m, kernel, start)[1], T0 + 4000);
	CHECK_EQ(model_row_process(m, ROW_kernel)[0], 2);
	CHECK(!model_process_selected(m, 1));
	CHECK(!model_steps(m)->list[0].selected);
	end(&k, m);
}
