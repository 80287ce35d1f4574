#include "collector/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/unit/test.h"

static struct config config;
static char folder[64];

static bool make(struct board_view *v)
{
	strcpy(folder, "/tmp/gprof-unit-XXXXXX");
	if (!CHECK(mkdtemp(folder) != NULL))
		return false;
	config_init(&config);
	board_make(v, folder, &config, CLOCK_MONO);
	return CHECK(v->b != NULL);
}

static void unmake(struct board_view *v)
{
	char path[96];

	board_release(v);
	snprintf(path, sizeof path, "%s/" WIRE_BOARD, folder);
	unlink(path);
	rmdir(folder);
}

/* As a process does it (inject/core/board.c), step by step. */
static uint32_t begin(struct board_view *v, uint32_t pid)
{
	uint32_t at = v->b->head++;
	struct board_line *line = &v->b->lines[at % BOARD_LINES];

	CHECK_EQ(line->turn, at);
	line->pid = pid;
	line->how = 'f';
	line->start = pid + 1000;
	strcpy(line->name, "child");
	return at;
}

static void finish(struct board_view *v, uint32_t at)
{
	v->b->lines[at % BOARD_LINES].turn = at + 1;
}

TEST(lines_of_a_board_are_read_in_their_order_round_after_round)
{
	struct roster_line l;
	struct board_view v;
	uint32_t n = 0;

	if (!make(&v))
		return;
	CHECK(!board_has_news(&v));
	for (uint32_t round = 0; round < 3 * BOARD_LINES / 1000; round++) {
		for (uint32_t i = 0; i < 1000; i++)
			finish(&v, begin(&v, 1 + n + i));
		CHECK(board_has_news(&v));
		while (board_next(&v, &l))
			CHECK_EQ(l.pid, ++n);
		CHECK(roster_is_line(&l));
		CHECK_STR(l.name, "child");
		CHECK_EQ(l.start, n + 1000);
	}
	CHECK_EQ(n, 3 * BOARD_LINES / 1000 * 1000);
	CHECK(!board_has_news(&v));
	unmake(&v);
}

TEST(a_line_that_is_never_finished_does_not_hold_up_the_board_for_good)
{
	struct roster_line l;
	struct board_view v;

	if (!make(&v))
		return;
	begin(&v, 1);
	finish(&v, begin(&v, 2));
	CHECK(!board_next(&v, &l));
	CHECK(v.waits != 0);
	v.waits = 1;            /* for ever */
	CHECK(board_next(&v, &l));
	CHECK_EQ(l.pid, 2);
	CHECK_EQ(board_lost(&v), 1);
	CHECK_EQ(board_lost(&v), 0);
	finish(&v, begin(&v, 3));
	CHECK(board_next(&v, &l) && l.pid == 3);
	unmake(&v);
}

TEST(a_board_that_was_written_over_is_read_to_an_end)
{
	struct roster_line l;
	struct board_view v;
	uint32_t n = 0;

	if (!make(&v))
		return;
	memset(&v.b->head, 0xa5, sizeof *v.b - offsetof(struct board, head));
	while (board_next(&v, &l))
		CHECK(!roster_is_line(&l) || ++n < BOARD_LINES);
	for (uint32_t i = 0; i < BOARD_LINES; i++)
		v.b->lines[i].turn = i + 1;
	v.b->head = 10 * BOARD_LINES;
	for (n = 0; board_next(&v, &l); n++)
		CHECK(!roster_is_line(&l));
	CHECK_EQ(n, BOARD_LINES);
	unmake(&v);
}

TEST(orders_on_a_board_have_an_even_turn_when_they_are_whole)
{
	const struct orders_given on = { .n_orders = 3, .orders = { { .tsc = 7 } } };
	struct board_view v;

	if (!make(&v))
		return;
	v.b->orders_turn = 77;          /* a process wrote over it */
	board_tell(&v, &on);
	CHECK_EQ(v.b->orders_turn, 2);
	CHECK_EQ(v.b->capture.n_orders, 3);
	CHECK_EQ(v.b->capture.orders[0].tsc, 7);
	unmake(&v);
}
