/* The job reports on hand-written rows; expectations follow docs/reference/numbers.md. */
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include "cli/model/steps/steps.h"

#include <stdlib.h>
#include <string.h>

enum { LAUNCH = 1, GRAPH_LAUNCH, COPY, GEMM, NCCL, REDUCE };

#define CALL(at, length, corr_, name_) { .start = T0 + (at), .duration = length, .corr = corr_, .thread = 1, .name = name_, .step = -1 }
#define RUN(at, length, corr_, name_, device_, stream_) \
	{ .start = T0 + (at), .duration = length, .corr = corr_, .name = name_, .device = device_, .stream = stream_ }

static void begin(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_CUDA });
	make_attribute(k, 1, "rank=3");
	make_string(k, 1, LAUNCH, "cudaLaunchKernel_v7000");
	make_string(k, 1, GRAPH_LAUNCH, "cuGraphLaunch");
	make_string(k, 1, COPY, "cudaMemcpy_v3020");
	make_string(k, 1, GEMM, "gemm");
	make_string(k, 1, NCCL, "ncclDevKernel_AllReduce");
	make_string(k, 1, REDUCE, "reduce");
	make_thread(k, 1, 1, 101, "main");
}

/* Rows below the head, as CSV. */
static void check_model(struct model *m, const char *name, const char *rows)
{
	char *text = report_text(m, name, TABLE_CSV, NULL, 0), *at = text ? strchr(text, '\n') : NULL;

	CHECK_STR(at ? at + 1 : "", rows);
	free(text);
}

/* A graph of three kernels, a blocking copy that starts inside its call, a kernel whose call was not recorded. */
static struct model *open_launches(struct making *k)
{
	begin(k);
	ROWS(k, 1, api, CALL(1000, 100, 1, GRAPH_LAUNCH), CALL(2000, 500, 2, COPY), CALL(3000, 60000, 3, LAUNCH));
	ROWS(k, 1, kernel, RUN(1600, 200, 1, REDUCE, 0, 7), RUN(1300, 200, 1, GEMM, 0, 7), RUN(1300, 50, 1, NCCL, 0, 8));
	ROWS(k, 1, kernel, RUN(200000, 10, 3, GEMM, 1, 7), RUN(300000, 10, 99, GEMM, 1, 7),
	     { .corr = 1, .name = GEMM, .stream = 7 });
	ROWS(k, 1, memcpy, { .start = T0 + 2100, .duration = 300, .bytes = 600, .corr = 2, .device = 0, .stream = 7, .kind = 1,
			     .src_kind = 2, .dst_kind = 3 });
	return make_model(k);
}

TEST(a_launch_is_a_call_of_any_name_and_its_first_row)
{
	struct making k;
	struct model *m = open_launches(&k);

	check_model(m, "launch_delays", "3,1,100,3,450,200,cuGraphLaunch,gemm\n"
					"3,2,500,1,300,0,cudaMemcpy,Memcpy HtoD (Pinned -> Device)\n"
					"3,3,60000,1,10,137000,cudaLaunchKernel,gemm\n");
	check_model(m, "launch_delay_sum", "3,3,60600,760,137200,200,137000,137000,2,1,1\n");
	unmake_model(&k, m);
}

TEST(streams_of_two_devices_are_two_and_a_gap_ends_where_all_before_it_have)
{
	struct making k;
	struct model *m = open_launches(&k);

	/* Stream 7 of device 0: 1300-1500, 1600-1800, 2100-2400; the graph's next kernel was called before the gap. */
	check_model(m, "idle", "3,0,7,host_wait,300,75.0\n3,0,7,kernel_wait,100,25.0\n3,1,7,unknown,99990,100.0\n");
	check_model(m, "queue_length", "3,0,7,2,1.00,1,1,1\n3,1,7,1,1.00,1,1,1\n");
	unmake_model(&k, m);
	begin(&k);
	ROWS(&k, 1, api, CALL(10, 5, 1, LAUNCH), CALL(20, 5, 2, LAUNCH), CALL(400, 5, 3, LAUNCH));
	/* The second one ends inside the first: the stream is idle from 300 on, and the third was called later. */
	ROWS(&k, 1, kernel, RUN(100, 200, 1, GEMM, 0, 7), RUN(150, 50, 2, GEMM, 0, 7), RUN(500, 10, 3, GEMM, 0, 7));
	m = make_model(&k);
	check_model(m, "idle_intervals", "3,0,7,host_wait,1,200,200,200,200,200\n");
	unmake_model(&k, m);
}

