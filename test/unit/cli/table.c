#include "cli/ui/table.h"
#include "test/unit/test.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "id", COLUMN_ID }, { "Size (MB)", 0 }, { "what", COLUMN_TEXT }, { "more", COLUMN_TEXT | COLUMN_BELOW },
};

static char *print(enum table_format format, const char *sort, bool several)
{
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct tables all = { .out = &out, .format = format, .sort = sort, .several = several, .quiet = true };
	struct table t;

	CHECK_EQ(out_init(&out, file), 0);
	tables_begin(&all);
	for (int i = 0; i < (several ? 2 : 1); i++) {
		if (table_begin(&t, &all, i ? "two" : "one", "Title", columns, 4) < 0)
			break;
		table_row(&t, (const struct cell[]){ NUMBER(12345), FIXED(-1234567, 3), TEXT("plain"), TEXT("") });
		table_row(&t,
			  (const struct cell[]){ NUMBER(7), UNKNOWN, TEXT("com,ma \"quoted\""), TEXT("line\nbreak") });
		table_row(&t,
			  (const struct cell[]){ UNKNOWN, NUMBER(99), TEXT(table_keep(&t, "%d\t\x1b", 3)), UNKNOWN });
		table_note(&t, "a note");
		CHECK_EQ(table_end(&t), 0);
	}
	tables_end(&all);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	return text;
}

static void check_print(enum table_format format, const char *sort, bool several, const char *want)
{
	char *got = print(format, sort, several);

	CHECK_STR(got, want);
	free(got);
}

TEST(csv_quotes_what_needs_it_and_leaves_unknown_empty)
{
	check_print(TABLE_CSV, NULL, false,
		    "id,Size (MB),what,more\n12345,-1234.567,plain,\n7,,\"com,ma "
		    "\"\"quoted\"\"\",\"line\nbreak\"\n,99,3\t\x1b,\n");
}

TEST(json_of_several_tables_is_an_object_of_arrays)
{
#define ROWS "[\n {\"id\": 12345, \"Size (MB)\": -1234.567, \"what\": \"plain\", \"more\": \"\"}," \
	     "\n {\"id\": 7, \"Size (MB)\": null, \"what\": \"com,ma \\\"quoted\\\"\", \"more\": \"line\\nbreak\"}," \
	     "\n {\"id\": null, \"Size (MB)\": 99, \"what\": \"3\\t\\u001b\", \"more\": null}\n]"
	check_print(TABLE_JSON, NULL, true, "{\n\"one\": " ROWS ",\n\"two\": " ROWS "\n}\n");
	check_print(TABLE_JSON, NULL, false, ROWS "\n");
}

TEST(text_is_aligned_and_control_characters_do_not_reach_the_terminal)
{
	check_print(TABLE_TEXT, NULL, false,
		    " ** Title (one):\n\n"
		    "    id       Size  what\n"
		    " -----  ---------  ---------------\n"
		    " 12345  -1.235 GB  plain\n"
		    "     7          -  com,ma \"quoted\"\n"
		    "      more: line?break\n"
		    "     -   99.00 MB  3??\n"
		    "\n  a note\n");
}

TEST(rows_are_sorted_by_any_column_and_unknown_comes_last)
{
	check_print(TABLE_CSV, "size", false,
		    "id,Size (MB),what,more\n,99,3\t\x1b,\n12345,-1234.567,plain,\n7,,\"com,ma "
		    "\"\"quoted\"\"\",\"line\nbreak\"\n");
	check_print(TABLE_CSV, "id:asc", false,
		    "id,Size (MB),what,more\n7,,\"com,ma "
		    "\"\"quoted\"\"\",\"line\nbreak\"\n12345,-1234.567,plain,\n,99,3\t\x1b,\n");
	check_print(TABLE_CSV, "what:desc", false,
		    "id,Size (MB),what,more\n12345,-1234.567,plain,\n7,,\"com,ma "
		    "\"\"quoted\"\"\",\"line\nbreak\"\n,99,3\t\x1b,\n");
}

TEST(a_long_table_is_printed_on_the_way_with_the_same_widths)
{
	static const struct heading one[] = { { "number", 0 } };
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct tables all = { .out = &out, .format = TABLE_TEXT, .limit = 20000 };
	struct table t;

	CHECK_EQ(out_init(&out, file), 0);
	CHECK_EQ(table_begin(&t, &all, "long", "Long", one, 1), 0);
	for (int i = 0; i < 30000; i++)
		table_row(&t, (const struct cell[]){ NUMBER(i) });
	CHECK(t.kept <= 10000);
	CHECK_EQ(table_end(&t), 0);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	CHECK(strstr(text, "\n 19,999\n\n  rows not shown: 10000; --limit 0 shows all\n") != NULL);
	free(text);
}

