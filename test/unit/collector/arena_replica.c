#include "collector/arena_replica.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/drain.h"
#include "collector/pipe.h"
#include "collector/salvage.h"
#include "test/unit/test.h"
#include "trace/health.h"

/* A guest on the pipe, without a file: what is staged is what came. */
struct fixture {
	struct output out;
	struct tree_process *p;
	struct pipe pipe;
	uint32_t sequence;
	uint64_t random;
};

struct whole_frame {
	struct frame head;
	char body[FRAME_MAX - sizeof(struct frame)];
};

struct mark_bytes {
	struct row_head head;
	struct mark_row row;
};

static bool set_up(struct fixture *f)
{
	static const struct orders_given on = { .n_orders = 1, .orders = { { .order = { .mask = ORDER_ALL, .window = 1 } } } };

	*f = (struct fixture){ .out = OUTPUT_INIT, .pipe = PIPE_INIT, .random = 1 };
	f->p = process_new(CLOCK_MONO);
	f->p->number = 1;
	f->pipe.size = 64 << 10;
	f->pipe.text = malloc(f->pipe.size + FRAME_MAX);
	return CHECK_EQ(guest_new(f->p, &f->out, "/tmp", 16 << 20, &on, NULL), 0);
}

static void tear_down(struct fixture *f)
{
	pipe_close(&f->pipe);
	guest_free(f->p);
	health_counts_release(&f->p->health_counts);
	free(f->p);
}

static size_t staged(struct fixture *f, unsigned kind)
{
	return f->p->guest->staging.stages[record_by_kind(kind) - records].n;
}

static struct whole_frame make(struct fixture *f, unsigned kind, unsigned flags, uint32_t place, uint32_t at,
			       const void *body, uint32_t n)
{
	struct whole_frame w = { .head = { .magic = FRAME_MAGIC, .process = 1, .place = place, .at = at, .thread = 3 } };

	w.head.length = (uint16_t)(sizeof w.head + n);
	w.head.kind = (uint8_t)kind;
	w.head.flags = (uint8_t)flags;
	w.head.sequence = ++f->sequence;
	memcpy(w.body, body, n);
	w.head.check = frame_check(&w.head);
	return w;
}

static bool apply(struct fixture *f, unsigned kind, unsigned flags, uint32_t place, uint32_t at, const void *body,
		  uint32_t n)
{
	struct whole_frame w = make(f, kind, flags, place, at, body, n);

	return arena_replica_apply(f->p, &w.head, w.body);
}

static struct mark_bytes mark(uint64_t payload)
{
	return (struct mark_bytes){ { ROW_mark, 0, sizeof(struct mark_bytes) }, { .start = 5, .payload = payload } };
}

TEST(frames_of_a_block_become_its_rows_and_its_index_begins_anew)
{
	struct mark_bytes m[3] = { mark(1), mark(2), mark(3) };
	struct fixture f;

	if (!set_up(&f))
		return;
	for (int turn = 0; turn < 3; turn++) {
		CHECK(apply(&f, FRAME_ROWS, 0, 9, 0, m, sizeof m));
		CHECK(apply(&f, FRAME_ROWS, FRAME_LAST, 9, sizeof m, m, sizeof *m));
		CHECK_EQ(f.p->guest->view.a->block_state[9], BLOCK_FREE);
	}
	CHECK_EQ(staged(&f, ROW_mark), 12);
	CHECK_EQ(f.p->guest->view.a->n_taken, 0);
	CHECK(apply(&f, FRAME_ROWS, 0, 2, 0, m, sizeof *m));
	drain(f.p, DRAIN_ALL);
	CHECK_EQ(staged(&f, ROW_mark), 13);
	CHECK(!health_counts_find(&f.p->health_counts, HEALTH_damaged_rows));
	tear_down(&f);
}

TEST(a_row_in_parts_is_taken_when_it_is_whole)
{
	struct mark_bytes m = mark(1);
	struct fixture f;

	if (!set_up(&f))
		return;
	CHECK(apply(&f, FRAME_ROWS, FRAME_PART, 0, 0, &m, 40));
	drain(f.p, DRAIN_ALL);
	CHECK_EQ(staged(&f, ROW_mark), 0);
	CHECK(apply(&f, FRAME_ROWS, 0, 0, 40, (char *)&m + 40, sizeof m - 40));
	drain(f.p, DRAIN_ALL);
	CHECK_EQ(staged(&f, ROW_mark), 1);
	tear_down(&f);
}

