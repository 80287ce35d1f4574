#include "inject/core/carrier.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/core/carrier_frames.h"
#include "inject/core/stream.h"
#include "inject/ranges/ranges.h"
#include "test/unit/test.h"

#define PROCESS 7u

/* The collector's end: what came, as bytes of each block. */
struct other_end {
	char folder[64];
	int fd;
	uint32_t sequence, frames, wrong;
	uint64_t rows[ROW_KINDS];
	uint64_t payload;               /* of the next mark */
	bool open_first;                /* the first frame was one of cells */
	uint32_t life;
	char *block[64];                /* bytes of blocks that are not whole */
	uint32_t used[64];
};

static void write_orders(const struct other_end *e, uint32_t n)
{
	char path[96];
	uint32_t line[ARENA_TOLD_BYTES / 4] = { n };
	int fd;

	snprintf(path, sizeof path, "%s/order.%u", e->folder, PROCESS);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK_EQ(write(fd, line, sizeof line), sizeof line);
	close(fd);
}

/* A guest on the pipe without a thread: whoever hands a block over sends. */
static bool set_up(struct other_end *e, int pipe_size)
{
	static uint32_t epoch = 1000000;
	uint64_t blocks = (sizeof(struct arena) + 4095) & ~4095ull;
	struct wire_welcome w = {
		.process = PROCESS, .clock = CLOCK_MONO, .carrier = CARRIER_PIPE, .n_small = 4, .n_large = 8,
		.blocks = blocks, .arena_size = blocks + 4 * SMALL_BLOCK + 8 * LARGE_BLOCK,
	};
	char path[96];

	*e = (struct other_end){ .folder = "/tmp/gprof-carrier-XXXXXX" };
	if (!CHECK(mkdtemp(e->folder) != NULL))
		return false;
	snprintf(path, sizeof path, "%s/rows", e->folder);
	CHECK_EQ(mkfifo(path, 0600), 0);
	e->fd = open(path, O_RDWR | O_NONBLOCK);
	fcntl(e->fd, F_SETPIPE_SZ, pipe_size);
	write_orders(e, 1);
	memset(guest, 0, sizeof *guest);
	config_init(&guest->config);
	guest->clock = CLOCK_MONO;
	guest->process = PROCESS;
	if (!CHECK_EQ(carrier_open(e->folder, &w, NULL, false), 0))
		return false;
	guest->epoch = ++epoch;
	guest->state = SESSION_UP;
	guest->arena->life = LIFE_RUNNING;
	return true;
}

static void tear_down(struct other_end *e)
{
	char path[96];

	snprintf(path, sizeof path, "%s/rows", e->folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/order.%u", e->folder, PROCESS);
	unlink(path);
	rmdir(e->folder);
	close(e->fd);
	for (int i = 0; i < 64; i++)
		free(e->block[i]);
	guest->carrier = NULL;
	guest->state = SESSION_OFF;
	guest->epoch = 0;
	stream_self.epoch = 0;
}

static void take_block(struct other_end *e, uint32_t i)
{
	for (uint32_t at = 0; at < e->used[i];) {
		const struct row_head *h = (const struct row_head *)(e->block[i] + at);

		e->rows[h->kind]++;
		if (h->kind == ROW_mark)
			e->wrong += ((const struct mark_row *)(h + 1))->payload != e->payload++;
		at += h->length;
	}
	e->used[i] = 0;
}

static void take(struct other_end *e, const struct frame *f, const char *body)
{
	uint32_t n = f->length - (uint32_t)sizeof *f;

	if (!e->frames++)
		e->open_first = f->kind == FRAME_CELLS;
	e->wrong += f->magic != FRAME_MAGIC || f->process != PROCESS || f->check != frame_check(f);
	e->wrong += f->sequence != ++e->sequence;
	if (f->kind == FRAME_CELLS && f->place == offsetof(struct arena, life))
		memcpy(&e->life, body, sizeof e->life);
	if (f->kind != FRAME_ROWS)
		return;
	if (!e->block[f->place])
		e->block[f->place] = malloc(LARGE_BLOCK);
	e->wrong += f->at != e->used[f->place];
	memcpy(e->block[f->place] + f->at, body, n);
	e->used[f->place] = f->at + n;
	if (f->flags & FRAME_LAST)
		take_block(e, f->place);
}

/* Reads what is in the pipe, frame by frame. */
static void read_all(struct other_end *e)
{
	_Alignas(8) char bytes[FRAME_MAX];
	struct frame *f = (struct frame *)bytes;

	while (read(e->fd, f, sizeof *f) == (ssize_t)sizeof *f) {
		if (!CHECK(f->magic == FRAME_MAGIC && f->length >= sizeof *f && f->length <= FRAME_MAX))
			return;
		if (!CHECK_EQ(read(e->fd, f + 1, f->length - sizeof *f), f->length - sizeof *f))
			return;
		take(e, f, bytes + sizeof *f);
	}
}

/* At the end blocks that were not handed over hold rows, too. */
static void read_rest(struct other_end *e)
{
	read_all(e);
	for (uint32_t i = 0; i < 64; i++)
		take_block(e, i);
}

/* Payloads count on: *made of them before. */
static void make_marks(uint64_t *made, int n)
{
	struct stream *s = stream_enter();

	for (int i = 0; s && i < n; i++) {
		struct mark_row *row = stream_reserve(s, ROW_mark, sizeof *row);

		if (!row)
			break;
		*row = (struct mark_row){ .start = clock_now(), .payload = (*made)++ };
		stream_publish(s, row);
	}
	if (s)
		stream_leave(s);
}

TEST(every_frame_is_whole_and_in_sequence_and_every_row_comes_once)
{
	struct other_end e;
	uint64_t made = 0;

	if (!set_up(&e, 1 << 20))
		return;
	for (int i = 0; i < 40; i++) {
		make_marks(&made, 1000);
		read_all(&e);
	}
	guest->arena->life = LIFE_ENDED;
	carrier_finish();
	read_rest(&e);
	CHECK_EQ(made, 40000);
	CHECK_EQ(e.rows[ROW_mark], made);
	CHECK_EQ(e.rows[ROW_thread], 1);
	CHECK_EQ(e.wrong, 0);
	CHECK_EQ(e.life, LIFE_ENDED);
	tear_down(&e);
}

TEST(a_full_pipe_tears_no_frame_and_what_is_left_comes_later)
{
	struct other_end e;
	uint64_t made = 0;
	int64_t begin;

	if (!set_up(&e, 64 << 10))
		return;
	guest->carrier->budget = 30000000;
	make_marks(&made, 15000);
	begin = clock_ns(CLOCK_MONOTONIC);
	carrier_finish();
	CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 1000000000);
	CHECK(carrier_rows_left(guest->carrier) > 0);
	CHECK_EQ(guest->carrier->left_reported, carrier_rows_left(guest->carrier));
	for (int i = 0; i < 100 && carrier_rows_left(guest->carrier); i++) {
		read_all(&e);
		carrier_finish();
	}
	read_rest(&e);
	CHECK_EQ(e.rows[ROW_mark], made);
	CHECK_EQ(e.wrong, 0);
	CHECK_EQ(guest->carrier->left_reported, 0);
	tear_down(&e);
}

