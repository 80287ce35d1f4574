#include "inject/core/intern.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "inject/core/lock.h"
#include "inject/ranges/names.h"
#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

TEST(equal_strings_have_one_id_and_are_described_once)
{
	struct stream *s;
	uint32_t a, b, c;

	fake_session(4, 4);
	s = stream_enter();
	a = intern_text(s, "forward");
	b = intern_text(s, "backward");
	c = intern_text(s, "forward");
	CHECK(a && b && a != b);
	CHECK_EQ(a, c);
	CHECK_EQ(fake_count(ROW_string), 2);
	CHECK_STR(fake_string(a), "forward");
	CHECK_EQ(intern_text(s, NULL), 0);
	CHECK(intern_text(s, "") != 0);
	stream_leave(s);
}

TEST(text_that_changes_at_its_address_is_another_string)
{
	char text[64];
	uint32_t first, second;
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	strcpy(text, "step 1");
	first = intern_text(s, text);
	strcpy(text, "step 2");
	second = intern_text(s, text);
	CHECK(first != second);
	CHECK_STR(fake_string(second), "step 2");
	strcpy(text, "step");
	CHECK(intern_text(s, text) != second);
	strcpy(text, "step 1");
	CHECK_EQ(intern_text(s, text), first);
	for (size_t n = 0; n < sizeof text; n++)        /* every length of the hash's tail */
		CHECK_EQ(intern_bytes(s, "0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", n),
			 intern_bytes(s, "0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", n));
	stream_leave(s);
}

TEST(wide_strings_become_utf8_and_meet_their_narrow_twins)
{
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	CHECK_EQ(intern_wide(s, L"größe \U0001F680"), intern_text(s, "größe \xf0\x9f\x9a\x80"));
	CHECK_STR(fake_string(intern_wide(s, (const wchar_t[]){ 0x7fffffff, 0xd800, 0 })), "\xef\xbf\xbd\xef\xbf\xbd");
	stream_leave(s);
}

TEST(many_strings_keep_their_ids_while_the_table_grows)
{
	static uint32_t ids[50000];
	char text[32];
	struct stream *s;

	fake_session(64, 64);
	s = stream_enter();
	for (int i = 0; i < 50000; i++) {
		snprintf(text, sizeof text, "name %d", i);
		ids[i] = intern_text(s, text);
	}
	for (int i = 0; i < 50000; i++) {
		snprintf(text, sizeof text, "name %d", i);
		if (!CHECK_EQ(intern_text(s, text), ids[i]))
			break;
	}
	CHECK_EQ(fake_count(ROW_string), 50000);
	stream_leave(s);
}

TEST(a_string_that_could_not_be_described_has_no_id_and_gets_one_later)
{
	struct stream *s;
	char text[1024];
	int i = 0;

	fake_session(1, 0);
	s = stream_enter();
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	do
		snprintf(text, 16, "%015d", i++);
	while (intern_bytes(s, text, sizeof text - 1));
	CHECK(guest->arena->drops[ROW_string].count == 1);
	s->block->used = 0;     /* the collector made room */
	CHECK(intern_bytes(s, text, sizeof text - 1) != 0);
	stream_leave(s);
}

static void *intern_many(void *arg)
{
	uint32_t *ids = arg;
	char text[32];

	for (int i = 0; i < 5000; i++) {
		struct stream *s = stream_enter();

		snprintf(text, sizeof text, "shared %d", i);
		ids[i] = intern_text(s, text);
		stream_leave(s);
	}
	return NULL;
}

TEST(threads_that_meet_a_string_at_once_agree_on_its_id)
{
	static uint32_t ids[4][5000];
	pthread_t t[4];

	fake_session(64, 64);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, intern_many, ids[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	CHECK_EQ(fake_count(ROW_string), 5000);
	for (int i = 1; i < 4; i++)
		CHECK(memcmp(ids[0], ids[i], sizeof ids[0]) == 0);
}

TEST(a_launch_configuration_is_described_once_with_its_id)
{
	struct config_row a = { .grid_x = 1, .block_x = 256 }, b = a, c = { .grid_x = 2, .block_x = 256 };
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	CHECK_EQ(intern_config(s, &a), intern_config(s, &b));
	CHECK(intern_config(s, &c) != a.id);
	CHECK_EQ(fake_count(ROW_config), 2);
	CHECK_EQ(((const struct config_row *)fake_row(ROW_config, 1))->id, c.id);
	stream_leave(s);
}

TEST(handles_of_names_survive_a_new_process_and_foreign_ones_are_harmless)
{
	const void *string, *domain, *again;
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	string = names_string(s, "loss", 4);
	domain = names_domain(s, "train", 5);
	again = names_domain(s, "train", 5);
	CHECK(string && domain);
	CHECK(domain == again);
	CHECK_EQ(fake_count(ROW_domain), 1);
	CHECK_EQ(names_string_id(s, (const void *)0x7fff12345678), 0);
	CHECK_EQ(names_domain_id(s, (const void *)~0ull), 0);
	stream_leave(s);

	fake_session(4, 4);     /* as a forked child finds it */
	s = stream_enter();
	CHECK_STR(fake_string(names_string_id(s, string)), "loss");
	CHECK(names_domain_id(s, domain) != 0);
	CHECK_EQ(fake_count(ROW_domain), 1);
	CHECK_STR(fake_string(((const struct domain_row *)fake_row(ROW_domain, 0))->name), "train");
	stream_leave(s);
}

TEST(a_lock_whose_holder_is_gone_is_waited_for_but_not_for_ever)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);
	uint32_t lock;

	fake_session(4, 4);
	lock = guest->epoch;
	lock_take(&lock);
	CHECK(clock_ns(CLOCK_MONOTONIC) - begin >= LOCK_WAIT_NS);
	lock_give(&lock);
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);      /* waiting spins; other people's load does not count */
	lock_take(&lock);
	CHECK(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < LOCK_WAIT_NS / 10);
}

TEST(a_lock_that_was_held_while_the_process_was_forked_is_free)
{
	int64_t begin;
	uint32_t lock;

	fake_session(4, 4);
	lock = guest->epoch;
	fake_session(4, 4);     /* as a forked child finds it */
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);      /* waiting spins; other people's load does not count */
	lock_take(&lock);
	CHECK(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < LOCK_WAIT_NS / 10);
	CHECK_EQ(lock, guest->epoch);
}

TEST(code_objects_are_one_when_names_lines_and_table_are)
{
	struct code_row a = { .name = 1, .file = 2, .first_line = 3, .version = 0x030b, .bytes = 5 }, b = a;
	const struct code_row *row;
	struct stream *s;
	uint32_t id;

	fake_session(4, 4);
	s = stream_enter();
	id = intern_code(s, &a, "table");
	CHECK(id != 0);
	CHECK_EQ(intern_code(s, &b, "table"), id);
	CHECK(intern_code(s, &b, "tablE") != id);
	b.first_line = 4;
	CHECK(intern_code(s, &b, "table") != id);
	CHECK_EQ(fake_count(ROW_code), 3);
	row = fake_row(ROW_code, 0);
	CHECK_EQ(row->id, id);
	CHECK_EQ(row->bytes, 5);
	CHECK(memcmp(row + 1, "table", 5) == 0);
	stream_leave(s);
}
