/*
 * libFuzzer target: the collector reads lines that processes wrote to the session's board and to its named pipe.  Byte 0 of the input:
 * number of lines on the board, and whether the input also gives the board's `head` and `lost`.  Byte 1: which lines are complete.  Then
 * the lines, `head` and `lost`; the rest goes into the pipe.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "collector/board.h"
#include "collector/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_LINES 64u
#define FIRST (UINT32_MAX - 7)          /* number of the first line; numbers wrap to 0 */
#define NAMED 2147483647u               /* pid of an exited process that is known before it writes lines */

enum { ANY_HEAD = 0x40, ANY_LOST = 0x80 };

struct input {
	const uint8_t *p, *end;
};

static char folder[] = "/tmp/gprof-fuzz-XXXXXX";
static struct roster roster = ROSTER_INIT;
static struct board_view board;
static struct config config;
static struct output out = OUTPUT_INIT;

static void remove_folder(void)
{
	static const char *const names[] = { "roster", WIRE_BOARD };
	char path[64];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void set_up(void)
{
	config_init(&config);
	if (!mkdtemp(folder) || atexit(remove_folder) || roster_open(&roster, folder) < 0)
		abort();
	board_make(&board, folder, &config, CLOCK_MONO);
	if (!board.b)
		abort();
}

/* Copies n bytes of the input to `to`; zeros after the input's end. */
static void take_bytes(struct input *in, void *to, size_t n)
{
	size_t there = (size_t)(in->end - in->p);

	there = there < n ? there : n;
	memset(to, 0, n);
	memcpy(to, in->p, there);
	in->p += there;
}

static void write_board(struct input *in)
{
	uint8_t what[2];
	uint32_t n;

	take_bytes(in, what, sizeof what);
	n = what[0] % MOST_LINES;
	for (uint32_t i = 0; i < BOARD_LINES; i++)
		board.b->lines[(FIRST + i) % BOARD_LINES].turn = FIRST + i;
	for (uint32_t i = 0; i < n; i++) {
		struct board_line *to = &board.b->lines[(FIRST + i) % BOARD_LINES];

		take_bytes(in, to, sizeof *to);
		if (!(what[1] >> i % 8 & 1))
			to->turn = FIRST + i + 1;
	}
	board.tail = FIRST;
	board.lost_reported = 0;
	board.b->head = FIRST + n;
	board.b->lost = 0;
	if (what[0] & ANY_HEAD)
		take_bytes(in, &board.b->head, sizeof board.b->head);
	if (what[0] & ANY_LOST)
		take_bytes(in, &board.b->lost, sizeof board.b->lost);
}

static void write_pipe(struct input *in)
{
	size_t n = (size_t)(in->end - in->p);

	roster.n = 0;
	roster.bad = 0;
	if (n && write(roster.fd, in->p, n) != (ssize_t)n)
		abort();
}

/* Whatever the input, each process has a valid pid, and a name without control characters. */
static void look(const struct tree_process *p)
{
	size_t n = strnlen(p->name, sizeof p->name);

	if (!p->pid || p->pid > INT32_MAX || p->start < 0 || n == sizeof p->name)
		abort();
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p->name[i] < ' ' || p->name[i] == 0x7f)
			abort();
}

static void hear(struct tree *t)
{
	/* The collector waits for an incomplete line; waits = 1 ends that wait. */
	for (uint32_t i = 0; i <= MOST_LINES; i++) {
		board.waits = 1;
		if (!tree_hear_roster(t) && !board_has_news(&board))
			return;
	}
	while (tree_hear_roster(t))             /* with a wrong `head` the board always has news; the pipe is still read to its end */
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct staging rows;
	struct health_counts health_counts = { 0 };
	struct tree tree = { .folder = "/nowhere", .config = &config, .out = &out, .rows = &rows, .health_counts = &health_counts,
			     .clock = CLOCK_MONO, .roster = &roster, .board = &board };

	if (roster.fd < 0)
		set_up();
	tree.epoll = epoll_create1(EPOLL_CLOEXEC);
	staging_init(&rows, &out, 0, CLOCK_MONO);
	write_board(&in);
	write_pipe(&in);
	tree_add_stray(&tree, NAMED, "named");
	hear(&tree);
	for (uint32_t i = 0; i < tree.n; i++)
		look(tree.all[i]);
	tree_release(&tree);
	close(tree.epoll);
	staging_release(&rows);
	health_counts_release(&health_counts);
	return 0;
}