TEST(rows_that_have_no_room_are_dropped_and_counted_while_nobody_reads)
{
	struct other_end e;
	uint64_t made = 0;

	if (!set_up(&e, 64 << 10))
		return;
	guest->carrier->budget = 0;
	for (int i = 0; i < 100; i++)
		make_marks(&made, 1000);
	CHECK(guest->arena->drops[ROW_mark].count > 0);
	CHECK(guest->arena->health[HEALTH_no_block].count > 0);
	tear_down(&e);
}

TEST(a_row_longer_than_a_frame_goes_in_parts)
{
	struct other_end e;
	struct stream *s;
	uint64_t made = 0;

	if (!set_up(&e, 1 << 20))
		return;
	make_marks(&made, 3);
	s = stream_enter();
	for (uint32_t bytes = 4000; bytes < 30000; bytes += 1000) {
		struct string_row *row = stream_reserve(s, ROW_string, stream_tail(sizeof *row, bytes));

		*row = (struct string_row){ .id = bytes, .bytes = bytes };
		memset(row + 1, 'x', bytes);
		stream_publish(s, row);
	}
	stream_leave(s);
	make_marks(&made, 3);
	carrier_finish();
	read_rest(&e);
	CHECK_EQ(e.rows[ROW_string], 26);
	CHECK_EQ(e.rows[ROW_mark], 6);
	CHECK_EQ(e.wrong, 0);
	tear_down(&e);
}

TEST(open_ranges_are_on_their_way_before_rows)
{
	struct other_end e;
	const struct range_what what = { .name = 1 };
	struct stream *s;
	uint64_t made = 0;

	if (!set_up(&e, 1 << 20))
		return;
	s = stream_enter();
	for (int i = 0; i < 100; i++)   /* more than a frame holds */
		ranges_push(s, &what);
	stream_leave(s);
	make_marks(&made, 10);
	carrier_finish();
	read_rest(&e);
	CHECK(e.open_first);
	CHECK_EQ(guest->carrier->sent_header->slots[0].depth, 100);
	CHECK_EQ(guest->carrier->sent_header->slots[0].stack[99].id, guest->arena->slots[0].stack[99].id);
	CHECK_EQ(e.rows[ROW_mark], 10);
	tear_down(&e);
}

/* Makes marks until n blocks have been handed over. */
static void hand_over_blocks(uint64_t *made, uint32_t n)
{
	while (guest->arena->turns < n && *made < 1000000)
		make_marks(made, 1);
}

/* A block of another thread, without a row. */
static void own_block(uint32_t i, bool counted)
{
	guest->arena->block_state[i] = BLOCK_OWNED;
	guest->arena->n_taken += counted;
}

static void free_block(uint32_t i)
{
	guest->arena->block_state[i] = BLOCK_FREE;
	guest->arena->n_taken--;
}