TEST(a_frame_that_makes_no_sense_changes_nothing)
{
	struct mark_bytes m[50] = { mark(1) };
	struct fixture f;
	uint32_t n;

	if (!set_up(&f))
		return;
	n = arena_n_blocks(&f.p->guest->view);
	CHECK(!apply(&f, FRAME_ROWS, 0, n, 0, m, sizeof *m));
	CHECK(!apply(&f, FRAME_ROWS, 0, UINT32_MAX, 0, m, sizeof *m));
	CHECK(!apply(&f, FRAME_ROWS, 0, 0, 8, m, sizeof *m));
	CHECK(!apply(&f, FRAME_ROWS, FRAME_LAST | FRAME_PART, 0, 0, m, sizeof *m));
	CHECK(!apply(&f, FRAME_CELLS, 0, ARENA_TOLD, 0, m, 8));
	CHECK(!apply(&f, FRAME_CELLS, 0, 0, 0, m, 8));
	CHECK(!apply(&f, FRAME_CELLS, 0, offsetof(struct arena, block_state) - 8, 0, m, 16));
	CHECK(!apply(&f, FRAME_CELLS, 0, sizeof(struct arena) - 8, 0, m, 16));
	CHECK(!apply(&f, FRAME_CELLS, 0, UINT32_MAX - 3, 0, m, 16));
	CHECK_EQ(f.p->guest->view.a->n_orders, 1);
	CHECK_EQ(f.p->guest->view.a->orders[0].mask, ORDER_ALL);
	CHECK_EQ(f.p->guest->view.a->magic, ARENA_MAGIC);
	drain(f.p, DRAIN_ALL);
	CHECK_EQ(staged(&f, ROW_mark), 0);
	/* More than a block holds. */
	for (uint32_t at = 0; at + sizeof m <= SMALL_BLOCK - sizeof(struct block); at += sizeof m)
		CHECK(apply(&f, FRAME_ROWS, 0, 0, at, m, sizeof m));
	CHECK(!apply(&f, FRAME_ROWS, 0, 0, (SMALL_BLOCK - sizeof(struct block)) / sizeof m * sizeof m, m, sizeof m));
	tear_down(&f);
}

TEST(frames_out_of_order_are_noticed)
{
	struct mark_bytes m = mark(1);
	struct fixture f;

	if (!set_up(&f))
		return;
	CHECK(apply(&f, FRAME_ROWS, 0, 0, 0, &m, sizeof m));
	f.sequence = 0;
	CHECK(!apply(&f, FRAME_ROWS, 0, 0, sizeof m, &m, sizeof m));            /* once more number 1 */
	f.sequence = 4;
	CHECK(!apply(&f, FRAME_ROWS, 0, 0, sizeof m, &m, sizeof m));            /* some are missing */
	CHECK(apply(&f, FRAME_ROWS, 0, 0, 2 * sizeof m, &m, sizeof m));
	drain(f.p, DRAIN_ALL);
	CHECK_EQ(staged(&f, ROW_mark), 3);
	tear_down(&f);
}

TEST(cells_of_the_guest_arrive_and_ours_stay)
{
	struct mark_bytes m = mark(1);
	struct arena said = { .life = LIFE_ENDED, .flags = PROCESS_NVTX, .n_taken = 77, .next_thread = 4 };
	struct health_cell cell = { .count = 3, .has_detail = 2, .detail = "why" };
	struct fixture f;
	struct arena *a;

	if (!set_up(&f))
		return;
	a = f.p->guest->view.a;
	CHECK(apply(&f, FRAME_ROWS, 0, 0, 0, &m, sizeof m));
	CHECK(apply(&f, FRAME_CELLS, 0, offsetof(struct arena, life), 0, &said.life,
		    offsetof(struct arena, costs) - offsetof(struct arena, life)));
	CHECK(apply(&f, FRAME_CELLS, 0, offsetof(struct arena, health[11]), 0, &cell, sizeof cell));
	CHECK_EQ(a->life, LIFE_ENDED);
	CHECK_EQ(a->next_thread, 4);
	CHECK_EQ(a->n_taken, 1);
	CHECK_EQ(a->health[11].count, 3);
	CHECK(process_flags(f.p) & PROCESS_NVTX);
	salvage(f.p, false);
	CHECK(f.p->flags & PROCESS_CLEAN);
	CHECK(!health_counts_find(&f.p->health_counts, HEALTH_pipe_cut));
	tear_down(&f);
}

