/* HTA's arithmetic, and the hta_ reports on hand-written rows. */
#include "cli/compat/hta/hta_graph.h"
#include "cli/compat/hta/hta_tree.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(kernels_are_classed_as_hta_classes_them)
{
	CHECK_EQ(hta_class_of("ncclDevKernel_AllReduce"), HTA_COMMUNICATION);
	CHECK_EQ(hta_class_of("void ncclKernel_x()"), HTA_COMMUNICATION);
	CHECK_EQ(hta_class_of("hipMemcpy"), HTA_COMMUNICATION);
	CHECK_EQ(hta_class_of("Memcpy DtoH (Device -> Pageable)"), HTA_MEMORY);
	CHECK_EQ(hta_class_of("dma_x"), HTA_MEMORY);
	CHECK_EQ(hta_class_of("void gemm<float>(float*)"), HTA_COMPUTATION);
	CHECK_EQ(hta_class_of("void f<MyMemcpy>()"), HTA_OTHER);
	CHECK_EQ(hta_class_of("Stream Wait Event"), HTA_OTHER);
	CHECK_EQ(hta_class_of("a\nMemcpy"), HTA_COMPUTATION);       /* a dot does not cross lines */
	CHECK_EQ(hta_class_of("cudaLaunchKernel"), HTA_OTHER);
}

TEST(intervals_that_touch_are_one_and_one_that_ends_early_ends_nothing)
{
	struct timed list[] = { { 0, { 10 } }, { 2, { 5 } }, { 10, { 12 } }, { 13, { 13 } }, { 20, { 19 } }, { 20, { 25 } } };

	struct hta_intervals merged = { .list = (struct timed[6]){ { 0 } } };

	for (size_t i = 0; i < 6; i++)
		hta_merge(&merged, list[i]);
	CHECK_EQ(merged.n, 4);
	CHECK_EQ(merged.list[0].end, 12);
	CHECK_EQ(merged.list[1].time, 13);
	CHECK_EQ(merged.list[2].end, 19);       /* turned by rounding: what begins with it is beyond its end */
	CHECK_EQ(merged.list[3].end, 25);
}

TEST(numbers_are_described_as_pandas_describes_them)
{
	double four[] = { 4, 1, 3, 2 }, one[] = { 7 };
	struct hta_described d = hta_describe(four, 4);

	CHECK_EQ((int64_t)llrint(d.q1 * 100), 175);
	CHECK_EQ((int64_t)llrint(d.median * 100), 250);
	CHECK_EQ((int64_t)llrint(d.q3 * 100), 325);
	CHECK_EQ((int64_t)llrint(d.std * 1e6), 1290994);
	d = hta_describe(one, 1);
	CHECK_EQ(isnan(d.std) != 0, 1);
	CHECK_EQ((int64_t)d.max, 7);
	CHECK_EQ(isnan(hta_describe(NULL, 0).mean) != 0, 1);
}

TEST(rows_without_a_length_lie_inside_what_begins_or_else_ends_there)
{
	struct hta_edge edges[] = {
		{ 0, 10, 1, true },  { 10, 10, 1, false }, { 10, 5, 2, true }, { 15, 5, 2, false },
		{ 10, 0, 3, true },  { 10, 0, 3, false },  { 15, 0, 4, true }, { 15, 0, 4, false },
	};
	static const struct { uint32_t row; bool opens; } want[] = {
		{ 1, true }, { 1, false }, { 2, true }, { 3, true }, { 3, false }, { 4, true }, { 4, false }, { 2, false },
	};

	CHECK_EQ(hta_sort_edges(edges, 8), 0);
	for (size_t i = 0; i < 8; i++) {
		CHECK_EQ(edges[i].row, want[i].row);
		CHECK_EQ(edges[i].opens, want[i].opens);
	}
}

