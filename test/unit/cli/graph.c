#include "cli/model/gpu/graph.h"

#include "cli/model/join.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

static void make_graphs(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA },
	     { T0 + 1, 0, 2, 200, 200, 1, 0, PROCESS_CUDA });
	make_string(k, 1, 1, "_Z6vecaddPfS_i");
	make_string(k, 1, 2, "layer");
	make_string(k, 1, 3, "step");
	ROWS(k, 1, range,
	     { T0 + 1100, 100, 1ull << 40 | 2, 0, 1, 1, 0, 0, 2, 0, 0, 1, 0, -1 },
	     { T0 + 1000, 900, 1ull << 40 | 1, 0, 1, 1, 0, 0, 3, 0, 0, 0, 0, -1 });
	/* 1 captured in "step", 2 in "layer" within it, 3 in none; 11 to 13 and 22 cloned; 31 and 32 of each other; 41
	 * of a lost one */
	ROWS(k, 1, graph_node, { T0 + 1001, 1, 0, 1ull << 40 | 1, 1, 5, 0, -1 },
	     { T0 + 1101, 2, 0, 1ull << 40 | 2, 1, 6, 0, -1 }, { T0 + 2000, 3, 0, 0, 1, 7, 0, -1 },
	     { T0 + 2001, 11, 1, 0, 1, 8, 0, -1 }, { T0 + 2002, 12, 2, 0, 1, 8, 0, -1 },
	     { T0 + 2003, 13, 3, 0, 1, 8, 0, -1 }, { T0 + 2004, 22, 12, 0, 1, 9, 0, -1 },
	     { T0 + 2005, 31, 32, 0, 1, 9, 0, -1 }, { T0 + 2006, 32, 31, 0, 1, 9, 0, -1 },
	     { T0 + 2007, 41, 40, 0, 1, 9, 0, -1 });
	ROWS(k, 1, kernel,
	     { T0 + 3000, 100, 11, 50, 1, 0, 1, 7, 1, 4, 0 }, { T0 + 3100, 200, 12, 50, 1, 0, 1, 7, 1, 4, 0 },
	     { T0 + 3300, 300, 22, 51, 1, 0, 1, 7, 1, 5, 0 }, { T0 + 3600, 400, 13, 50, 1, 0, 1, 7, 1, 4, 0 },
	     { T0 + 4000, 500, 41, 52, 1, 0, 1, 7, 1, 6, 0 }, { 0, 0, 11, 53, 1, 0, 1, 7, 1, 4, 0 },
	     { T0 + 5000, 600, 0, 54, 1, 0, 1, 7, 1, 0, 0 });
	make_end(k);
}

TEST(a_node_is_followed_to_the_one_that_was_captured)
{
	struct making k;
	struct model *m;

	make_graphs(&k);
	m = model_open(k.path, NULL);
	if (!CHECK(m != NULL))
		return;
	CHECK_EQ(model_graph_node(m, 1, 1), 0);
	CHECK_EQ(model_graph_node(m, 1, 11), 0);
	CHECK_EQ(model_graph_node(m, 1, 12), 1);
	CHECK_EQ(model_graph_node(m, 1, 22), 1);        /* a clone of a clone */
	CHECK_EQ(model_graph_node(m, 1, 31), NO_ROW);   /* round in circles */
	CHECK_EQ(model_graph_node(m, 1, 41), NO_ROW);
	CHECK_EQ(model_graph_node(m, 1, 99), NO_ROW);
	CHECK_EQ(model_graph_node(m, 1, 0), NO_ROW);
	CHECK_EQ(model_graph_node(m, 2, 1), NO_ROW);    /* ids are per process */
	model_close(m);
	unmake(&k);
}

TEST(replayed_kernels_are_summed_by_where_they_were_captured)
{
	struct making k;
	struct model *m;
	char *text;

	make_graphs(&k);
	m = model_open(k.path, NULL);
	if (!CHECK(m != NULL))
		return;
	text = report_text(m, "cuda_graph_kern_sum", TABLE_CSV, NULL, 0);
	CHECK_STR(
		text,
		"gpu_pct,gpu_ns,count,mean_ns,median_ns,min_ns,max_ns,stddev_ns,captured_in,name\n"
		"33.3,500,2,250.0,250.0,200,300,70.7,step/layer,\"vecadd(float*, float*, int)\"\n"
		"33.3,500,1,500.0,500.0,500,500,0.0,,\"vecadd(float*, float*, int)\"\n"
		"26.7,400,1,400.0,400.0,400,400,0.0,,\"vecadd(float*, float*, int)\"\n"
		"6.7,100,2,100.0,100.0,100,100,0.0,step,\"vecadd(float*, float*, int)\"\n");
	free(text);
	model_close(m);
	unmake(&k);
}

