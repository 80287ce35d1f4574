#include "collector/arena.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/unit/test.h"

static const struct orders_given on = { .n_orders = 1, .orders = { { .order = { .mask = ORDER_ALL, .window = 1 } } } };

static bool make(struct arena_view *v, uint64_t size, int *fd)
{
	return CHECK_EQ(arena_new(v, "/tmp", size, 5, CLOCK_MONO, &on, fd), 0);
}

TEST(an_arena_tells_its_layout_and_both_sides_find_the_same_blocks)
{
	struct arena_view v;
	int fd;

	if (!make(&v, 256 << 20, &fd))
		return;
	CHECK_EQ(v.a->magic, ARENA_MAGIC);
	CHECK_EQ(v.a->process, 5);
	CHECK_EQ(v.a->orders[0].mask, ORDER_ALL);
	for (uint32_t i = 0; i < arena_n_blocks(&v); i += 17)
		CHECK(arena_block(v.a, i) == arena_view_block(&v, i));
	close(fd);
	arena_release(&v);
}

TEST(the_last_block_ends_inside_the_arena_at_every_size)
{
	static const uint64_t sizes[] = { 0, 1, 9 << 20, 13 << 20, 64 << 20, 1 << 30, 8ull << 30 };
	struct arena_view v;
	int fd;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		if (!make(&v, sizes[i], &fd))
			return;

		uint32_t last = arena_n_blocks(&v) - 1;
		char *end = (char *)(arena_view_block(&v, last) + 1) + arena_block_cap(&v, last);

		CHECK(v.layout.n_small >= 16 && v.layout.n_large >= 12);
		CHECK(last < MAX_BLOCKS);
		CHECK(end <= (char *)v.a + v.layout.size);
		CHECK(v.layout.size <= sizes[i] || sizes[i] < 13 << 20);
		close(fd);
		arena_release(&v);
	}
}

TEST(a_guest_cannot_shrink_its_arena)
{
	struct arena_view v;
	int fd;

	if (!make(&v, 16 << 20, &fd))
		return;
	CHECK(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
	CHECK_EQ(ftruncate(fd, 4096), -1);
	close(fd);
	arena_release(&v);
}
