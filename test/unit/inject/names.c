#include "inject/ranges/names.h"

#include <stdio.h>
#include <string.h>

#include "inject/core/intern.h"
#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

static const void *domain(struct stream *s, const char *name)
{
	return names_domain(s, name, strlen(name));
}

TEST(thousands_of_domains_are_each_found_again)
{
	static const void *handles[20000];
	struct stream *s;
	char name[32];
	size_t wrong = 0;

	fake_session(64, 64);
	s = stream_enter();
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof name, "domain %d", i);
		handles[i] = domain(s, name);
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof name, "domain %d", i);
		wrong += !handles[i] || domain(s, name) != handles[i] || (i && handles[i] == handles[i - 1]);
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(fake_count(ROW_domain), 20000);
	stream_leave(s);
}

TEST(domains_of_cuda_libraries_are_known_by_their_name)
{
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	CHECK(names_domain_of_library(domain(s, "cuDNN")));
	CHECK(!names_domain_of_library(domain(s, "cuDNN2")));
	CHECK(!names_domain_of_library(NULL));
	CHECK(names_libraries_seen() != 0);
	stream_leave(s);
}

TEST(strings_beyond_the_limit_share_names_and_are_counted)
{
	struct stream *s;
	char text[64];
	uint32_t highest = 0, first;
	const char *shared;

	fake_session(8, 64);
	guest->config.string_limit = 100000;
	s = stream_enter();
	first = intern_text(s, "known before");
	for (int i = 0; i < 100000; i++) {
		uint32_t id;

		snprintf(text, sizeof text, "string number %d", i);
		id = intern_text(s, text);
		highest = id > highest ? id : highest;
		if (!id)
			break;
	}
	CHECK(highest > 1000 && highest < 8000);
	CHECK(guest->arena->health[HEALTH_strings_full].count > 90000);
	CHECK_EQ(intern_text(s, "known before"), first);
	shared = fake_string(intern_text(s, "one more"));
	CHECK(shared && strncmp(shared, "(one of many strings, #", 23) == 0);
	CHECK_EQ(intern_text(s, "one more"), intern_text(s, "one more"));
	stream_leave(s);
}

TEST(registered_strings_beyond_the_limit_share_handles)
{
	const void *a, *b;
	struct stream *s;
	const char *text;
	size_t n;

	fake_session(8, 8);
	guest->config.string_limit = 0;
	s = stream_enter();
	a = names_string(s, "the same", 8);
	b = names_string(s, "the same", 8);
	CHECK(a && a == b);
	text = names_string_text(a, &n);
	CHECK(n > 23 && strncmp(text, "(one of many strings, #", 23) == 0);
	CHECK(names_string_id(s, a) != 0);
	stream_leave(s);
}