/* 0 -> 1 -> 3 takes 30 + 40, 0 -> 2 -> 3 takes 60 + 10: of ways of equal length the first one counts. */
TEST(the_longest_way_is_found_and_a_later_edge_takes_the_place_of_an_earlier)
{
	struct hta_node nodes[4] = { { .ts = 0, .start = true }, { .ts = 30 }, { .ts = 60 }, { .ts = 70 } };
	uint32_t order[4];
	struct hta_graph g = { .nodes = nodes, .n_nodes = 4, .order = order };

	for (unsigned i = 0; i < 4; i++)
		nodes[i].first_out = nodes[i].first_in = NO_NODE;
	hta_depend(&g, 0, 2, EDGE_DEPENDENCY, false);
	hta_depend(&g, 0, 1, EDGE_OPERATOR, false);
	hta_depend(&g, 1, 3, EDGE_OPERATOR, false);
	hta_depend(&g, 2, 3, EDGE_KERNEL_DELAY, false);
	CHECK_EQ(hta_longest_path(&g), 0);
	CHECK_EQ(g.length, 70);
	CHECK_EQ(g.n_path, 2);
	CHECK_EQ(g.edges[g.path[0]].to, 1);
	free(g.path);
	g.n_path = 0;
	g.length = 0;
	hta_depend(&g, 0, 1, EDGE_OPERATOR, true);      /* costs nothing now */
	hta_depend(&g, 0, 2, EDGE_LAUNCH_DELAY, false);
	CHECK_EQ(hta_longest_path(&g), 0);
	CHECK_EQ(g.n_edges, 4);
	CHECK_EQ(g.length, 70);
	CHECK_EQ(g.edges[g.path[0]].to, 2);
	free(g.path);
	free(g.edges);
	map_release(&g.places);
}

#define K(from, to, corr_, stream_, name_) \
	{ .start = T0 + (from), .duration = (to) - (from), .corr = corr_, .stream = stream_, .name = name_ }
#define A(from, to, corr_) { .start = T0 + (from), .duration = (to) - (from), .corr = corr_, .thread = 1, .name = 3, .step = -1 }

/*
 * A rank with ns: computing 1000.5 to 4000.5, talking from 3000.5 to 6000.5 us, idle to 7000.5, computing to 8000.5.
 * T0 is a whole number of us.
 */
static char *report(const char *name)
{
	struct making k;
	struct model *m;
	char *text = NULL;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA | PROCESS_CUPTI });
	make_attribute(&k, 1, "rank=5");
	make_string(&k, 1, 1, "gemm");
	make_string(&k, 1, 2, "ncclDevKernel_AllReduce");
	make_string(&k, 1, 3, "cudaLaunchKernel_v7000");
	make_thread(&k, 1, 1, 101, "main");
	ROWS(&k, 1, api, A(100000, 110000, 1), A(200000, 210000, 2), A(6500000, 6510000, 3));
	ROWS(&k, 1, kernel, K(1000500, 4000500, 1, 7, 1), K(3000500, 6000500, 2, 8, 2), K(7000500, 8000500, 3, 7, 1));
	make_end(&k);
	m = model_open(k.path, NULL);
	if (CHECK(m != NULL))
		text = report_text(m, name, TABLE_CSV, NULL, 0);
	model_close(m);
	unmake(&k);
	return text ? text : strdup("");
}

static void check_report(const char *name, const char *rows)
{
	char *text = report(name), *at = strchr(text, '\n');

	CHECK_STR(at ? at + 1 : text, rows);
	free(text);
}

TEST(gpu_time_is_split_as_hta_splits_it_and_ours_is_not_rounded)
{
	check_report("temporal", "5,7000000,6000000,85.7,1000000,14.3,4000000,57.1,3000000,2000000,0,0\n");
	/* Begins go up and ends go down: 1001-4000, 3001-6000, 7001-8000 us. */
	check_report("hta_temporal_breakdown", "5,1001,3998,2000,6999,14.30,57.12,28.58\n");
	check_report("overlap", "5,3000000,1000000,33.3,2000000\n");
	check_report("hta_comm_comp_overlap", "5,33.31\n");
	check_report("kernel_types", "compute,3000000,50.0\ncommunication,2000000,33.3\n"
				     "compute overlapping communication,1000000,16.7\n");
}