TEST(a_guest_that_says_no_end_was_cut_off_and_rows_it_could_not_send_are_counted)
{
	struct fixture f;

	if (!set_up(&f))
		return;
	salvage(f.p, false);
	CHECK(health_counts_find(&f.p->health_counts, HEALTH_pipe_cut) != NULL);
	tear_down(&f);
	if (!set_up(&f))
		return;
	f.p->guest->replica->left = 12;
	salvage(f.p, false);
	CHECK(!health_counts_find(&f.p->health_counts, HEALTH_pipe_cut));
	CHECK_EQ(health_counts_find(&f.p->health_counts, HEALTH_pipe_left)->count, 12);
	CHECK(f.p->flags & PROCESS_CLEAN);
	tear_down(&f);
}

TEST(orders_reach_the_file_of_the_process_and_it_goes_with_the_guest)
{
	const struct orders_given over = { .n_orders = 9, .orders = { [8] = { .order = { .over = 1, .real = 5 } } } };
	_Alignas(64) char line[ARENA_TOLD_BYTES];
	struct fixture f;
	char path[128];
	int fd;

	if (!set_up(&f))
		return;
	strcpy(path, f.p->guest->replica->path);
	guest_tell(f.p, &over);
	fd = open(path, O_RDONLY);
	CHECK_EQ(read(fd, line, sizeof line), sizeof line);
	close(fd);
	CHECK_EQ(memcmp(line, (char *)f.p->guest->view.a + ARENA_TOLD, sizeof line), 0);
	CHECK_EQ(*(uint32_t *)line, 9);
	tear_down(&f);
	CHECK_EQ(access(path, F_OK), -1);
}

/* ---- the pipe itself ---- */

static bool use(void *arg, const struct frame *f, const void *body)
{
	struct fixture *x = arg;

	return f->process == 1 && arena_replica_apply(x->p, f, body);
}

static uint32_t dice(struct fixture *f, uint32_t n)
{
	f->random = f->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(f->random >> 33) % n;
}

TEST(frames_are_found_again_behind_anything_that_is_none)
{
	struct mark_bytes m = mark(1);
	struct fixture f;
	const struct frame_user user = { use, &f };
	char noise[700];
	uint32_t at = 0;

	if (!set_up(&f))
		return;
	for (int i = 0; i < 300; i++, at += sizeof m) {
		struct whole_frame w = make(&f, FRAME_ROWS, 0, 0, at, &m, sizeof m);
		size_t n = dice(&f, sizeof noise);

		for (size_t k = 0; k < n; k++)
			noise[k] = (char)dice(&f, 256);
		pipe_take(&f.pipe, noise, n, &user);
		/* In pieces, as a read may end anywhere. */
		n = dice(&f, w.head.length);
		pipe_take(&f.pipe, &w, n, &user);
		pipe_take(&f.pipe, (char *)&w + n, w.head.length - n, &user);
	}
	drain(f.p, DRAIN_ALL);
	CHECK_EQ(staged(&f, ROW_mark), 300);
	CHECK(f.pipe.bad > 250);
	tear_down(&f);
}

TEST(no_frame_however_wrong_harms_the_collector)
{
	struct mark_bytes m[30] = { mark(1) };
	struct fixture f;
	const struct frame_user user = { use, &f };

	if (!set_up(&f))
		return;
	for (int i = 0; i < 20000; i++) {
		uint32_t kind = 1 + dice(&f, 3), flags = dice(&f, 4), place = dice(&f, 100), at = dice(&f, 3) * sizeof *m;
		struct whole_frame w = make(&f, kind, flags, place, at, m, dice(&f, 30) * sizeof *m);

		/* Its head is whole, what it says is not; or a bit of it is not even that. */
		if (dice(&f, 2))
			w.head.place = dice(&f, 2) ? dice(&f, sizeof(struct arena)) : (uint32_t)f.random;
		if (dice(&f, 2))
			w.head.check = frame_check(&w.head);
		if (!dice(&f, 4))
			((char *)&w)[dice(&f, sizeof w.head)] ^= (char)(1 << dice(&f, 8));
		pipe_take(&f.pipe, &w, w.head.length <= sizeof w ? w.head.length : sizeof w, &user);
	}
	salvage(f.p, false);
	CHECK(f.pipe.bad > 0);
	tear_down(&f);
}