static struct {
	void *page;
	uint64_t made;
} fault;

/* The look has come to the block of that page: a thread fills block 0, which was free, and goes on behind the page. */
static void at_fault(int signal)
{
	(void)signal;
	mprotect(fault.page, 4096, PROT_READ | PROT_WRITE);
	hand_over_blocks(&fault.made, 1);
	make_marks(&fault.made, 10);
}

TEST(rows_wait_for_a_block_that_was_taken_and_filled_behind_the_look)
{
	struct other_end e;
	struct sigaction on_fault = { .sa_handler = at_fault }, before;

	if (!set_up(&e, 1 << 20))
		return;
	guest->carrier->lock = 1;       /* nobody else sends */
	own_block(1, true);
	fault.page = arena_block(guest->arena, 1);
	fault.made = 0;
	sigaction(SIGSEGV, &on_fault, &before);
	CHECK_EQ(mprotect(fault.page, 4096, PROT_NONE), 0);
	CHECK(carrier_round(guest->carrier, true));
	sigaction(SIGSEGV, &before, NULL);
	CHECK(fault.made > 1000);
	CHECK_EQ(guest->arena->turns, 1);
	read_rest(&e);
	CHECK_EQ(e.wrong, 0);
	CHECK_EQ(e.rows[ROW_mark], fault.made);
	tear_down(&e);
}

TEST(blocks_go_in_the_order_of_their_turns_while_others_are_taken)
{
	struct other_end e;
	uint64_t made = 0;

	if (!set_up(&e, 1 << 20))
		return;
	guest->carrier->lock = 1;
	own_block(4, true);
	hand_over_blocks(&made, 1);     /* block 0; goes on in 5 */
	free_block(4);
	hand_over_blocks(&made, 3);     /* 5, then 4; goes on in 6 */
	CHECK_EQ(guest->arena->block_state[5], BLOCK_FULL);
	CHECK_EQ(guest->arena->block_state[4], BLOCK_FULL);
	own_block(1, false);
	own_block(2, false);
	carrier_round(guest->carrier, false);
	read_all(&e);
	CHECK_EQ(e.wrong, 0);
	CHECK(e.rows[ROW_mark] >= made - 1);
	CHECK_EQ(guest->carrier->given_back, 3);
	tear_down(&e);
}

TEST(orders_are_heard_by_the_thread_and_it_ends_when_told)
{
	struct other_end e;
	int64_t end = clock_ns(CLOCK_MONOTONIC) + 10000000000;

	if (!set_up(&e, 1 << 20))
		return;
	CHECK_EQ(guest->arena->n_orders, 1);
	carrier_start();
	write_orders(&e, 2);
	while (__atomic_load_n(&guest->arena->n_orders, __ATOMIC_ACQUIRE) != 2 &&
	       clock_ns(CLOCK_MONOTONIC) < end)
		usleep(1000);
	CHECK_EQ(guest->arena->n_orders, 2);
	carrier_end_thread();
	CHECK_EQ(guest->carrier->running, 0);
	tear_down(&e);
}

TEST(nothing_waits_when_nobody_is_at_the_other_end)
{
	struct other_end e;
	uint64_t made = 0;
	int64_t begin;

	if (!set_up(&e, 1 << 20))
		return;
	close(e.fd);
	e.fd = -1;
	make_marks(&made, 10);
	begin = clock_ns(CLOCK_MONOTONIC);
	carrier_finish();
	CHECK(clock_ns(CLOCK_MONOTONIC) - begin < 1000000000);
	CHECK(guest->carrier->gone);
	tear_down(&e);
}

TEST(a_link_is_not_followed_to_a_pipe_of_rows)
{
	struct other_end e;
	uint64_t made = 0;
	char rows[96], there[96];

	if (!set_up(&e, 1 << 20))
		return;
	snprintf(rows, sizeof rows, "%s/rows", e.folder);
	snprintf(there, sizeof there, "%s/there", e.folder);
	CHECK_EQ(rename(rows, there), 0);
	CHECK_EQ(symlink(there, rows), 0);
	make_marks(&made, 10);
	carrier_finish();
	read_all(&e);
	CHECK_EQ(e.frames, 0);
	CHECK(guest->carrier->gone);
	unlink(there);
	tear_down(&e);
}

TEST(an_order_that_is_a_pipe_is_not_waited_for)
{
	struct other_end e;
	struct wire_welcome w = { .process = PROCESS + 1, .n_small = 1, .n_large = 1, .blocks = (sizeof(struct arena) + 4095) & ~4095ull };
	char path[96];

	if (!set_up(&e, 1 << 20))
		return;
	snprintf(path, sizeof path, "%s/order.%u", e.folder, PROCESS + 1);
	CHECK_EQ(mkfifo(path, 0600), 0);
	w.arena_size = w.blocks + SMALL_BLOCK + LARGE_BLOCK;
	alarm(60);
	CHECK_EQ(carrier_open(e.folder, &w, NULL, false), -1);
	alarm(0);
	unlink(path);
	tear_down(&e);
}
