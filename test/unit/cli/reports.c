/* Every report on make_two_processes(), compared with text worked out by hand. */
#include "cli/report/parts/report.h"
#include "cli/ui/cells.h"
#include "cli/ui/words.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include "trace/error.h"

#include <stdlib.h>

static void check_report(const char *name, enum table_format format, const char *sort, uint64_t limit, const char *want)
{
	struct making k;
	struct model *m;
	char *got;

	make_two_processes(&k);
	m = model_open(k.path, NULL);
	if (!CHECK(m != NULL))
		return;
	got = report_text(m, name, format, sort, limit);
	CHECK_STR(got, want);
	free(got);
	model_close(m);
	unmake(&k);
}

TEST(kernels_are_summed_over_processes_and_those_without_time_only_counted)
{
	check_report("cuda_gpu_kern_sum", TABLE_CSV, NULL, 0,
		"Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
		"79.2,4000,2,2000.0,2000.0,1000,3000,1414.2,\"void ns::gemm<float, 4>(float*)\"\n"
		"19.8,1000,5,250.0,250.0,100,400,129.1,\"vecadd(float*, float*, int)\"\n"
		"1.0,50,1,50.0,50.0,50,50,0.0,?17\n");
}

TEST(kernel_names_can_be_short_or_mangled)
{
	check_report("cuda_gpu_kern_sum:base", TABLE_CSV, NULL, 1,
		"Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
		"79.2,4000,2,2000.0,2000.0,1000,3000,1414.2,gemm\n");
	check_report("cuda_gpu_kern_sum:mangled", TABLE_CSV, "name:desc", 1,
		"Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
		"79.2,4000,2,2000.0,2000.0,1000,3000,1414.2,_ZN2ns4gemmIfLi4EEEvPT_\n");
}

TEST(api_calls_are_summed_under_the_names_that_nsys_prints)
{
	/* cudaLaunchKernel 10, 20, 30, 40: deviation sqrt(500 / 3) = 12.91 */
	check_report("cuda_api_sum", TABLE_CSV, NULL, 0,
		"Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
		"79.4,100,4,25.0,25.0,10,40,12.9,cudaLaunchKernel\n"
		"16.7,21,1,21.0,21.0,21,21,0.0,cudaLaunchKernelExC_v11060\n"
		"4.0,5,1,5.0,5.0,5,5,0.0,cudaMemcpyAsync\n");
}

TEST(copies_and_sets_are_summed_by_time)
{
	/* 50 and 250: deviation sqrt(2 * 100^2) = 141.42 */
	check_report("cuda_gpu_mem_time_sum", TABLE_CSV, NULL, 0,
		"Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"
		"63.2,300,2,150.0,150.0,50,250,141.4,[CUDA memcpy Host-to-Device]\n"
		"31.6,150,1,150.0,150.0,150,150,0.0,[CUDA memcpy Device-to-Host]\n"
		"5.3,25,1,25.0,25.0,25,25,0.0,[CUDA memset]\n");
}

TEST(copies_and_sets_are_summed_by_size)
{
	/* 4194304 and 1500: mean 2097902, deviation (4194304 - 1500) / sqrt(2) = 2964760.1 */
	check_report("cuda_gpu_mem_size_sum", TABLE_CSV, NULL, 0,
		"Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n"
		"4.196,2,2.098,2.098,0.002,4.194,2.965,[CUDA memcpy Host-to-Device]\n"
		"0.004,1,0.004,0.004,0.004,0.004,0.000,[CUDA memset]\n"
		"0.001,1,0.001,0.001,0.001,0.001,0.000,[CUDA memcpy Device-to-Host]\n");
}

TEST(ranges_are_summed_by_domain_and_message_without_start_end_ranges)
{
	/* step 1000, 500, 3000: mean 1500, deviation sqrt((500^2 + 1000^2 + 1500^2) / 2) = 1322.88 */
	check_report("nvtx_pushpop_sum", TABLE_CSV, NULL, 0,
		"Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Range\n"
		"86.5,4500,3,1500.0,1000.0,500,3000,1322.9,:step\n"
		"13.5,700,1,700.0,700.0,700,700,0.0,loader:fetch\n");
}

