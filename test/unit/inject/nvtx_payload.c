#include "inject/nvtx/nvtx_payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/ranges/names.h"
#include "test/unit/inject/fake.h"
#include "test/unit/test.h"
#include "trace/payload.h"

#define STATIC_MASK (1u << NVTX_SCHEMA_NAME | 1u << NVTX_SCHEMA_TYPE | 1u << NVTX_SCHEMA_ENTRIES | 1u << NVTX_SCHEMA_COUNT)

static uint64_t schema(struct stream *s, const void *domain, const char *name, const struct nvtx_schema_entry *e,
		       size_t n, uint64_t id)
{
	const struct nvtx_schema a = { .mask = STATIC_MASK | (id ? 1u << NVTX_SCHEMA_ID : 0), .name = name, .type = 1,
		.entries = e,
				       .n = n, .id = id };

	return payload_schema(s, domain, &a);
}

TEST(a_schema_keeps_the_id_of_the_program_or_gets_one_of_ours)
{
	const struct nvtx_schema_entry e = { .type = PAYLOAD_INT, .name = "x" };
	struct stream *s;
	uint64_t a, b;

	fake_session(4, 4);
	s = stream_enter();
	CHECK_EQ(schema(s, NULL, "fixed", &e, 1, (1 << 24) + 9), (1 << 24) + 9);
	a = schema(s, NULL, "a", &e, 1, 0);
	b = schema(s, NULL, "b", &e, 1, 0);
	CHECK(a >= 1ull << 32 && b >= 1ull << 32 && a != b);
	CHECK_EQ(fake_count(ROW_schema), 3);
	CHECK_EQ(fake_count(ROW_schema_entry), 3);
	CHECK_STR(fake_string(((const struct schema_row *)fake_row(ROW_schema, 1))->name), "a");
	CHECK_EQ(payload_schema(s, NULL, &(struct nvtx_schema){ .mask = 0 }), 0);
	stream_leave(s);
}

TEST(ids_are_those_of_a_domain_and_a_later_registration_counts)
{
	const struct nvtx_schema_entry e = { .type = PAYLOAD_INT };
	const int value = 1;
	const struct nvtx_payload p = { (1 << 24) + 77, sizeof value, &value };
	const void *other;
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	other = names_domain(s, "payload test", 12);
	schema(s, NULL, "old", &e, 1, p.schema);
	schema(s, NULL, "new", &e, 1, p.schema);
	schema(s, other, "other", &e, 1, p.schema);
	CHECK_STR(fake_string(payload_name(s, NULL, &p, 1)), "new");
	CHECK_STR(fake_string(payload_name(s, other, &p, 1)), "other");
	CHECK_EQ(payload_name(s, NULL, &(struct nvtx_payload){ .schema = 5 }, 1), 0);
	stream_leave(s);
}

/* Some containers forbid it, some emulators have not heard of it; then the pointer is all there is. */
static bool kernel_reads(void)
{
	char from = 'x', to;
	struct iovec a = { &to, 1 }, b = { &from, 1 };

	return process_vm_readv(getpid(), &a, 1, &b, 1, 0) == 1;
}

TEST(payloads_are_copied_up_to_the_limit_and_texts_behind_them)
{
	const struct nvtx_schema_entry e[] = { { .type = PAYLOAD_CSTRING, .name = "p" }, { .type = PAYLOAD_CSTRING, .name = "bad" } };
	const void *data[2] = { "behind a pointer", (void *)8 };
	const char *text = kernel_reads() ? data[0] : "";
	char *large = calloc(1, 1000);
	const struct payload_row *row;
	struct stream *s;
	uint64_t id;

	fake_session(4, 4);
	s = stream_enter();
	id = schema(s, NULL, "texts", e, 2, 0);
	payload_rows(s, NULL, PAYLOAD_BEGIN, 7, 1, (const struct nvtx_payload[]){ { id, sizeof data, data },
		{ PAYLOAD_RAW, 1000, large }, { PAYLOAD_INT, SIZE_MAX, large }, { PAYLOAD_REFERENCED, 10, large } },
		4);
	CHECK_EQ(fake_count(ROW_payload), 3);
	row = fake_row(ROW_payload, 0);
	CHECK_EQ(row->range, 7);
	CHECK_EQ(row->kept, 16);
	CHECK_EQ(row->bytes, 16 + strlen(text) + 1 + 1);
	CHECK_STR((const char *)(row + 1) + 16, text);
	row = fake_row(ROW_payload, 1);
	CHECK_EQ(row->size, 1000);
	CHECK_EQ(row->bytes, PAYLOAD_MAX);
	CHECK_EQ(((const struct payload_row *)fake_row(ROW_payload, 2))->size, 4);
	fake_order(0);
	payload_rows(s, NULL, PAYLOAD_BEGIN, 7, 1, &(struct nvtx_payload){ PAYLOAD_RAW, 10, large }, 1);
	CHECK_EQ(fake_count(ROW_payload), 3);
	stream_leave(s);
	free(large);
}

TEST(a_forked_child_describes_a_schema_anew)
{
	const struct nvtx_schema_entry e = { .type = PAYLOAD_INT, .name = "x" };
	const int value = 1;
	struct stream *s;
	uint64_t id;

	fake_session(4, 4);
	s = stream_enter();
	id = schema(s, NULL, "inherited", &e, 1, 0);
	stream_leave(s);
	fake_session(4, 4);
	s = stream_enter();
	payload_rows(s, NULL, PAYLOAD_MARK, 0, 5, &(struct nvtx_payload){ id, 4, &value }, 1);
	payload_rows(s, NULL, PAYLOAD_MARK, 0, 5, &(struct nvtx_payload){ id, 4, &value }, 1);
	CHECK_EQ(fake_count(ROW_schema), 1);
	CHECK_EQ(fake_count(ROW_schema_entry), 1);
	stream_leave(s);
}

/* Returns how many of `times` schemas with n entries are kept. */
static int kept(struct stream *s, size_t n, int times)
{
	static struct nvtx_schema_entry entries[1024];
	int all = 0;

	for (size_t i = 0; i < n; i++)
		entries[i] = (struct nvtx_schema_entry){ .type = PAYLOAD_INT };
	for (int i = 0; i < times; i++)
		all += schema(s, NULL, NULL, entries, n, 0) != 0;
	return all;
}

/* Of some 48 KiB each. */
static bool large_ones_end(struct stream *s)
{
	int n = kept(s, 1024, 2000);

	return n > 100 && n < 500;
}

/* The refused large ones took nothing. */
static bool small_ones_fit_where_large_ones_do_not(struct stream *s)
{
	return large_ones_end(s) && kept(s, 1, 50) > 0;
}

static bool small_ones_are_as_many_as_fit(struct stream *s)
{
	return kept(s, 1, 70000) == 70000;
}

/* In a child: what is taken is never given back. */
static bool in_child(bool (*fn)(struct stream *s))
{
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		fake_session(4, 4);
		_exit(fn(stream_enter()) ? 0 : 1);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(schemas_without_end_take_16_mib_and_no_more)
{
	CHECK(in_child(large_ones_end));
	CHECK(in_child(small_ones_fit_where_large_ones_do_not));
	CHECK(in_child(small_ones_are_as_many_as_fit));
}
