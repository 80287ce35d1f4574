#include "collector/roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/test.h"

static bool parse(struct roster_line *l, const char *text)
{
	return roster_parse(l, text, strlen(text));
}

TEST(a_roster_line_is_read_whole)
{
	struct roster_line l;

	CHECK(parse(&l, "R1 c 4711 12 1700000000000000001 my program"));
	CHECK_EQ(l.how, 'c');
	CHECK_EQ(l.pid, 4711);
	CHECK_EQ(l.ppid, 12);
	CHECK_EQ(l.start, 1700000000000000001);
	CHECK_STR(l.name, "my program");
}

TEST(a_roster_line_without_a_name_is_one)
{
	struct roster_line l;

	CHECK(parse(&l, "R1 f 1 0 5 "));
	CHECK_STR(l.name, "");
}

TEST(every_way_into_a_process_is_understood)
{
	static const char hows[] = "cdfFx";
	char line[] = "R1 ? 1 1 1 x";
	struct roster_line l;

	for (const char *how = hows; *how; how++) {
		line[3] = *how;
		CHECK(parse(&l, line));
		CHECK_EQ(l.how, *how);
	}
	line[3] = '\0';
	CHECK(!roster_parse(&l, line, sizeof line - 1));
}

TEST(other_lines_are_none)
{
	static const char *const lines[] = {
		"", "R1", "R1 c", "R2 c 1 1 1 x", "R1 z 1 1 1 x", "R1 c 0 1 1 x", "R1 c 1 1 1", "R1 c -1 1 1 x",
		"R1 c 1 1 x x",
		"R1 c 99999999999 1 1 x", "R1 c 1 1 99999999999999999999 x", "R1 c  1 1 1 x",
		"R1 c 1 1 1 0123456789012345678901234567890123456789012345678901234567890123456789",
	};
	struct roster_line l;

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (!CHECK(!parse(&l, lines[i])))
			printf("  '%s'\n", lines[i]);
}

TEST(a_roster_line_cut_anywhere_is_never_read_past)
{
	static const char line[] = "R1 F 4711 12 1700000000000000001 python3";
	struct roster_line l;

	for (size_t n = 0; n < sizeof line; n++) {
		char *exact = malloc(n + !n);

		memcpy(exact, line, n);
		CHECK_EQ(roster_parse(&l, exact, n), n >= strlen("R1 F 4711 12 1700000000000000001 "));
		free(exact);
	}
}

static int n_seen;

static void seen(void *arg, const struct roster_line *l)
{
	(void)arg;
	CHECK_EQ(l->pid, 10 + n_seen);
	n_seen++;
}

TEST(lines_split_between_two_reads_are_joined_and_rubbish_is_counted)
{
	static const char *const parts[] = { "R1 c 10 1 5 a\nR1 c 1", "1 1 5 b\n", "rubbish\nR1 c 12 1 5 c\n" };
	char folder[] = "/tmp/gprof-unit-XXXXXX", path[64];
	struct roster r = ROSTER_INIT;

	if (!CHECK(mkdtemp(folder) != NULL) || !CHECK_EQ(roster_open(&r, folder), 0))
		return;
	n_seen = 0;
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(write(r.fd, parts[i], strlen(parts[i])), strlen(parts[i]));
		roster_read(&r, seen, NULL);
	}
	CHECK_EQ(n_seen, 3);
	CHECK_EQ(r.bad, 1);
	roster_close(&r);
	snprintf(path, sizeof path, "%s/roster", folder);
	unlink(path);
	rmdir(folder);
}

static void count(void *arg, const struct roster_line *l)
{
	(void)arg;
	(void)l;
	n_seen++;
}

TEST(one_reading_is_bounded_and_an_empty_line_says_nothing)
{
	static const char text[] = "R1 c 10 1 5 a\n\n\n";
	char folder[] = "/tmp/gprof-unit-XXXXXX", path[64];
	struct roster r = ROSTER_INIT;
	int written = 0, readings = 0;

	if (!CHECK(mkdtemp(folder) != NULL) || !CHECK_EQ(roster_open(&r, folder), 0))
		return;
	while (written < 3000 && write(r.fd, text, strlen(text)) == (ssize_t)strlen(text))
		written++;
	for (n_seen = 0; n_seen < written && roster_read(&r, count, NULL); readings++)
		CHECK(n_seen <= (readings + 1) * ROSTER_READ / (int)strlen(text) + 1);
	CHECK_EQ(n_seen, written);
	CHECK(readings > 1);
	CHECK_EQ(r.bad, 0);
	CHECK(!roster_read(&r, count, NULL));
	roster_close(&r);
	snprintf(path, sizeof path, "%s/roster", folder);
	unlink(path);
	rmdir(folder);
}