TEST(the_gpu_trace_lists_everything_by_start_and_unknown_cells_are_empty)
{
	check_report(
		"cuda_gpu_trace", TABLE_CSV, NULL, 0,
		"Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes "
		"(MB),"
		"Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
		",,15,4,2,1,256,1,1,32,0.001,0.000,,,,,Simulated GPU (0),1,,7,\"vecadd(float*, float*, int)\"\n"
		"2000,100,11,4,2,1,256,1,1,32,0.001,0.000,,,,,Simulated GPU (0),1,,7,\"vecadd(float*, float*, int)\"\n"
		"2000,300,11,,,,,,,,,,,,,,? (0),1,,7,\"vecadd(float*, float*, int)\"\n"
		"2100,200,12,4,2,1,256,1,1,32,0.001,0.000,,,,,Simulated GPU (0),1,,7,\"vecadd(float*, float*, int)\"\n"
		"2300,3000,12,,,,,,,,,,,,,,? (0),1,,7,\"void ns::gemm<float, 4>(float*)\"\n"
		"2600,50,14,,,,,,,,,,4.194,83886080.000,Pageable,Device,Simulated GPU (0),1,,7,[CUDA memcpy "
		"Host-to-Device]\n"
		"3000,1000,13,4,2,1,256,1,1,32,0.001,0.000,,,,,Simulated GPU (0),1,,7,\"void ns::gemm<float, "
		"4>(float*)\"\n"
		"4000,400,16,4,2,1,256,1,1,32,0.001,0.000,,,,,Simulated GPU (0),1,,8,\"vecadd(float*, float*, int)\"\n"
		"5000,150,17,,,,,,,,,,0.001,6666.667,Device,Pinned,Simulated GPU (0),1,,7,[CUDA memcpy "
		"Device-to-Host]\n"
		"5200,250,18,,,,,,,,,,0.002,6000.000,Pageable,Device,Simulated GPU (0),1,,7,[CUDA memcpy "
		"Host-to-Device]\n"
		"6000,25,19,,,,,,,,,,0.004,163840.000,Device,,Simulated GPU (0),1,,7,[CUDA memset]\n"
		"9000,50,13,,,,,,,,,,,,,,? (0),1,,7,?17\n");
}

TEST(processes_are_listed_with_what_is_recorded_of_each)
{
	check_report("processes", TABLE_CSV, NULL, 0,
		"process,pid,parent,rank,start_ns,end_ns,wall_ns,cpu_ns,api_calls,kernels,copies,ranges,marks,samples,dropped,ended,state,name\n"
		"1,100,,0,1,10000,9999,,4,5,3,4,0,,0,,connected nvtx cuda cupti ended clean,python3\n"
		"2,200,1,,500,9500,9000,,2,3,0,1,0,,0,,connected cuda cupti ended,pid 200\n");
}

TEST(tables_have_human_units_and_notes_below)
{
	check_report("cuda_gpu_kern_sum:base", TABLE_TEXT, NULL, 2,
		" ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n"
		"\n"
		" Time (%)  Total Time  Instances       Avg       Med       Min       Max    StdDev  Name\n"
		" --------  ----------  ---------  --------  --------  --------  --------  --------  ------\n"
		"     79.2    4.000 us          2  2.000 us  2.000 us  1.000 us  3.000 us  1.414 us  gemm\n"
		"     19.8    1.000 us          5    250 ns    250 ns    100 ns    400 ns  129.1 ns  vecadd\n"
		"\n"
		"  rows without a time, because CUPTI gave none: 1; they count as rows, but in no time\n"
		"  Time (%): share of the sum over all rows, also those not shown\n"
		"  rows not shown: 1; --limit 0 shows all\n");
}

TEST(json_is_an_array_of_rows_and_unknown_is_null)
{
	check_report("cuda_gpu_trace", TABLE_JSON, "corrid:asc", 1,
		     "[\n"
		     " {\"Start (ns)\": 2000, \"Duration (ns)\": 100, \"CorrId\": 11, \"GrdX\": 4, \"GrdY\": 2, "
		     "\"GrdZ\": 1, \"BlkX\": 256,"
		     " \"BlkY\": 1, \"BlkZ\": 1, \"Reg/Trd\": 32, \"StcSMem (MB)\": 0.001, \"DymSMem (MB)\": 0.000, "
		     "\"Bytes (MB)\": null,"
		     " \"Throughput (MB/s)\": null, \"SrcMemKd\": null, \"DstMemKd\": null, \"Device\": \"Simulated "
		     "GPU (0)\", \"Ctx\": 1,"
		     " \"GreenCtx\": null, \"Strm\": 7, \"Name\": \"vecadd(float*, float*, int)\"}\n"
		     "]\n");
}

