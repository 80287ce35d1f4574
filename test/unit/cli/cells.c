#include "cli/ui/cells.h"

#include "cli/ui/table.h"
#include "test/unit/test.h"

#include <stdlib.h>

static void check_number(const char *column, struct cell c, const char *want)
{
	const struct heading heading = { column, 0 };
	char got[CELL_ROOM];

	got[cell_number(got, &c, &heading)] = '\0';
	CHECK_STR(got, want);
}

TEST(times_have_four_digits_and_the_unit_that_suits_them)
{
	check_number("wall_ns", NUMBER(0), "0");
	check_number("wall_ns", NUMBER(7), "7 ns");
	check_number("wall_ns", NUMBER(999), "999 ns");
	check_number("wall_ns", NUMBER(1000), "1.000 us");
	check_number("wall_ns", NUMBER(12345), "12.35 us");
	check_number("Total Time (ns)", NUMBER(5612499), "5.612 ms");
	check_number("wall_ns", NUMBER(999949), "999.9 us");
	check_number("wall_ns", NUMBER(999950), "1.000 ms");
	check_number("wall_ns", NUMBER(1234567890123), "1,235 s");
	check_number("diff_ns", NUMBER(-2500000), "-2.500 ms");
	check_number("wall_ns", NUMBER(INT64_MAX), "9,223,372,037 s");
	check_number("Avg (ns)", FIXED(1291, 1), "129.1 ns");
	check_number("Avg (ns)", FIXED(20000, 1), "2.000 us");
	check_number("Avg (ns)", FIXED(9999, 1), "999.9 ns");
}

TEST(points_in_time_keep_microseconds)
{
	check_number("start_ns", NUMBER(1234567890), "1,234.568 ms");
	check_number("Start (ns)", NUMBER(500), "0.001 ms");
	check_number("peak_at_ns", NUMBER(-1500), "-0.002 ms");
	check_number("flat_ns", NUMBER(1500), "1.500 us");
}

TEST(sizes_counts_and_rates_are_for_people_too)
{
	check_number("bytes", NUMBER(999), "999 B");
	check_number("peak_bytes", NUMBER(12345678), "12.35 MB");
	check_number("Total (MB)", FIXED(4, 3), "4.000 kB");
	check_number("Total (MB)", FIXED(1234567, 3), "1.235 GB");
	check_number("peak_mb", FIXED(1234567, 3), "1.235 GB");
	check_number("flops", NUMBER(6006000000000), "6.006 T");
	check_number("launches", NUMBER(1234567), "1,234,567");
	check_number("gb_per_s", FIXED(1234567, 4), "123.5");
	check_number("idle_pct", FIXED(841, 1), "84.1");
	check_number("idle_pct", FIXED(1000, 1), "100.0");
}

TEST(headings_leave_out_the_unit_that_the_cells_have)
{
	static const char *const names[][2] = {
		{ "wall_ns", "wall" }, { "Total Time (ns)", "Total Time" }, { "peak_bytes", "peak" }, { "bytes", "bytes" },
		{ "Total (MB)", "Total" }, { "peak_mb", "peak" }, { "idle_pct", "idle_pct" }, { "Time (%)", "Time (%)" }, { "flops", "flops" },
	};
	char got[CELL_ROOM];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		heading_text(got, names[i][0]);
		CHECK_STR(got, names[i][1]);
	}
}

static void check_fold(const char *name, size_t width, bool fits, const char *want)
{
	char got[256];

	CHECK_EQ(name_fold(got, sizeof got, name, width), fits);
	CHECK_STR(got, want);
}

