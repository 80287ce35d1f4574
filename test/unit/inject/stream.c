#include "inject/core/stream.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "inject/core/module.h"
#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

static bool write_row(struct stream *s, unsigned kind)
{
	struct mark_row *row = stream_reserve(s, kind, sizeof *row);

	if (!row)
		return false;
	*row = (struct mark_row){ .thread = s->thread };
	stream_publish(s, row);
	return true;
}

TEST(the_first_row_of_a_thread_is_its_own_description)
{
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	CHECK(s != NULL);
	write_row(s, ROW_mark);
	stream_leave(s);
	CHECK_EQ(fake_count(ROW_thread), 1);
	CHECK_EQ(((const struct thread_row *)fake_row(ROW_thread, 0))->id, 1);
	CHECK_EQ(((const struct mark_row *)fake_row(ROW_mark, 0))->thread, 1);
}

TEST(a_hook_inside_a_hook_records_nothing_and_is_counted)
{
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	CHECK(stream_enter() == NULL);
	stream_leave(s);
	CHECK_EQ(guest->arena->health[HEALTH_nested].count, 1);
	s = stream_enter();
	CHECK(s != NULL);
	stream_leave(s);
}

TEST(a_full_block_is_handed_over_and_rings_the_bell)
{
	struct stream *s;
	uint32_t first;

	fake_session(2, 2);
	s = stream_enter();
	first = s->block->index;
	while (s->block->index == first)
		write_row(s, ROW_mark);
	CHECK_EQ(guest->arena->block_state[first], BLOCK_FULL);
	CHECK_EQ(guest->bell->rings, 1);
	CHECK(s->block->index >= guest->arena->n_small);
	stream_leave(s);
}

TEST(when_the_arena_is_full_api_rows_give_way_before_gpu_rows_and_every_drop_is_counted)
{
	uint64_t marks = 0, kernels = 0;
	struct stream *s;

	fake_session(8, 8);
	s = stream_enter();
	while (write_row(s, ROW_mark))
		marks++;
	CHECK_EQ(guest->arena->drops[ROW_mark].count, 1);
	CHECK_EQ(fake_count(ROW_mark), marks);
	while (write_row(s, ROW_kernel))
		kernels++;
	CHECK(kernels > 0);
	CHECK(!write_row(s, ROW_mark));
	CHECK_EQ(guest->arena->drops[ROW_mark].count, 2);
	CHECK_EQ(guest->arena->drops[ROW_kernel].count, 1);
	CHECK_EQ(guest->arena->health[HEALTH_no_block].count, 3);
	/* The collector frees one: recording goes on. */
	guest->arena->block_state[0] = BLOCK_FREE;
	arena_block(guest->arena, 0)->used = 0;
	guest->arena->n_taken -= 4;
	CHECK(write_row(s, ROW_kernel));
	stream_leave(s);
}

TEST(a_row_larger_than_a_block_is_dropped_and_the_next_is_not)
{
	struct stream *s;

	fake_session(8, 8);
	s = stream_enter();
	CHECK(stream_reserve(s, ROW_string, 2 * LARGE_BLOCK) == NULL);
	CHECK_EQ(guest->arena->drops[ROW_string].count, 1);
	CHECK(write_row(s, ROW_mark));
	stream_leave(s);
}

static void *one_row(void *arg)
{
	struct stream *s = stream_enter();

	if (s) {
		write_row(s, ROW_mark);
		stream_leave(s);
	}
	return arg;
}

static void *half_a_block(void *arg)
{
	struct stream *s = stream_enter();

	while (s->block->used <= s->block->cap / 2)
		write_row(s, ROW_mark);
	stream_leave(s);
	return arg;
}

TEST(threads_that_end_give_their_block_and_their_place_back)
{
	pthread_t t;

	stream_module.init();
	fake_session(4, 4);
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, half_a_block, NULL);
		pthread_join(t, NULL);
	}
	for (uint32_t i = 0; i < MAX_SLOTS; i++)
		CHECK_EQ(guest->arena->slots[i].owner, 0);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(guest->arena->block_state[i], BLOCK_FULL);
}

TEST(short_threads_share_a_block)
{
	pthread_t t;

	stream_module.init();
	fake_session(1, 1);
	for (int i = 0; i < 50; i++) {
		pthread_create(&t, NULL, one_row, NULL);
		pthread_join(t, NULL);
	}
	CHECK_EQ(fake_count(ROW_mark), 50);
	CHECK_EQ(fake_count(ROW_thread), 50);
	CHECK_EQ(guest->arena->n_taken, 1);
	CHECK_EQ(guest->bell->rings, 0);
}

TEST(more_threads_than_places_still_record)
{
	struct stream *s;

	fake_session(4, 4);
	for (uint32_t i = 0; i < MAX_SLOTS; i++)
		guest->arena->slots[i].owner = i + 100;
	s = stream_enter();
	CHECK(s && s->slot);
	CHECK(write_row(s, ROW_mark));
	stream_leave(s);
	CHECK_EQ(guest->arena->health[HEALTH_no_slot].count, 1);
}

static bool has_name(size_t i, const char *name)
{
	const struct thread_row *row = fake_row(ROW_thread, i);

	return row && row->bytes == strlen(name) && memcmp(row + 1, name, row->bytes) == 0;
}

TEST(the_last_name_that_the_kernel_has_of_a_thread_is_told_once)
{
	char before[17] = "", known[THREAD_NAME] = "";
	struct stream *s;

	prctl(PR_GET_NAME, before);
	fake_session(4, 4);
	s = stream_enter();
	stream_follow_name(s, known);
	CHECK_EQ(fake_count(ROW_thread), 1);
	prctl(PR_SET_NAME, "named later on");
	stream_follow_name(s, known);
	stream_follow_name(s, known);
	CHECK_EQ(fake_count(ROW_thread), 2);
	CHECK(has_name(1, "named later on"));
	CHECK_EQ(((const struct thread_row *)fake_row(ROW_thread, 1))->id, s->thread);
	CHECK_EQ(((const struct thread_row *)fake_row(ROW_thread, 1))->tid, s->slot->tid);
	stream_leave(s);
	prctl(PR_SET_NAME, before);
}

TEST(a_name_that_the_program_gave_a_thread_stays)
{
	char before[17] = "", known[THREAD_NAME] = "";
	struct stream *s;

	prctl(PR_GET_NAME, before);
	fake_session(4, 4);
	s = stream_enter();
	stream_follow_name(s, known);
	stream_name_thread(s, (uint32_t)s->slot->tid, "loader", 6);
	prctl(PR_SET_NAME, "named later on");
	stream_follow_name(s, known);
	CHECK_EQ(fake_count(ROW_thread), 2);
	CHECK(has_name(1, "loader"));
	stream_leave(s);
	prctl(PR_SET_NAME, before);
}
