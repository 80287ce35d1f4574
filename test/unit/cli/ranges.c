#include "cli/page/page_lines.h"
#include "cli/page/page_top.h"
#include "cli/report/nvtx/range_self.h"
#include "test/unit/cli/make_trace.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/test.h"
#include "trace/reader.h"

static void library_trace(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, T0 + 9000, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_NVTX | PROCESS_ENDED });
	make_string(k, 1, 1, "step");
	make_string(k, 1, 2, "cuBLAS");
	make_string(k, 1, 3, "cublasSgemm_v2");
	make_string(k, 1, 4, "request");
	make_thread(k, 1, 1, 100, "main");
	ROWS(k, 1, domain, { 1, 2 });
	ROWS(k, 1, range,
	     { T0 + 1100, 200, 1ull << 40 | 2, 0, 1, 1, 1, 0, 3, 0, 0, 1, 0, -1 },
	     { T0 + 1400, 100, 1ull << 40 | 3, 0, 1, 1, 1, 0, 3, 0, 0, 1, 0, -1 },
	     { T0 + 1000, 1000, 1ull << 40 | 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, -1 },
	     { T0 + 1000, 500, 1ull << 40 | 4, 0, 1, 2, 0, 0, 4, 0, 0, 0, RANGE_STARTEND, -1 });
	make_end(k);
}

static void check(const char *report, const char *want)
{
	struct trace_error err;
	struct making k;
	struct model *m;
	char *text;

	library_trace(&k);
	m = model_open(k.path, &err);
	CHECK(m != NULL);
	text = report_text(m, report, TABLE_CSV, NULL, 0);
	CHECK_STR(strchr(text, '\n') + 1, want);
	free(text);
	model_close(m);
	unmake(&k);
}

TEST(start_end_ranges_have_a_table_of_their_own_and_one_with_the_others)
{
	check("nvtx_startend_sum", "100.0,500,1,500.0,500.0,500,500,0.0,:request\n");
	check("nvtx_sum", "66.7,1000,1,1000.0,1000.0,1000,1000,0.0,PushPop,:step\n"
			  "33.3,500,1,500.0,500.0,500,500,0.0,StartEnd,:request\n");
}

TEST(calls_of_cuda_libraries_are_not_the_programs_ranges_unless_all_is_said)
{
	check("nvtx_pushpop_sum", "100.0,1000,1,1000.0,1000.0,1000,1000,0.0,:step\n");
	check("lib_api_sum", "100.0,300,2,150.0,150.0,100,200,70.7,cuBLAS:cublasSgemm_v2\n");
	check("nvtx_pushpop_sum:all", "76.9,1000,1,1000.0,1000.0,1000,1000,0.0,:step\n"
				      "23.1,300,2,150.0,150.0,100,200,70.7,cuBLAS:cublasSgemm_v2\n");
}

/* <module> holds epoch, which holds step twice; in one of them PyTorch's own range holds load. */
static void nested_trace(struct making *k)
{
	static const char *const names[] = { "<module>", "epoch", "step", "PyTorch", "aten::mm", "load" };

	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, T0 + 9000, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_NVTX | PROCESS_ENDED });
	for (uint32_t i = 0; i < 6; i++)
		make_string(k, 1, i + 1, names[i]);
	make_thread(k, 1, 1, 100, "main");
	ROWS(k, 1, domain, { 1, 4 });
	ROWS(k, 1, range,
	     { T0 + 1150, 50, 1ull << 40 | 5, 0, 1, 1, 0, 0, 6, 0, 0, 4, 0, -1 },
	     { T0 + 1120, 100, 1ull << 40 | 4, 0, 1, 1, 1, 0, 5, 0, 0, 3, 0, -1 },
	     { T0 + 1100, 300, 1ull << 40 | 3, 0, 1, 1, 0, 0, 3, 0, 0, 2, 0, -1 },
	     { T0 + 1500, 200, 1ull << 40 | 6, 0, 1, 1, 0, 0, 3, 0, 0, 2, 0, -1 },
	     { T0 + 1050, 850, 1ull << 40 | 2, 0, 1, 1, 0, 0, 2, 0, 0, 1, 0, -1 },
	     { T0 + 1000, 1000, 1ull << 40 | 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, -1 });
	make_end(k);
}

TEST(shares_of_nested_ranges_are_those_of_their_own_time)
{
	struct making k;
	struct model *m;
	struct page_lines lines = { .width = PAGE_WIDTH };
	struct page_table table;
	static const char *const wanted[] = {
		"", "      time self %      times     mean  NVTX range",
		"   1.00 us   15.0          1  1.00 us  <module>", "    850 ns   35.0          1   850 ns  epoch",
		"    500 ns   45.0          2   250 ns  step", "     50 ns    5.0          1    50 ns  load", "",
	};
	char *text;

	nested_trace(&k);
	m = model_open(k.path, NULL);
	CHECK(m != NULL);
	CHECK_EQ(page_top(&lines, m, 5, "NVTX range", &table), 0);
	CHECK_EQ(table.top, TOP_RANGES);
	page_top_end(&lines, &table, 3);
	CHECK_EQ(page_count(&lines), sizeof wanted / sizeof *wanted);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		CHECK_STR(lines.blocks[0].lines[i].text, wanted[i]);
	page_lines_release(&lines);
	text = report_text(m, "nvtx_pushpop_sum", TABLE_TEXT, NULL, 0);
	CHECK(strstr(text, " 41.7 ") && strstr(text, "as in nsys: the time of a range within another counts in both") && strstr(text, "share of the sum over all rows, also those not shown"));
	free(text);
	model_close(m);
	unmake(&k);
}