TEST(long_names_are_folded_from_the_inside)
{
	static const char name[] = "void at::native::elementwise<4, at::native::Fill<std::array<char*, 1ul> > >(int, at::native::Fill<float>)";

	check_fold(name, 200, true, name);
	check_fold(name, 90, true, "void at::native::elementwise<4, at::native::Fill<std::array<char*, 1ul> > >(...)");
	check_fold(name, 75, true, "void at::native::elementwise<4, at::native::Fill<std::array<...> > >(...)");
	check_fold(name, 60, true, "void at::native::elementwise<4, at::native::Fill<...> >(...)");
	check_fold(name, 40, true, "void at::native::elementwise<...>(...)");
	check_fold(name, 30, true, "at::native::elementwise<...>");
	check_fold(name, 20, false, "at::native::elementwise");
	check_fold("(anonymous namespace)::reduce(float*, int)", 38, true, "(anonymous namespace)::reduce(...)");
	check_fold("cutlass::Kernel2<cutlass_80_tensorop_128x2_tn>(Params)", 40, false, "cutlass::Kernel2<cutlass_80_tensorop_128x2_tn>");
	check_fold("a < b and (never closed", 10, false, "a < b and (never closed");
	check_fold("Comparison operator<(Something const&)", 30, true, "Comparison operator<(...)");
}

TEST(a_place_keeps_its_file_and_line)
{
	static const char place[] = "train_one_epoch (/home/me/examples/train.py:30)";

	check_fold(place, 47, true, place);
	check_fold(place, 46, true, "train_one_epoch (\xe2\x80\xa6/me/examples/train.py:30)");
	check_fold(place, 41, true, "train_one_epoch (\xe2\x80\xa6/examples/train.py:30)");
	check_fold(place, 31, true, "train_one_epoch (\xe2\x80\xa6/train.py:30)");
	check_fold(place, 30, true, "train_one_epoch (train.py:30)");
	check_fold(place, 24, true, "train_one\xe2\x80\xa6 (train.py:30)");
	check_fold(place, 20, true, "train\xe2\x80\xa6 (train.py:30)");
	check_fold(place, 19, false, place);
	check_fold("reduce<float, 4>(float*, int) (a/b/c/reduce.cu:7)", 30, true, "reduce<...>(...) (reduce.cu:7)");
	check_fold("call_function (/tmp/Python-3.11.7/Modules/callproc.c)", 40, true, "call_function (\xe2\x80\xa6/Modules/callproc.c)");
	check_fold("Memcpy HtoD (Pinned -> Device)", 20, false, "Memcpy HtoD (Pinned -> Device)");
}

TEST(a_chain_of_programs_keeps_the_last_one)
{
	check_fold("  env -> bash -> conda -> python3", 33, true, "  env -> bash -> conda -> python3");
	check_fold("  env -> bash -> conda -> python3", 31, true, "  env -> bash -> \xe2\x80\xa6 -> python3");
	check_fold("  env -> bash -> conda -> python3", 28, true, "  env -> \xe2\x80\xa6 -> python3");
	check_fold("  env -> bash -> conda -> python3", 20, true, "  \xe2\x80\xa6 -> python3");
	check_fold("  env -> bash -> conda -> python3", 10, true, "python3");
}

/* The text of one row of five columns and a note in so many characters. */
static char *fitted(unsigned width, bool full_names)
{
	static const struct heading five[] = {
		{ "step", COLUMN_ID | COLUMN_KEY }, { "start_ns", COLUMN_RARE }, { "wall_ns", COLUMN_KEY }, { "busy_ns", 0 },
		{ "name", COLUMN_TEXT },
	};
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct tables all = { .out = &out, .format = TABLE_TEXT, .width = width, .full_names = full_names };
	struct table t;

	CHECK_EQ(out_init(&out, file), 0);
	CHECK_EQ(table_begin(&t, &all, "five", "Five", five, 5), 0);
	table_row(&t, (const struct cell[]){ NUMBER(1), NUMBER(1000000), NUMBER(5000000), NUMBER(4000000),
		  TEXT("a_kernel_with_a_name<of_forty, characters>(int)") });
	table_note(&t, "a note that is longer than forty characters is continued below");
	CHECK_EQ(table_end(&t), 0);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	return text;
}

static void check_fitted(unsigned width, bool full_names, const char *want)
{
	char *got = fitted(width, full_names);

	CHECK_STR(got, want);
	free(got);
}

