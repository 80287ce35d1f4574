#include "collector/stage.h"

#include "test/unit/test.h"
#include "trace/wire.h"

static struct stage *stage_of(struct staging *s, unsigned kind)
{
	return &s->stages[record_by_kind(kind) - records];
}

TEST(rows_that_cannot_be_written_are_counted_by_kind)
{
	struct output closed = OUTPUT_INIT;
	struct kernel_row kernel = { .start = 1 };
	struct staging s;

	if (!CHECK_EQ(staging_init(&s, &closed, 1, CLOCK_MONO), 0))
		return;
	for (int i = 0; i < 100; i++)
		staging_put(&s, record_by_kind(ROW_kernel), &kernel, NULL, 0);
	staging_write(&s);
	CHECK_EQ(stage_of(&s, ROW_kernel)->lost, 100);
	CHECK(stage_of(&s, ROW_kernel)->lost_first > 0);
	CHECK_EQ(stage_of(&s, ROW_api)->lost, 0);
	staging_release(&s);
	CHECK_EQ(closed.staged, 0);
}

TEST(tails_stand_one_after_the_other_without_gaps)
{
	struct output closed = OUTPUT_INIT;
	struct string_row row = { .bytes = 3 };
	struct staging s;

	if (!CHECK_EQ(staging_init(&s, &closed, 1, CLOCK_MONO), 0))
		return;
	staging_put(&s, record_by_kind(ROW_string), &row, "abc", 3);
	staging_put(&s, record_by_kind(ROW_string), &row, "", 0);
	staging_put(&s, record_by_kind(ROW_string), &row, "def", 3);
	CHECK_EQ(stage_of(&s, ROW_string)->n, 3);
	CHECK_EQ(stage_of(&s, ROW_string)->tails.len, 6);
	CHECK(memcmp(stage_of(&s, ROW_string)->tails.data, "abcdef", 6) == 0);
	staging_release(&s);
}

/* Beyond it a process still gets its first 32 rows of a kind. */
TEST(all_processes_together_stage_no_more_than_128_mib)
{
	enum { PROCESSES = 300 };
	static struct staging s[PROCESSES];
	struct output closed = OUTPUT_INIT;
	struct kernel_row kernel = { .start = 1 };

	for (int i = 0; i < PROCESSES; i++) {
		if (!CHECK_EQ(staging_init(&s[i], &closed, 1, CLOCK_MONO), 0))
			return;
		for (int k = 0; k < 12000; k++)
			staging_put(&s[i], record_by_kind(ROW_kernel), &kernel, NULL, 0);
		CHECK(closed.staged <= (128ull << 20) + PROCESSES * 32 * sizeof kernel);
	}
	for (int i = 0; i < PROCESSES; i++)
		staging_release(&s[i]);
	CHECK_EQ(closed.staged, 0);
}

TEST(a_stage_that_was_idle_for_two_writes_holds_no_memory)
{
	struct output closed = OUTPUT_INIT;
	struct kernel_row kernel = { .start = 1 };
	struct staging s;

	if (!CHECK_EQ(staging_init(&s, &closed, 1, CLOCK_MONO), 0))
		return;
	staging_put(&s, record_by_kind(ROW_kernel), &kernel, NULL, 0);
	staging_write(&s);
	staging_write(&s);
	CHECK(stage_of(&s, ROW_kernel)->cap > 0);
	staging_write(&s);
	CHECK_EQ(stage_of(&s, ROW_kernel)->cap, 0);
	staging_release(&s);
}
