/* Reports of unified memory, on hand-written rows. */
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define U(when, kind_, address_, ...) { .start = (when) ? T0 + (when) : 0, .kind = (kind_), .address = (address_), __VA_ARGS__ }

/* Two processes that use the same addresses; a transfer without a time; one between devices; instructions that fault more than once. */
static char *unified(const char *report, enum table_format format, bool gpu_faults)
{
	struct making k;
	struct model *m;
	char *text = NULL;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA | PROCESS_CUPTI },
	     { T0 + 1, 0, 2, 200, 200, 1, 0, PROCESS_CUDA | PROCESS_CUPTI });
	make_attribute(&k, 0, "setting.um_cpu_faults=1");
	if (gpu_faults)
		make_attribute(&k, 0, "setting.um_gpu_faults=1");
	ROWS(&k, 1, unified, U(1000, 1, 0x7f0000200000, .duration = 1000, .bytes = 2000000),
	     U(2000, 1, 0x7f0000200000, .duration = 3000, .bytes = 2000000), U(0, 2, 0x7f0000200000, .bytes = 500000),
	     U(3000, 2, 0x7f0000400000, .duration = 100, .bytes = 1000000), U(4000, 3, 0x7f0000401000, .pc = 0x5555),
	     U(4100, 3, 0x7f0000402000, .pc = 0x6666), U(4200, 3, 0x7f0000402000, .pc = 0x6666),
	     U(4300, 8, 0x7f0000800000, .duration = 10, .bytes = 77), U(4400, 5, 0x7f0000200000, .bytes = 4096));
	ROWS(&k, 2, unified, U(1000, 1, 0x7f0000200000, .duration = 500, .bytes = 3000000),
	     U(1000, 4, 0x7f0000200000, .duration = 700, .faults = 9), U(2000, 3, 0x7f0000200000, .pc = 0x6666));
	make_end(&k);
	m = model_open(k.path, NULL);
	if (CHECK(m != NULL))
		text = report_text(m, report, format, NULL, 0);
	model_close(m);
	unmake(&k);
	return text ? text : strdup("");
}

TEST(unified_memory_is_summed_by_page_of_each_process)
{
	char *text = unified("um_sum", TABLE_CSV, true);

	/* 1 MB in 100 ns; 3 MB in 500 ns; 4 MB in 4000 ns, the transfer without a time counts as bytes alone */
	CHECK_STR(text, "Virtual Address,HtoD Migration size (MB),DtoH Migration size (MB),CPU Page Faults,GPU Page Faults,Migration Throughput (MB/s)\n"
			"0x7f0000400000,0.000,1.000,0,0,10000000.000\n"
			"0x7f0000200000,3.000,0.000,1,9,6000000.000\n"
			"0x7f0000200000,4.000,0.500,0,0,1000000.000\n"
			"0x7f0000401000,0.000,0.000,1,0,\n"
			"0x7f0000402000,0.000,0.000,2,0,\n");
	free(text);
}

TEST(unified_memory_is_summed_in_all_and_what_was_not_counted_is_not_zero)
{
	char *text = unified("um_total_sum", TABLE_CSV, true);

	CHECK_STR(strchr(text, '\n') + 1, "7.000,1.500,4,9,0x7f0000200000,0x7f0000402000\n");
	free(text);
	text = unified("um_total_sum", TABLE_CSV, false);
	CHECK_STR(strchr(text, '\n') + 1, "7.000,1.500,4,,0x7f0000200000,0x7f0000402000\n");
	free(text);
	text = unified("um_total_sum", TABLE_TEXT, false);
	CHECK(strstr(text, "from device to device: 1, of 77 bytes") && strstr(text, "thrashing 1 times") &&
	      strstr(text, "page faults of GPUs were not recorded"));
	free(text);
}

TEST(page_faults_of_the_cpu_are_summed_by_instruction)
{
	char *text = unified("um_cpu_page_faults_sum", TABLE_CSV, true);

	CHECK_STR(text, "CPU Page Faults,CPU Instruction Address\n2,0x6666\n1,0x5555\n1,0x6666\n");
	free(text);
}

TEST(transfers_of_unified_memory_are_among_the_copies)
{
	char *text = unified("cuda_gpu_mem_time_sum", TABLE_CSV, true);

	CHECK(strstr(text, ",4500,3,") && strstr(text, "[CUDA memcpy Unified Host-to-Device]"));
	CHECK(strstr(text, "[CUDA memcpy Unified Device-to-Device]") != NULL);
	free(text);
	text = unified("cuda_gpu_trace", TABLE_CSV, true);
	CHECK(strstr(text, "1000,500,,,,,,,,,,,3.000,6000000.000,Managed,Managed,") != NULL);
	free(text);
}