TEST(an_empty_report_says_why)
{
	struct making k;
	struct model *m;
	char *got;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_PRELOADED | PROCESS_CUDA });
	make_health(&k, 1, 11, 1, "looked for libcupti.so.13");
	make_end(&k);
	m = model_open(k.path, NULL);
	CHECK(m != NULL);
	got = report_text(m, "cuda_gpu_kern_sum", TABLE_TEXT, NULL, 0);
	CHECK(strstr(got, "no kernels: libcupti was not found (looked for libcupti.so.13)\n") != NULL);
	free(got);
	got = report_text(m, "health", TABLE_CSV, NULL, 0);
	CHECK_STR(got, "process,pid,reason,count,first_ns,last_ns,what,detail,next\n"
		       "1,100,cupti_missing,1,10,20,libcupti was not found,looked for libcupti.so.13,"
		       "install the package named in the detail or give --cupti-lib=PATH\n");
	free(got);
	got = report_text(m, "processes", TABLE_CSV, NULL, 0);
	CHECK(strstr(got, "1,100,,,1,,9,,,,,0,0,,0,running,cuda,pid 100\n") != NULL);      /* unknown, not 0 */
	free(got);
	model_close(m);
	unmake(&k);
}

TEST(costs_of_ours_and_of_cupti_are_listed_apart)
{
	struct making k;
	struct model *m;
	char *got;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CONNECTED });
	ROWS(&k, 1, cost, { 1000, 1, COST_connect, 0 }, { 2001, 2, COST_flush, 0 });
	ROWS(&k, 1, cost, { 5003, 4, COST_flush, 0 });
	ROWS(&k, 1, overhead, { T0, 70, 1 << 16, 1, 100, 0 }, { T0 + 100, 30, 1 << 16, 1, 100, 0 },
	     { T0, 9, 1, 1, 100, 0 });
	make_end(&k);
	m = model_open(k.path, NULL);
	CHECK(m != NULL);
	got = report_text(m, "overhead", TABLE_CSV, NULL, 0);
	CHECK_STR(got, "source,process,pid,count,total_ns,mean_ns,what\n"
		       "gprof,1,100,1,1000,1000,connecting to the collector\n"
		       "gprof,1,100,4,5003,1251,periodic flush of CUPTI (gprof-run's thread)\n"
		       "cupti,1,100,1,9,9,driver compiler\n"
		       "cupti,1,100,2,100,50,buffer flush\n");
	free(got);
	got = report_text(m, "overhead", TABLE_TEXT, NULL, 0);
	CHECK(strstr(got, "sum on the program's threads: 1.00 us: ") != NULL);  /* without flushes, as the page has it */
	free(got);
	model_close(m);
	unmake(&k);
}

TEST(a_trace_still_being_written_is_read)
{
	struct making k;
	struct model *m;
	char *got;

	make_begin(&k);
	make_string(&k, 1, 1, "k");
	ROWS(&k, 1, kernel, { T0, 10, 0, 1, 1, 0, 1, 7, 1, 0, 0 });
	make_abandon(&k);
	m = model_open(k.path, NULL);
	CHECK(m != NULL);
	got = report_text(m, "cuda_gpu_kern_sum", TABLE_CSV, NULL, 0);
	CHECK(strstr(got, "\n100.0,10,1,10.0,10.0,10,10,0.0,k\n") != NULL);
	free(got);
	model_close(m);
	unmake(&k);
}

static bool has_percentages(const struct report *r)
{
	for (size_t i = 0; i < r->n_columns; i++) {
		const char *name = r->columns[i].name;
		size_t n = strlen(name);

		if (strstr(name, "(%)") || (n > 4 && strcmp(name + n - 4, "_pct") == 0))
			return true;
	}
	return false;
}

