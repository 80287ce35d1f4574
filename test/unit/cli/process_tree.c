/* The tree of processes; processes that recorded nothing are folded into one row. */
#include "cli/report/session/process_tree.h"

#include "cli/model/process.h"
#include "cli/report/session/wrappers.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define MOST 4096

static uint32_t in_lines(const struct process_tree *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_lines; i++)
		n += t->lines[i].n;
	return n;
}

/* The line of a process; its members are images of these numbers. */
static const struct tree_line *line_of(const struct process_tree *t, uint32_t number)
{
	for (uint32_t i = 0; i < t->n_lines; i++)
		for (uint32_t k = 0; k < t->lines[i].n; k++)
			if (t->members[t->lines[i].first + k] == number)
				return &t->lines[i];
	return NULL;
}

/*
 * 1 sh starts 2 python3, which uses CUDA and forks workers 3, 4 (which record nothing) and 5 (a range); 6 sh starts 7 git; 8 becomes 9 by
 * exec.  10 has a parent that is not in the trace; 11 has the pid of 7 again.
 * 12 sh recorded nothing, but its child 13 did.
 */
static struct model *family(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process,
	     { T0 + 1, T0 + 90, 1, 100, 100, 50, 0, PROCESS_ENDED },
	     { T0 + 5, T0 + 80, 2, 101, 101, 100, 1, PROCESS_ENDED | PROCESS_CONNECTED | PROCESS_CUDA },
	     { T0 + 7, T0 + 20, 3, 102, 102, 101, 2, PROCESS_ENDED | PROCESS_FORKED | PROCESS_CONNECTED },   /* and said nothing */
	     { T0 + 6, T0 + 30, 4, 103, 103, 101, 2, PROCESS_ENDED | PROCESS_FORKED },
	     { T0 + 8, T0 + 40, 5, 104, 104, 101, 2, PROCESS_ENDED | PROCESS_FORKED | PROCESS_CONNECTED },
	     { T0 + 2, T0 + 9, 6, 105, 105, 100, 1, PROCESS_ENDED },
	     { T0 + 3, T0 + 4, 7, 106, 106, 105, 6, PROCESS_ENDED },
	     { T0 + 10, T0 + 12, 8, 107, 107, 100, 1, PROCESS_ENDED | PROCESS_EXECED },
	     { T0 + 12, T0 + 15, 9, 107, 107, 100, 0, PROCESS_ENDED },
	     { T0 + 50, T0 + 60, 10, 200, 200, 199, 77, PROCESS_ENDED },
	     { T0 + 70, T0 + 71, 11, 106, 106, 100, 1, PROCESS_ENDED },
	     { T0 + 72, T0 + 79, 12, 108, 108, 100, 1, PROCESS_ENDED },
	     { T0 + 73, T0 + 78, 13, 109, 109, 108, 12, PROCESS_ENDED | PROCESS_CONNECTED });
	ROWS(k, 0, ending, { 60, 7, 1, 0, 0 }, { 30, 6, 1, 3, 0 }, { 5, 9, 1, 0, 0 });
	for (uint32_t i = 1; i <= 13; i++)
		make_attribute(k, i, i == 7 ? "name=git" : i == 2 || i == 3 || i == 4 || i == 5 ? "name=python3" : "name=sh");
	ROWS(k, 5, mark, { .start = T0 + 10 });
	ROWS(k, 13, mark, { .start = T0 + 75 });
	make_health(k, 6, 41, 1, "no answer");
	make_health(k, 7, 41, 2, "no answer");
	make_health(k, 5, 41, 3, "no answer");
	make_health(k, 10, 45, 4, "");
	make_end(k);
	return model_open(k->path, NULL);
}

