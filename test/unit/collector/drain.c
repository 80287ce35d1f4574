#include "collector/drain.h"

#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/pages.h"
#include "collector/salvage.h"
#include "test/unit/test.h"
#include "trace/health.h"

/* A guest without a file: what is staged is what the collector took. */
struct fixture {
	struct output out;
	struct tree_process *p;
};

static bool set_up(struct fixture *f)
{
	static const struct orders_given on = { .n_orders = 1, .orders = { { .order = { .mask = ORDER_ALL, .window = 1 } } } };
	int fd;

	*f = (struct fixture){ .out = OUTPUT_INIT };
	f->p = process_new(CLOCK_MONO);
	f->p->number = 1;
	if (!CHECK_EQ(guest_new(f->p, &f->out, "/tmp", 16 << 20, &on, &fd), 0))
		return false;
	close(fd);
	return true;
}

static void tear_down(struct fixture *f)
{
	guest_free(f->p);
	health_counts_release(&f->p->health_counts);
	free(f->p);
}

static size_t staged(struct fixture *f, unsigned kind)
{
	return f->p->guest->staging.stages[record_by_kind(kind) - records].n;
}

static uint64_t damage(struct fixture *f)
{
	struct health_count *t = health_counts_find(&f->p->health_counts, HEALTH_damaged_rows);

	return t ? t->count : 0;
}

static struct block *block(struct fixture *f, uint32_t i)
{
	return arena_view_block(&f->p->guest->view, i);
}

/* Appends n bytes to block i, which a thread owns. */
static void publish(struct fixture *f, uint32_t i, const void *bytes, size_t n)
{
	struct block *b = block(f, i);

	memcpy((char *)(b + 1) + b->used, bytes, n);
	b->used += (uint32_t)n;
	f->p->guest->view.a->block_state[i] = BLOCK_OWNED;
}

struct api_bytes {
	struct row_head head;
	struct api_row row;
};

static struct api_bytes api(int64_t start)
{
	return (struct api_bytes){ { ROW_api, 0, sizeof(struct api_bytes) }, { .start = start, .duration = 10 } };
}

TEST(owned_blocks_are_taken_row_by_row_and_each_row_once)
{
	struct fixture f;

	if (!set_up(&f))
		return;
	for (int i = 1; i <= 5; i++) {
		struct api_bytes row = api(i);

		publish(&f, 2, &row, sizeof row);
		drain(f.p, DRAIN_FULL);
		CHECK_EQ(staged(&f, ROW_api), i - 1);
		drain(f.p, DRAIN_ALL);
		drain(f.p, DRAIN_ALL);
		CHECK_EQ(staged(&f, ROW_api), i);
	}
	CHECK_EQ(f.p->guest->last_time, 15);
	CHECK_EQ(damage(&f), 0);
	tear_down(&f);
}

TEST(a_full_block_is_given_back_empty)
{
	struct fixture f;
	struct api_bytes row = api(1);

	if (!set_up(&f))
		return;
	for (int i = 1; i <= 3; i++) {
		publish(&f, 0, &row, sizeof row);
		f.p->guest->view.a->block_state[0] = BLOCK_FULL;
		f.p->guest->view.a->n_taken = 1;
		drain(f.p, DRAIN_FULL);
		CHECK_EQ(staged(&f, ROW_api), i);
		CHECK_EQ(f.p->guest->view.a->block_state[0], BLOCK_FREE);
		CHECK_EQ(f.p->guest->view.a->n_taken, 0);
		CHECK_EQ(block(&f, 0)->used, 0);
	}
	tear_down(&f);
}

/* Pages of a block that are in memory. */
static size_t pages_of(struct fixture *f, uint32_t i)
{
	unsigned char in[LARGE_BLOCK / 4096];
	size_t size = i < f->p->guest->view.layout.n_small ? SMALL_BLOCK : LARGE_BLOCK, n = 0;

	if (mincore(block(f, i), size, in) < 0)
		return SIZE_MAX;
	for (size_t k = 0; k < size / 4096; k++)
		n += in[k] & 1;
	return n;
}

TEST(pages_of_a_burst_go_when_the_process_is_quiet_and_no_block_in_use_is_touched)
{
	static char rows[SMALL_BLOCK - sizeof(struct block)];
	struct fixture f;
	struct api_bytes row = api(5);
	uint32_t *state;

	if (!set_up(&f))
		return;
	state = f.p->guest->view.a->block_state;
	for (size_t at = 0; at + sizeof row <= sizeof rows; at += sizeof row)
		memcpy(rows + at, &row, sizeof row);
	for (uint32_t i = 0; i < 12; i++) {
		publish(&f, i, rows, sizeof rows / sizeof row * sizeof row);
		f.p->guest->view.a->n_taken++;
		state[i] = BLOCK_FULL;
	}
	drain(f.p, DRAIN_FULL);
	CHECK_EQ(pages_of(&f, 5), SMALL_BLOCK / 4096);
	pages_give_back(f.p->guest);            /* it was busy a moment ago */
	CHECK_EQ(pages_of(&f, 5), SMALL_BLOCK / 4096);
	state[6] = BLOCK_OWNED;                 /* taken again meanwhile */
	state[7] = BLOCK_GONE;
	for (int i = 0; i < 8; i++)
		pages_give_back(f.p->guest);
	CHECK_EQ(pages_of(&f, 5), 0);
	CHECK_EQ(state[5], BLOCK_FREE);
	CHECK_EQ(pages_of(&f, 6), SMALL_BLOCK / 4096);
	CHECK_EQ(state[6], BLOCK_OWNED);
	CHECK_EQ(pages_of(&f, 7), 0);
	CHECK_EQ(state[7], BLOCK_GONE);
	CHECK_EQ(damage(&f), 0);
	publish(&f, 5, &row, sizeof row);       /* and it serves as before */
	drain(f.p, DRAIN_ALL);
	CHECK_EQ(damage(&f), 0);
	tear_down(&f);
}