/* b: whether a row knows it, and none of the columns is wide. */
static void check_sparse(struct cell b, const char *want)
{
	static const struct heading three[] = { { "a", 0 }, { "b", COLUMN_SPARSE }, { "c", COLUMN_TEXT } };
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct tables all = { .out = &out, .format = TABLE_TEXT };
	struct table t;

	CHECK_EQ(out_init(&out, file), 0);
	CHECK_EQ(table_begin(&t, &all, "few", "Few", three, 3), 0);
	table_row(&t, (const struct cell[]){ NUMBER(1), UNKNOWN, TEXT("x") });
	table_row(&t, (const struct cell[]){ NUMBER(2), b, TEXT("y") });
	CHECK_EQ(table_end(&t), 0);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	CHECK_STR(text, want);
	free(text);
}

/* rows: 0 or 1, with a note and definitions of a shown and of a hidden column. */
static void check_defined(enum table_format format, int rows, const char *want)
{
	static const struct heading three[] = { { "wall_ns", 0 }, { "idle_ns", COLUMN_SPARSE }, { "c", COLUMN_TEXT } };
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct tables all = { .out = &out, .format = format, .quiet = true };
	struct table t;

	CHECK_EQ(out_init(&out, file), 0);
	CHECK_EQ(table_begin(&t, &all, "few", "Few", three, 3), 0);
	for (int i = 0; i < rows; i++)
		table_row(&t, (const struct cell[]){ NUMBER(1), UNKNOWN, TEXT("x") });
	table_note(&t, "wall_ns is not my_wall_ns; idle_nsx");
	table_define(&t, "wall, idle: both\nidle: hidden\nc, idle: text");
	CHECK_EQ(table_end(&t), 0);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	CHECK_STR(text, want);
	free(text);
}

TEST(notes_have_the_names_of_headings_and_definitions_those_of_shown_columns)
{
	check_defined(TABLE_TEXT, 1, " ** Few (few):\n\n wall  c\n ----  -\n 1 ns  x\n\n"
		      "  wall is not my_wall_ns; idle_nsx\n  wall, idle: both\n  c, idle: text\n");
	check_defined(TABLE_CSV, 1, "wall_ns,idle_ns,c\n1,,x\n");
}

TEST(an_empty_table_is_the_note_that_says_why)
{
	check_defined(TABLE_TEXT, 0, " ** Few (few):\n\n  wall is not my_wall_ns; idle_nsx\n");
	check_defined(TABLE_CSV, 0, "wall_ns,idle_ns,c\n");
}

TEST(a_column_that_no_row_knows_may_be_left_out)
{
	check_sparse(UNKNOWN, " ** Few (few):\n\n a  c\n -  -\n 1  x\n 2  y\n");
	check_sparse(NUMBER(3), " ** Few (few):\n\n a  b  c\n -  -  -\n 1  -  x\n 2  3  y\n");
}

static char *print_path(const char *path, unsigned width, bool full_names)
{
	static const struct heading two[] = { { "file", COLUMN_TEXT | COLUMN_PATH }, { "line", COLUMN_ID } };
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct tables all = { .out = &out, .width = width, .full_names = full_names, .quiet = true };
	struct table t;

	CHECK_EQ(out_init(&out, file), 0);
	CHECK_EQ(table_begin(&t, &all, "one", "Title", two, 2), 0);
	table_row(&t, (const struct cell[]){ TEXT(path), NUMBER(7) });
	CHECK_EQ(table_end(&t), 0);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	return text;
}

static void path_is(const char *path, unsigned width, bool full_names, const char *want)
{
	char *text = print_path(path, width, full_names), *row = strrchr(text, '\n');

	while (row > text && row[-1] != '\n')
		row--;
	CHECK_STR(row, want);
	free(text);
}

TEST(a_path_that_is_too_long_keeps_its_file_name)
{
	path_is("/home/me/net/parts/model.py", 40, false, " /home/me/net/parts/model.py     7\n");
	path_is("/home/me/net/parts/model.py", 30, false, " \xe2\x80\xa6/me/net/parts/model.py     7\n");
	path_is("/home/me/net/parts/model.py", 29, false, " \xe2\x80\xa6/net/parts/model.py       7\n");
	path_is("/home/me/net/parts/model.py", 30, true, " /home/me/net/parts/model.py     7\n");
	path_is("/home/me/a_very_long_name_of_a_module.py", 24, false, " \xe2\x80\xa6" "e_of_a_module.py     7\n");
}