TEST(processes_that_recorded_nothing_are_one_line_for_each_parent)
{
	struct making k;
	struct model *m = family(&k);
	struct process_tree t;

	CHECK_EQ(process_tree_make(&t, m, true), 0);
	CHECK_EQ(in_lines(&t), model_n_processes(m));
	CHECK_EQ(t.n_lines, 8);
	CHECK_EQ(line_of(&t, 1)->n, 1);
	CHECK_EQ(line_of(&t, 1)->depth, 0);
	CHECK_EQ(line_of(&t, 6)->n, 4);                 /* 6 with its child 7, 8, 11 */
	CHECK_EQ(line_of(&t, 6)->depth, 1);
	CHECK(line_of(&t, 6) == line_of(&t, 7) && line_of(&t, 6) == line_of(&t, 8) && line_of(&t, 6) == line_of(&t, 11));
	CHECK_EQ(line_of(&t, 3)->n, 2);
	CHECK(line_of(&t, 3) == line_of(&t, 4));
	CHECK(line_of(&t, 3) < line_of(&t, 5));         /* started first */
	CHECK_EQ(line_of(&t, 5)->depth, 2);
	CHECK_EQ(line_of(&t, 12)->n, 1);
	CHECK_EQ(line_of(&t, 13)->n, 1);
	CHECK(line_of(&t, 13) == line_of(&t, 12) + 1);
	CHECK_EQ(line_of(&t, 10)->depth, 0);
	CHECK(line_of(&t, 10) == &t.lines[7]);
	process_tree_release(&t);
	model_close(m);
	unmake(&k);
}

TEST(without_folding_each_process_has_a_line_behind_its_parent_in_the_order_of_starts)
{
	static const uint32_t want[] = { 1, 6, 7, 2, 4, 3, 5, 8, 11, 12, 13, 10 };
	struct making k;
	struct model *m = family(&k);
	struct process_tree t;

	CHECK_EQ(process_tree_make(&t, m, false), 0);
	CHECK_EQ(t.n_lines, sizeof want / sizeof *want);
	for (uint32_t i = 0; i < t.n_lines; i++)
		CHECK_EQ(t.members[t.lines[i].first], want[i]);
	process_tree_release(&t);
	model_close(m);
	unmake(&k);
}

TEST(the_table_of_processes_is_a_tree_and_csv_has_every_row)
{
	struct making k;
	struct model *m = family(&k);
	char *text = report_text(m, "processes", TABLE_TEXT, NULL, 0), *all = report_text(m, "processes:all", TABLE_TEXT, NULL, 0),
	     *sorted = report_text(m, "processes", TABLE_TEXT, "pid", 0), *csv = report_text(m, "processes", TABLE_CSV, NULL, 0);
	size_t lines = 0;

	CHECK(text && strstr(text, "  sh\n") && strstr(text, "    3 sh, 1 git, recorded nothing\n"));
	CHECK(text && strstr(text, "    python3\n") && strstr(text, "      2 python3, recorded nothing\n"));
	CHECK(text && strstr(text, "2 exit 0, 1 exit 3, 1 unknown"));
	CHECK(text && strstr(text, "folded: 6 processes that recorded nothing, in 2 rows; gprof-trace report -r processes --all lists each\n"));
	CHECK(all && strstr(all, "    sh -> sh\n") && strstr(all, "      git\n") && !strstr(all, "recorded nothing"));
	CHECK(text && strstr(text, "connected cuda ended      python3\n"));
	CHECK(sorted && strstr(sorted, "connected cuda ended    python3\n") && strstr(sorted, "  3 sh, 1 git, recorded nothing\n"));
	for (const char *c = csv; c && *c; c++)
		lines += *c == '\n';
	CHECK_EQ(lines, 13);
	CHECK(csv && strstr(csv, "\n7,106,6,,3,4,1,60,0,0,0,0,0,,0,exit 0,ended,git\n"));
	free(text);
	free(all);
	free(sorted);
	free(csv);
	model_close(m);
	unmake(&k);
}