TEST(every_own_report_with_percentages_says_of_what_they_are)
{
	for (size_t i = 0; i < n_reports; i++) {
		const struct report *r = reports[i];

		if (strncmp(r->name, "hta_", 4) == 0 || strncmp(r->name, "tb_", 3) == 0)
			continue;
		if (!CHECK_EQ(r->share != NULL, has_percentages(r)))
			printf("  %s\n", r->name);
	}
}

/* Neither nsys, nor HTA, nor TensorBoard has it. */
static bool is_own(size_t i)
{
	return strncmp(report_group(i), "Compatibility", 13) != 0;
}

static bool is_snake_case(const char *name)
{
	return *name >= 'a' && *name <= 'z' && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

TEST(columns_of_own_reports_are_snake_case_and_a_share_names_its_base)
{
	for (size_t i = 0; i < n_reports; i++)
		for (size_t c = 0; is_own(i) && c < reports[i]->n_columns; c++) {
			const char *name = reports[i]->columns[c].name;

			if (!CHECK(is_snake_case(name) && strcmp(name, "pct") != 0))
				printf("  %s: %s\n", reports[i]->name, name);
		}
}

/* Whether a name has the unit of its numbers at its end; bytes and flops are units themselves. */
static bool has_unit(const char *name)
{
	static const char *const units[] = { "_ns", "_pct", "_bytes", "_mb", "_mhz", "_per_s" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (n > strlen(units[i]) && strcmp(name + n - strlen(units[i]), units[i]) == 0)
			return true;
	return strcmp(name, "bytes") == 0 || strcmp(name, "flops") == 0;
}

TEST(numbers_of_own_reports_are_of_the_unit_in_their_name_or_are_counts)
{
	/* Columns that count something, and statistics of such counts. */
	static const char counts[] =
		"allocations api_calls blocks_per_sm calls collectives control_count copies count diff_count dropped frees gpu_rows "
		"instances kernels last late launches marks max mean median names native_samples operators p95 python_samples "
		"queue_length ranges registers_per_thread releases samples segments self_samples short_kernels slow_calls sm_count steps "
		"test_count total_samples waves";

	for (size_t i = 0; i < n_reports; i++)
		for (size_t c = 0; is_own(i) && c < reports[i]->n_columns; c++) {
			const struct heading *h = &reports[i]->columns[c];

			if (!(h->flags & (COLUMN_TEXT | COLUMN_ID)) && !CHECK(has_unit(h->name) || words_have(counts, h->name)))
				printf("  %s: %s\n", reports[i]->name, h->name);
		}
}

static bool has_heading(const struct report *r, const char *name, size_t n)
{
	char heading[CELL_ROOM];

	for (size_t c = 0; c < r->n_columns; c++) {
		heading_text(heading, r->columns[c].name);
		if (strlen(heading) == n && strncmp(heading, name, n) == 0)
			return true;
	}
	return false;
}

/* A name without blanks before the colon is a column; other lines are sentences. */
TEST(own_reports_define_columns_that_they_have)
{
	for (size_t i = 0; i < n_reports; i++) {
		const char *line = report_definitions(reports[i]);

		if (is_own(i) && !CHECK(line != NULL))
			printf("  %s\n", reports[i]->name);
		for (; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
			size_t names = strcspn(line, ":\n");

			for (size_t at = 0, n; line[names] == ':' && at < names; at += n + strspn(line + at + n, ", ")) {
				n = strcspn(line + at, ",:");
				if (!memchr(line + at, ' ', n) && !CHECK(has_heading(reports[i], line + at, n)))
					printf("  %s: %.*s\n", reports[i]->name, (int)n, line + at);
			}
		}
	}
}

TEST(the_base_of_percentages_stands_below_a_table_alone)
{
	struct making k;
	struct model *m;
	char *text, *csv;

	make_two_processes(&k);
	m = model_open(k.path, NULL);
	if (!CHECK(m != NULL))
		return;
	text = report_text(m, "cuda_gpu_kern_sum", TABLE_TEXT, NULL, 0);
	csv = report_text(m, "cuda_gpu_kern_sum", TABLE_CSV, NULL, 0);
	CHECK(strstr(text, "\n  Time (%): share of the sum over all rows, also those not shown\n") != NULL);
	CHECK(strstr(csv, "share") == NULL);
	free(text);
	free(csv);
	model_close(m);
	unmake(&k);
}