TEST(the_depth_of_a_queue_counts_launches_that_have_not_started)
{
	struct making k;
	struct model *m;

	begin(&k);
	ROWS(&k, 1, api, CALL(10, 5, 1, LAUNCH), CALL(20, 5, 2, LAUNCH), CALL(30, 5, 3, LAUNCH), CALL(40, 5, 4, LAUNCH));
	/* At 30 a launch and a start come together: launches first.  The last one starts before its own call. */
	ROWS(&k, 1, kernel, RUN(30, 10, 1, GEMM, 0, 7), RUN(50, 10, 2, GEMM, 0, 7), RUN(60, 10, 3, GEMM, 0, 7),
	     RUN(35, 1, 4, GEMM, 0, 7));
	m = make_model(&k);
	check_model(m, "queue_length_series", "3,0,7,10,1\n3,0,7,20,2\n3,0,7,30,3\n3,0,7,30,2\n3,0,7,40,3\n3,0,7,40,2\n"
					      "3,0,7,50,1\n3,0,7,60,0\n");
	check_model(m, "queue_length", "3,0,7,4,2.25,2,3,3\n");
	check_model(m, "queue_full", "");
	unmake_model(&k, m);
}

TEST(what_ran_inside_a_whole_graph_is_unknown_and_not_0)
{
	struct making k;
	struct model *m;

	begin(&k);
	ROWS(&k, 1, api, CALL(10, 5, 1, GRAPH_LAUNCH), CALL(20, 5, 2, LAUNCH));
	ROWS(&k, 1, graph, { .start = T0 + 100, .duration = 300, .corr = 1, .stream = 7 });
	ROWS(&k, 1, kernel, RUN(350, 150, 2, GEMM, 0, 8));
	m = make_model(&k);
	check_model(m, "temporal", "3,400,400,100.0,0,0.0,,,,,,\n");
	check_model(m, "overlap", "3,,,,\n");
	check_model(m, "kernel_types", "whole graph,250,62.5\ncompute,100,25.0\ncompute overlapping whole graph,50,12.5\n");
	check_model(m, "kernel_types_no_memory", "whole graph,250,62.5\ncompute,100,25.0\ncompute overlapping whole graph,50,12.5\n");
	unmake_model(&k, m);
}

TEST(bandwidth_is_bytes_by_the_time_in_which_some_copy_ran)
{
	struct making k;
	struct model *m;

	begin(&k);
	ROWS(&k, 1, memcpy, { .start = T0 + 100, .duration = 100, .bytes = 1000, .kind = 1, .stream = 7 },
	     { .start = T0 + 150, .duration = 100, .bytes = 2000, .kind = 1, .stream = 8 },
	     { .start = T0 + 500, .duration = 0, .bytes = 1000, .kind = 1, .stream = 8 },
	     { .start = T0 + 600, .duration = 100, .bytes = UINT64_MAX, .kind = 1, .stream = 8 });
	ROWS(&k, 1, memset, { .start = T0 + 800, .duration = 10, .bytes = 5, .stream = 7 });
	m = make_model(&k);
	check_model(m, "memory_bandwidth", "3,Memcpy HtoD,3,4000,150,26.667,10.000,20.000\n3,Memset,1,5,10,0.500,0.500,0.500\n");
	check_model(m, "memory_bandwidth_series", "3,100,Memcpy HtoD,10.000\n3,150,Memcpy HtoD,30.000\n3,200,Memcpy HtoD,20.000\n"
						  "3,250,Memcpy HtoD,0.000\n3,800,Memset,0.500\n3,810,Memset,0.000\n");
	unmake_model(&k, m);
}