TEST(a_table_leaves_out_columns_until_it_fits)
{
	check_fitted(0, false,
		     " ** Five (five):\n\n"
		     " step     start      wall      busy  name\n"
		     " ----  --------  --------  --------  -----------------------------------------------\n"
		     "    1  1.000 ms  5.000 ms  4.000 ms  a_kernel_with_a_name<of_forty, characters>(int)\n"
		     "\n  a note that is longer than forty characters is continued below\n");
	check_fitted(57, false,
		     " ** Five (five):\n\n"
		     " step      wall      busy  name\n"
		     " ----  --------  --------  ------------------------------\n"
		     "    1  5.000 ms  4.000 ms  a_kernel_with_a_name<...>(int)\n"
		     "\n  a note that is longer than forty characters is\n    continued below\n"
		     "  long names are shortened; --full-names shows them whole\n"
		     "  columns not shown: start; --wide shows them\n");
}

TEST(full_names_may_be_wider_than_the_terminal)
{
	char *got = fitted(60, true);

	CHECK(strstr(got, "  a_kernel_with_a_name<of_forty, characters>(int)\n") != NULL);
	free(got);
}

/* Rows of a report about processes, in so many characters. */
static char *of_processes(unsigned width, uint32_t second, bool rows)
{
	static const struct heading six[] = {
		{ "step", COLUMN_ID | COLUMN_KEY }, { "rank", COLUMN_ID }, { "process", COLUMN_ID | COLUMN_WHO }, { "source", COLUMN_TEXT | COLUMN_PLAIN },
		{ "wall_ns", COLUMN_KEY }, { "kernels", 0 },
	};
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct tables all = { .out = &out, .format = TABLE_TEXT, .width = width };
	struct table t;

	CHECK_EQ(out_init(&out, file), 0);
	CHECK_EQ(table_begin(&t, &all, "six", "Six", six, 6), 0);
	for (uint32_t i = 0; rows && i < 2; i++)
		table_row(&t, (const struct cell[]){ NUMBER(i), UNKNOWN, NUMBER(i ? second : 1), TEXT("\tx = f(a, b) + 1"), NUMBER(5000000), NUMBER(4) });
	if (!rows)
		table_note(&t, "no rows");
	CHECK_EQ(table_end(&t), 0);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	return text;
}

static void check_processes(unsigned width, uint32_t second, bool rows, const char *want)
{
	char *got = of_processes(width, second, rows);

	CHECK_STR(got, want);
	free(got);
}

TEST(columns_without_a_value_go_first_and_whose_row_it_is_stays)
{
	check_processes(120, 1, true, " ** Six (six):\n\n"
			" step  rank  process  source               wall  kernels\n"
			" ----  ----  -------  ---------------  --------  -------\n"
			"    0     -        1  x = f(a, b) + 1  5.000 ms        4\n"
			"    1     -        1  x = f(a, b) + 1  5.000 ms        4\n");
	check_processes(52, 1, true, " ** Six (six):\n\n"
			" step  process  source               wall  kernels\n"
			" ----  -------  ---------------  --------  -------\n"
			"    0        1  x = f(a, b) + 1  5.000 ms        4\n"
			"    1        1  x = f(a, b) + 1  5.000 ms        4\n"
			"\n  columns not shown: rank; --wide shows them\n");
	check_processes(44, 1, true, " ** Six (six):\n\n"
			" step  source               wall  kernels\n"
			" ----  ---------------  --------  -------\n"
			"    0  x = f(a, b) + 1  5.000 ms        4\n"
			"    1  x = f(a, b) + 1  5.000 ms        4\n"
			"\n  columns not shown: rank, process; --wide\n    shows them\n");
	check_processes(44, 2, true, " ** Six (six):\n\n"
			" step  process  source               wall\n"
			" ----  -------  ---------------  --------\n"
			"    0        1  x = f(a, b) + 1  5.000 ms\n"
			"    1        2  x = f(a, b) + 1  5.000 ms\n"
			"\n  columns not shown: rank, kernels; --wide\n    shows them\n");
	check_processes(30, 2, false, " ** Six (six):\n\n  no rows\n");
}
