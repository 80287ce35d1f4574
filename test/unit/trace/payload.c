#include "trace/payload.h"

#include <string.h>

#include "test/unit/test.h"

struct seen {
	struct payload_value v[16];
	size_t n;
};

static void keep(void *arg, const struct payload_value *v)
{
	struct seen *s = arg;

	if (s->n < 16)
		s->v[s->n++] = *v;
}

static struct seen walk(const struct payload_entry *e, size_t n, uint32_t pack, const void *data, size_t len)
{
	struct seen s = { .n = 0 };

	payload_walk(&(struct payload_layout){ .entries = e, .n = n, .pack = pack }, data, len, keep, &s);
	return s;
}

TEST(entries_without_offset_lie_where_the_compiler_puts_members)
{
	struct { char a; double b; short c[3]; int d; char e; long double f; } whole = { 0 };
	const struct payload_entry e[] = {
		{ .type = PAYLOAD_CHAR }, { .type = PAYLOAD_DOUBLE }, { .flags = PAYLOAD_FIXED, .type = PAYLOAD_SHORT,
		.detail = 3 },
		{ .type = PAYLOAD_INT }, { .type = PAYLOAD_INT8 }, { .type = PAYLOAD_LONGDOUBLE },
	};
	struct seen s = walk(e, 6, 0, &whole, sizeof whole);
	struct payload_shape shape = payload_shape_of(&(struct payload_layout){ .entries = e, .n = 6 });

	CHECK_EQ(s.n, 6);
	CHECK_EQ(s.v[1].offset, (char *)&whole.b - (char *)&whole);
	CHECK_EQ(s.v[2].offset, (char *)&whole.c - (char *)&whole);
	CHECK_EQ(s.v[2].count, 3);
	CHECK_EQ(s.v[3].offset, (char *)&whole.d - (char *)&whole);
	CHECK_EQ(s.v[5].offset, (char *)&whole.f - (char *)&whole);
	CHECK_EQ(shape.size, sizeof whole);
	CHECK_EQ(shape.align, 16);
	s = walk(e, 6, 1, &whole, sizeof whole);
	CHECK_EQ(s.v[1].offset, 1);
	CHECK_EQ(s.v[5].offset, 1 + 8 + 6 + 4 + 1);
}

TEST(strings_without_a_length_are_pointers_and_with_one_are_in_place)
{
	const struct payload_entry e[] = {
		{ .type = PAYLOAD_CSTRING, .detail = 5 }, { .type = PAYLOAD_CSTRING }, { .type = PAYLOAD_REGISTERED },
		{ .flags = PAYLOAD_ZERO, .type = PAYLOAD_CSTRING }, { .type = PAYLOAD_CHAR },
	};
	uint8_t data[40] = { 0 };
	struct seen s;

	memcpy(data + 24, "abc", 4);
	s = walk(e, 5, 0, data, sizeof data);
	CHECK_EQ(s.n, 5);
	CHECK(!s.v[0].pointer && s.v[0].count == 5);
	CHECK(s.v[1].pointer && s.v[1].offset == 8);
	CHECK(s.v[2].pointer && s.v[2].offset == 16);
	CHECK(!s.v[3].pointer && s.v[3].count == 4);
	CHECK_EQ(s.v[4].offset, 28);
}

TEST(nothing_is_visited_that_does_not_lie_in_the_data)
{
	const struct payload_entry e[] = {
		{ .type = PAYLOAD_INT }, { .flags = PAYLOAD_LENGTH, .type = PAYLOAD_INT, .detail = 0 },
		{ .type = PAYLOAD_INT, .offset = 4 }, { .type = PAYLOAD_INT, .offset = UINT64_MAX },
		{ .flags = PAYLOAD_FIXED, .type = PAYLOAD_INT, .detail = UINT64_MAX / 2 }, { .type = 9999 },
		{ .flags = PAYLOAD_LENGTH, .type = PAYLOAD_INT, .detail = 63 },
	};
	const int data[] = { 1 << 30, 5 };
	struct seen s = walk(e, 7, 0, data, sizeof data);

	CHECK_EQ(s.n, 2);
	CHECK_EQ(s.v[1].entry, 2);
	s = walk(e, 7, 0, data, 3);
	CHECK_EQ(s.n, 0);
}

TEST(the_length_of_an_array_can_stand_in_another_entry)
{
	const struct payload_entry e[] = { { .type = PAYLOAD_UINT16 }, { .flags = PAYLOAD_LENGTH, .type = PAYLOAD_INT,
		.detail = 0 } };
	const int data[] = { 3, 10, 20, 30, 40 };
	struct seen s = walk(e, 2, 0, data, sizeof data);

	CHECK_EQ(s.n, 2);
	CHECK_EQ(s.v[1].offset, 4);
	CHECK_EQ(s.v[1].count, 3);
	CHECK_EQ(payload_shape_of(&(struct payload_layout){ .entries = e, .n = 2 }).size, 0);
}