TEST(kernels_behind_the_tenth_are_one_row_with_their_own_extremes)
{
	struct making k;
	struct model *m;
	char *text;

	begin(&k);
	for (uint32_t i = 0; i < 12; i++) {
		char name[16];

		snprintf(name, sizeof name, "k%02u", i);
		make_string(&k, 1, 100 + i, name);
		ROWS(&k, 1, kernel, RUN(100 + 100 * i, 12 - i, i, 100 + i, 0, 7), RUN(5000 + 100 * i, 12 - i, i, 100 + i, 0, 7));
	}
	m = make_model(&k);
	text = report_text(m, "kernel_breakdown_top10", TABLE_CSV, NULL, 0);
	CHECK(strstr(text, "\n3,compute,24,15.4,2,12,12,12,k00\n") != NULL);
	CHECK(strstr(text, "\n3,compute,6,3.8,4,2,1,2,others\n") != NULL);
	CHECK(strstr(text, "k10") == NULL);
	free(text);
	text = report_text(m, "kernel_breakdown", TABLE_CSV, NULL, 0);
	CHECK(strstr(text, "\n3,compute,2,1.3,2,1,1,1,k11\n") != NULL);
	free(text);
	unmake_model(&k, m);
}

#define RANGE(at, length, id_) { .start = T0 + (at), .duration = length, .id = 1ull << 40 | (id_), .thread = 1, .name = 1, .step = -1 }

/* Without CUDA: two ranks, each with a worker that a loader forked. */
TEST(a_trace_without_cuda_has_the_processes_with_ranges_for_ranks_but_no_workers)
{
	static const char *const rank[] = { "", "rank=0", "rank=1", "rank=0", "rank=1" };
	struct making k;
	struct model *m;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CONNECTED }, { T0 + 1, 0, 2, 200, 200, 1, 0, PROCESS_CONNECTED },
	     { T0 + 1, 0, 3, 300, 300, 100, 1, PROCESS_CONNECTED }, { T0 + 1, 0, 4, 400, 400, 200, 2, PROCESS_CONNECTED });
	for (uint32_t p = 1; p <= 4; p++) {
		make_attribute(&k, p, rank[p]);
		make_string(&k, p, 1, "epoch");
		make_thread(&k, p, 1, 100 * p, "main");
		ROWS(&k, p, range, RANGE(1000 * p, 100 * p, 1));
	}
	m = make_model(&k);
	check_model(m, "cpu_annotations", "0,100,1,100,100,100,epoch\n1,200,1,200,200,200,epoch\n");
	check_model(m, "temporal", "0,,,,,,,,,,,\n1,,,,,,,,,,,\n");
	unmake_model(&k, m);
}

TEST(a_selected_step_has_what_ran_in_it_and_launches_of_its_own)
{
	struct making k;
	struct model *m;

	begin(&k);
	make_string(&k, 1, 9, "step");
	ROWS(&k, 1, step, { T0 + 1000, 1000, 0, 1, 0, 9, 0, 1, 0, 1, 2, 100, 0 }, { T0 + 2000, 1000, 0, 2, 0, 9, 0, 1, 0, 2, 3, 100, 0 });
	ROWS(&k, 1, api, CALL(1100, 10, 1, LAUNCH), CALL(2100, 10, 2, LAUNCH));
	ROWS(&k, 1, kernel, RUN(1500, 700, 1, NCCL, 0, 7), RUN(2150, 350, 2, GEMM, 0, 8));
	m = make_model(&k);
	check_model(m, "temporal", "3,1000,1000,100.0,0,0.0,350,35.0,700,650,0,0\n");
	CHECK_EQ(model_select(m, &(struct selection){ .steps = true, .first = 2, .last = 2 }), 0);
	check_model(m, "temporal", "3,1000,500,50.0,500,50.0,350,35.0,200,150,0,0\n");
	check_model(m, "overlap", "3,200,50,25.0,150\n");
	check_model(m, "launch_delay_sum", "3,1,10,350,40,40,40,40,0,0,0\n");
	unmake_model(&k, m);
}