TEST(reports_say_what_share_of_the_time_is_whole_graphs)
{
	struct making k;
	struct model *m;
	char *text;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA });
	make_string(&k, 1, 1, "_Z6vecaddPfS_i");
	ROWS(&k, 1, kernel, { T0 + 3000, 100, 0, 50, 1, 0, 1, 7, 1, 0, 0 });
	ROWS(&k, 1, graph, { T0 + 2000, 150, 51, 0, 1, 7, 5, 0 }, { T0 + 4000, 150, 52, 0, 1, 7, 5, 0 });
	make_end(&k);
	m = model_open(k.path, NULL);
	if (!CHECK(m != NULL))
		return;
	text = report_text(m, "cuda_gpu_kern_sum", TABLE_TEXT, NULL, 0);
	CHECK(strstr(text, "2 graph launches are one row each, 75.0 % of GPU time") != NULL);
	CHECK(strstr(text, "no kernels") == NULL);
	free(text);
	text = report_text(m, "cuda_gpu_trace", TABLE_CSV, NULL, 0);
	CHECK_STR(text + strcspn(text, "\n"),
		  "\n2000,150,51,,,,,,,,,,,,,,? (0),1,,7,[CUDA graph 5]"
		  "\n3000,100,50,,,,,,,,,,,,,,? (0),1,,7,\"vecadd(float*, float*, int)\""
		  "\n4000,150,52,,,,,,,,,,,,,,? (0),1,,7,[CUDA graph 5]\n");
	free(text);
	model_close(m);
	unmake(&k);
}

TEST(conditional_nodes_are_counted_once_each)
{
	struct making k;
	struct model *m;
	char *text;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA });
	make_string(&k, 1, 1, "k");
	ROWS(&k, 1, graph_node, { T0 + 1001, 1, 0, 0, 1, 5, 13, -1 }, { T0 + 1002, 2, 0, 0, 1, 6, 0, -1 },
	     { T0 + 1003, 3, 1, 0, 1, 7, 13, -1 });
	ROWS(&k, 1, kernel, { T0 + 3000, 100, 2, 50, 1, 0, 1, 7, 1, 4, 0 });
	make_end(&k);
	m = model_open(k.path, NULL);
	if (!CHECK(m != NULL))
		return;
	text = report_text(m, "cuda_graph_kern_sum", TABLE_TEXT, NULL, 0);
	CHECK(strstr(text, "conditional nodes: 1;") != NULL);
	free(text);
	model_close(m);
	unmake(&k);
}

TEST(ranges_around_a_captured_kernel_beyond_a_number_are_dots)
{
	enum { AROUND = 130 };
	struct range_row rows[AROUND];
	struct making k;
	struct model *m;
	char *text;

	for (uint32_t i = 0; i < AROUND; i++)
		rows[i] = (struct range_row){ .start = T0 + 100 + i, .duration = 1000 - 2 * i, .id = 1ull << 40 | (i + 1), .thread = 1,
					      .name = i < 2 ? 2 : 3, .level = i };
	make_begin(&k);
	make_string(&k, 1, 1, "kernel");
	make_string(&k, 1, 2, "outer");
	make_string(&k, 1, 3, "inner");
	make_rows(&k, 1, ROW_range, rows, AROUND);
	ROWS(&k, 1, graph_node, { .start = T0 + 300, .node = 1, .range = 1ull << 40 | AROUND });
	ROWS(&k, 1, kernel, { .start = T0 + 2000, .duration = 10, .name = 1, .graph_node = 1 });
	m = make_model(&k);
	text = report_text(m, "cuda_graph_kern_sum", TABLE_CSV, NULL, 0);
	CHECK(text && strstr(text, ".../inner/inner/"));
	CHECK(text && !strstr(text, "outer"));
	free(text);
	unmake_model(&k, m);
}