TEST(a_reason_of_several_processes_that_recorded_nothing_is_one_row)
{
	struct making k;
	struct model *m = family(&k);
	char *text = report_text(m, "health", TABLE_TEXT, NULL, 0), *all = report_text(m, "health:all", TABLE_TEXT, NULL, 0),
	     *csv = report_text(m, "health", TABLE_CSV, NULL, 0);
	const char *row = text ? strstr(text, "refused") : NULL;

	CHECK(text && strstr(text, "       -    -  refused             3  "));
	CHECK(text && strstr(text, "detail: of 2 processes that recorded nothing (1 git, 1 sh): no answer\n"));
	CHECK(text && strstr(text, "       5  104  refused             3  "));
	CHECK(text && strstr(text, "      10  200  env_unreadable      4  "));
	CHECK(row && (row = strstr(row + 1, "refused")) && !strstr(row + 1, "refused"));
	CHECK(all && strstr(all, "       6  105  refused") && strstr(all, "       7  106  refused") && !strstr(all, "folded"));
	CHECK(csv && strstr(csv, "\n6,105,refused,1,") && strstr(csv, "\n7,106,refused,2,"));
	free(text);
	free(all);
	free(csv);
	model_close(m);
	unmake(&k);
}

/* MOST processes; parents[i] is the parent of process i + 1. */
static void check_parents(const uint32_t *parents, uint32_t lines)
{
	static struct process_row rows[MOST];
	struct making k;
	struct model *m;
	struct process_tree t;
	uint32_t last = 0;
	char *text;

	make_begin(&k);
	for (uint32_t i = 0; i < MOST; i++)
		rows[i] = (struct process_row){ .start = T0 + 1 + i, .number = i + 1, .pid = i + 1, .host_pid = i + 1, .parent = parents[i] };
	make_rows(&k, 0, ROW_process, rows, MOST);
	m = make_model(&k);
	CHECK_EQ(process_tree_make(&t, m, false), 0);
	CHECK_EQ(t.n_lines, MOST);
	CHECK_EQ(in_lines(&t), MOST);
	for (uint32_t i = 0; i < t.n_lines; i++) {
		CHECK(t.lines[i].depth <= last + (i > 0));
		last = t.lines[i].depth;
	}
	process_tree_release(&t);
	CHECK_EQ(process_tree_make(&t, m, true), 0);
	CHECK_EQ(t.n_lines, lines);
	CHECK_EQ(in_lines(&t), MOST);
	process_tree_release(&t);
	text = report_text(m, "processes:all", TABLE_TEXT, NULL, 0);
	CHECK(text && strstr(text, "  pid 1\n") && strstr(text, "  pid 4096\n"));       /* deep ones too: they are not indented without end */
	free(text);
	unmake_model(&k, m);
}

TEST(each_process_is_in_one_line_whatever_the_parents_are)
{
	static uint32_t parents[MOST];

	for (uint32_t i = 0; i < MOST; i++)
		parents[i] = i ? 1 : 0;
	check_parents(parents, 2);                      /* one parent of all */
	for (uint32_t i = 0; i < MOST; i++)
		parents[i] = i;
	check_parents(parents, 2);                      /* a chain */
	for (uint32_t i = 0; i < MOST; i++)
		parents[i] = i + 1;
	check_parents(parents, 2);                      /* each its own parent */
	for (uint32_t i = 0; i < MOST; i++)
		parents[i] = i + 2 <= MOST ? i + 2 : 1;
	check_parents(parents, 2);                      /* one cycle */
	for (uint32_t i = 0; i < MOST; i++)
		parents[i] = (i ^ 1u) + 1;
	check_parents(parents, 3);                      /* pairs, each the other's parent; 2 is alone under 1 */
	for (uint32_t i = 0; i < MOST; i++)
		parents[i] = 1000000 + i;
	check_parents(parents, 2);                      /* none in the trace */
}

TEST(of_many_names_the_four_most_frequent_are_told)
{
	static const char *const names[] = { "sh", "git", "sh", "awk", "sed", "ls", "sh", "git" };
	struct tally t = { 0 };
	char text[64];

	tally_text(&t, text, sizeof text);
	CHECK_STR(text, "");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK_EQ(tally_add(&t, names[i]), 0);
	tally_text(&t, text, sizeof text);
	CHECK_STR(text, "3 sh, 2 git, 1 awk, 1 ls, ...");
	tally_text(&t, text, 8);
	CHECK_STR(text, "3 sh, 2");
	tally_release(&t);
}