TEST(launches_idle_times_and_queues_are_those_of_hta)
{
	check_report("launch_delays", "5,1,10000,1,3000000,890500,cudaLaunchKernel,gemm\n"
				      "5,2,10000,1,3000000,2790500,cudaLaunchKernel,ncclDevKernel_AllReduce\n"
				      "5,3,10000,1,1000000,490500,cudaLaunchKernel,gemm\n");
	check_report("launch_delay_sum", "5,3,30000,7000000,4171500,890500,2790500,2790500,0,0,3\n");
	check_report("hta_cuda_kernel_launch_stats", "5,1,10,2999,891\n5,2,10,2999,2791\n5,3,10,999,491\n");
	check_report("idle", "5,0,7,host_wait,3000000,100.0\n");
	check_report("hta_idle_time_breakdown", "5,7,host_wait,3001,1.00\n5,7,other,0,0.00\n5,8,other,0,\n");
	check_report("queue_length", "5,0,7,2,1.00,1,1,1\n5,0,8,1,1.00,1,1,1\n");
	check_report("hta_queue_length_summary", "5,7,4,0.500000000,0.577350269,0,0.00,0.50,1.00,1\n"
						 "5,8,2,0.500000000,0.707106781,0,0.25,0.50,0.75,1\n");
	check_report("queue_full", "");
}

/* n calls and n GPU rows of one correlation id, and two steps, of which HTA cuts the last off. */
static char *report_of_one_id(const char *name, size_t n)
{
	struct making k;
	struct model *m;
	char *text = NULL;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA | PROCESS_CUPTI });
	make_string(&k, 1, 1, "gemm");
	make_string(&k, 1, 3, "cudaLaunchKernel_v7000");
	make_string(&k, 1, 4, "ProfilerStep#1");
	make_string(&k, 1, 5, "ProfilerStep#2");
	make_thread(&k, 1, 1, 101, "main");
	ROWS(&k, 1, range, { .start = T0, .duration = 1000000000, .id = 1, .thread = 1, .name = 4 },
	     { .start = T0 + 2000000000, .duration = 1000000, .id = 2, .thread = 1, .name = 5 });
	for (size_t i = 0; i < n; i++) {
		ROWS(&k, 1, api, A(1000 * (int64_t)i, 1000 * (int64_t)i + 500, 1));
		ROWS(&k, 1, kernel, K(1000000 + 1000 * (int64_t)i, 1000000 + 1000 * (int64_t)i + 1000, 1, 7, 1));
	}
	make_end(&k);
	m = model_open(k.path, NULL);
	if (CHECK(m != NULL))
		text = report_text(m, name, TABLE_CSV, NULL, 0);
	model_close(m);
	unmake(&k);
	return text ? text : strdup("");
}

static void check_one_id(const char *name, size_t n, const char *rows)
{
	char *text = report_of_one_id(name, n), *at = strchr(text, '\n');

	CHECK_STR(at ? at + 1 : text, rows);
	free(text);
}

TEST(one_correlation_id_for_all_rows_does_not_make_their_square)
{
	check_one_id("hta_kernel_breakdown_all", 3, "gemm,9,1,1,0.000000,1.000000,COMPUTATION,0\n");
	check_one_id("hta_queue_length_summary", 3, "0,7,36,16.000000000,7.801098824,1,9.75,18.00,22.25,27\n");
	check_one_id("hta_kernel_breakdown_all", 2000, "gemm,2000,1,1,0.000000,1.000000,COMPUTATION,0\n");
	check_one_id("hta_queue_length_summary", 2000, "");
}

TEST(a_path_goes_from_call_to_call_and_with_the_launch_that_was_longest_under_way)
{
	/* The first call, 10 us; time between calls is nobody's; then from the second one's begin to the end of its kernel. */
	check_report("hta_critical_path:all", "gpu_communication_bound,2999,51.62,1\ngpu_kernel_launch_overhead,2801,48.21,1\n"
					      "cpu_bound,10,0.17,1\ndependency,0,0.00,1\n");
	check_report("hta_critical_path:nothing_is_called_so", "");
}
