#include "trace/grow.h"

#include "test/unit/test.h"

TEST(a_list_grows_by_doubling_and_keeps_its_elements)
{
	size_t cap = 0, times = 0;
	uint32_t *list = NULL;
	bool kept = true;

	for (uint32_t n = 0; n < 100000; n++) {
		size_t before = cap;

		if (!GROW(list, n + 1u, cap))
			break;
		times += cap != before;
		list[n] = n;
	}
	for (uint32_t n = 0; n < 100000; n++)
		kept &= list[n] == n;
	CHECK(kept);
	CHECK_EQ(cap, 131072);
	CHECK_EQ(times, 14);
	free(list);
}

TEST(a_list_grows_at_once_to_what_is_needed_and_never_shrinks)
{
	uint64_t *list = NULL;
	size_t cap = 0;

	CHECK(GROW(list, 1000, cap));
	CHECK_EQ(cap, 1000);
	CHECK(GROW(list, 10, cap));
	CHECK_EQ(cap, 1000);
	CHECK(GROW(list, 1001, cap));
	CHECK_EQ(cap, 2000);
	list[1999] = 1;
	free(list);
}

TEST(lists_that_share_a_capacity_have_the_same_room)
{
	size_t cap = 0;
	uint64_t *a = NULL;
	uint8_t *b = NULL;

	for (size_t n = 0; n < 100; n++) {
		size_t same = cap;

		CHECK(GROW(a, n + 1, same) && GROW(b, n + 1, cap));
		CHECK_EQ(same, cap);
		a[n] = b[n] = (uint8_t)n;
	}
	free(a);
	free(b);
}

TEST(a_size_above_size_t_is_refused_and_the_list_unchanged)
{
	uint64_t one = 1, *list = &one;
	size_t cap = 1;

	CHECK(!GROW(list, SIZE_MAX / 8 + 1, cap));
	CHECK(!GROW(list, SIZE_MAX, cap));
	CHECK(list == &one);
	CHECK_EQ(cap, 1);
	/* A capacity whose double does not exist: the list grows to what is needed, here too much. */
	cap = SIZE_MAX / 2 + 2;
	CHECK(!GROW(list, cap + 1, cap));
	CHECK(list == &one);
	CHECK_EQ(cap, SIZE_MAX / 2 + 2);
}