TEST(rows_of_every_impossible_shape_are_counted_and_what_was_before_them_is_kept)
{
	static const struct row_head bad[] = {
		{ 99, 0, 64 }, { 0, 0, 64 }, { 65535, 0, 64 }, { ROW_clock, 0, 32 }, { ROW_process, 0, 56 },
		{ ROW_health, 0, 48 },
		{ ROW_api, 0, 0 }, { ROW_api, 0, 8 }, { ROW_api, 0, 63 }, { ROW_api, 0, 65528 },
		{ ROW_api, 0, 0xfffffff8 },
		{ ROW_string, 0, 8 },
	};
	struct fixture f;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct api_bytes good = api(1);

		if (!set_up(&f))
			return;
		publish(&f, 0, &good, sizeof good);
		publish(&f, 0, &bad[i], sizeof bad[i]);
		drain(f.p, DRAIN_ALL);
		CHECK_EQ(damage(&f), 1);
		CHECK_EQ(staged(&f, ROW_api), 1);
		/* Later rows of the block begin where the publisher says. */
		publish(&f, 0, &good, sizeof good);
		drain(f.p, DRAIN_ALL);
		CHECK_EQ(damage(&f), 1);
		CHECK_EQ(staged(&f, ROW_api), 2);
		tear_down(&f);
	}
}

TEST(a_text_longer_than_its_row_is_refused)
{
	struct { struct row_head head; struct string_row row; char text[8]; } s = {
		{ ROW_string, 0, sizeof s }, { .id = 1, .bytes = 9 }, "abcdefg",
	};
	struct fixture f;

	if (!set_up(&f))
		return;
	publish(&f, 0, &s, sizeof s);
	drain(f.p, DRAIN_ALL);
	CHECK_EQ(damage(&f), 1);
	s.row.bytes = 8;
	publish(&f, 0, &s, sizeof s);
	drain(f.p, DRAIN_ALL);
	CHECK_EQ(staged(&f, ROW_string), 1);
	CHECK_EQ(f.p->guest->staging.stages[record_by_kind(ROW_string) - records].tails.len, 8);
	tear_down(&f);
}

TEST(a_fill_level_that_cannot_be_is_counted_once)
{
	struct fixture f;

	if (!set_up(&f))
		return;
	for (uint32_t i = 0; i < 3; i++) {
		block(&f, i)->used = (uint32_t[]){ 0xfffffff8, SMALL_BLOCK, 12 }[i];
		f.p->guest->view.a->block_state[i] = BLOCK_OWNED;
	}
	f.p->guest->view.a->block_state[5] = 12345;
	for (int i = 0; i < 3; i++)
		drain(f.p, DRAIN_ALL);
	CHECK_EQ(damage(&f), 4);
	tear_down(&f);
}

TEST(arenas_of_random_bytes_end_in_health_rows_and_nothing_worse)
{
	struct fixture f;

	for (unsigned seed = 1; seed <= 12; seed++) {
		if (!set_up(&f))
			return;
		srand(seed);
		for (uint32_t i = 0; i < 4; i++) {
			struct block *b = block(&f, i);
			uint8_t *p = (uint8_t *)(b + 1);

			for (uint32_t k = 0; k < 4096; k++)
				p[k] = (uint8_t)rand();
			/* Every other one begins well, so that lengths and texts are looked at, too. */
			memcpy(p, &(struct row_head){ (uint16_t)(seed * 4 + i), 0, 8 * (uint32_t)(rand() % 64) }, 8);
			b->used = 4096;
			f.p->guest->view.a->block_state[i] = BLOCK_OWNED;
		}
		for (uint32_t s = 0; s < 16; s++) {
			uint8_t *p = (uint8_t *)&f.p->guest->view.a->slots[s];

			for (size_t k = 0; k < sizeof(struct slot); k++)
				p[k] = (uint8_t)rand();
		}
		f.p->guest->view.a->next_thread = 0xffffffff;
		salvage(f.p, false);
		CHECK(damage(&f) >= 1);
		tear_down(&f);
	}
}

static void ranges_end(uint32_t life, int64_t least, int64_t most)
{
	struct fixture f;
	struct api_bytes row = api(clocks_now(CLOCK_MONO));
	struct arena *a;

	if (!set_up(&f))
		return;
	publish(&f, 0, &row, sizeof row);
	a = f.p->guest->view.a;
	a->next_thread = 1;
	a->slots[0].owner = 1;
	a->slots[0].stack[0] = (struct open_range){ .id = 1ull << 40 | 1, .start = row.row.start - 500, .thread = 1,
		.name = 3 };
	a->slots[0].depth = 1;
	a->life = life;
	salvage(f.p, false);

	const struct stage *g = &f.p->guest->staging.stages[record_by_kind(ROW_range) - records];
	const struct range_row *r = (const struct range_row *)g->rows;

	if (CHECK_EQ(g->n, 1)) {
		CHECK(r->duration >= least && r->duration <= most);
		CHECK_EQ(r->flags, RANGE_INCOMPLETE);
		CHECK_EQ(r->name, 3);
	}
	CHECK_EQ(health_counts_find(&f.p->health_counts, HEALTH_ranges_open)->count, 1);
	tear_down(&f);
}

TEST(open_ranges_of_a_process_that_ended_well_end_at_its_last_known_time)
{
	ranges_end(LIFE_ENDED, 510, 510);
}

TEST(open_ranges_of_a_process_that_was_killed_end_when_it_was_seen_dead)
{
	ranges_end(LIFE_RUNNING, 511, 60000000000);
}
