#include "inject/core/board.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/core/late.h"
#include "test/unit/test.h"

#define FIRST (UINT32_MAX - 100)        /* lines that were read before */

/* A board as a collector makes it, which this process has then; or a link to one. */
static struct board *make_as(bool link)
{
	char folder[] = "/tmp/gprof-unit-XXXXXX", path[64], there[64];
	struct board *b = MAP_FAILED;
	int fd;

	if (!mkdtemp(folder))
		return NULL;
	snprintf(path, sizeof path, "%s/" WIRE_BOARD, folder);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, sizeof *b) == 0)
		b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (b != MAP_FAILED) {
		b->magic = BOARD_MAGIC;
		b->version = WIRE_VERSION;
		b->size = sizeof *b;
		b->head = FIRST;
		for (uint32_t i = 0; i < BOARD_LINES; i++)
			b->lines[(FIRST + i) % BOARD_LINES].turn = FIRST + i;
		snprintf(there, sizeof there, "%s/there", folder);
		if (link && (rename(path, there) < 0 || symlink(there, path) < 0))
			_exit(9);
		board_open(folder);
	}
	close(fd);
	unlink(path);
	if (link)
		unlink(there);
	rmdir(folder);
	return b == MAP_FAILED ? NULL : b;
}

static struct board *make(void)
{
	struct board *b = make_as(false);

	return board_map() ? b : NULL;
}

/* 0, or the number of what went wrong.  Other processes can write on the board, so `head` can have any value. */
static int put_at_odd_heads(void)
{
	static const uint32_t odd[] = { FIRST - 1, FIRST - BOARD_LINES, FIRST + 2, FIRST + BOARD_LINES, FIRST + (1u << 31), 0 };
	struct board *b = make();
	uint32_t lost = 0;

	if (!b)
		return 1;
	for (uint32_t i = 0; i < BOARD_LINES; i++)
		if (!board_put('f', i + 1, 1, i, "child") || b->lines[(FIRST + i) % BOARD_LINES].turn != FIRST + i + 1)
			return 2;
	if (board_put('f', 1, 1, 1, "no place") || b->lost != ++lost)
		return 3;
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		b->head = odd[i];
		if (board_put('f', 1, 1, 1, "no place") || b->lost != ++lost)
			return 4;
	}
	return 0;
}

TEST(a_board_that_was_written_over_is_not_waited_for)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(60);              /* a writer that waits without end */
		_exit(put_at_odd_heads());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

#define GIVEN 20000u

static struct board *given;

/* All numbers in the n-th order are n. */
static void *give_orders(void *arg)
{
	static struct orders_given all;
	uint32_t turn = 0;

	for (uint32_t n = 1; n <= GIVEN; n++) {
		all.orders[n % ORDERS] = (struct given){ .order = { .mask = n, .over = n, .window = n, .real = n }, .tsc = n, .mono = n };
		all.n_orders = n + 1;
		board_give(given, &turn, &all);
		for (volatile int i = 0; i < 1000; i++)
			;
	}
	return arg;
}

/* The last ones, as they were given; the oldest may be missing. */
static bool are_whole(const struct arena *a)
{
	for (uint32_t i = 0; i < ORDERS && i < a->n_orders; i++) {
		const struct order *o = &a->orders[(a->n_orders - 1 - i) % ORDERS];
		uint32_t n = a->n_orders - 1 - i;

		if (i == ORDERS - 1 && !o->mask && !o->real && !o->time)
			continue;
		if (o->mask != n || o->over != n || o->window != n || o->real != n || o->time != n)
			return false;
	}
	return true;
}

static int read_while_given(void)
{
	static struct arena a;
	const struct wire_welcome w = { .clock = CLOCK_MONO };
	pthread_t writer;

	given = make();
	if (!given || pthread_create(&writer, NULL, give_orders, NULL) != 0)
		return 1;
	while (a.n_orders <= GIVEN) {
		late_begin(&a, &w);
		if (!are_whole(&a))
			return 2;
	}
	pthread_join(writer, NULL);
	return 0;
}

TEST(orders_that_are_given_while_they_are_read_are_whole)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(60);
		_exit(read_while_given());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

/* The collector has lost its CPU, or was killed, between two words of the 21st order. */
static int read_while_stopped(void)
{
	static struct arena a;
	const struct wire_welcome w = { .clock = CLOCK_MONO };
	struct board *b = make();

	if (!b)
		return 1;
	for (uint32_t n = 4; n < 20; n++)
		b->capture.orders[n % ORDERS] = (struct given){ .order = { .mask = n, .over = n, .window = n, .real = n }, .mono = n };
	b->capture.n_orders = 20;
	b->orders_turn = 41;
	b->capture.orders[20 % ORDERS].order.mask = 20;
	late_begin(&a, &w);
	return a.n_orders == 20 && are_whole(&a) ? 0 : 2;
}

TEST(an_order_that_is_half_written_is_left_out)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(60);
		_exit(read_while_stopped());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

/* A program may change its root to a folder that others write. */
TEST(a_link_is_not_followed_to_a_board)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(!make_as(true) ? 1 : board_map() != NULL ? 2 : 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}
