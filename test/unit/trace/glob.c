#include "trace/rules/glob.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/test.h"

static bool matches(const char *pattern, const char *name)
{
	return glob_match(pattern, strlen(pattern), name, strlen(name));
}

TEST(a_glob_matches_the_whole_name)
{
	CHECK(matches("step", "step"));
	CHECK(!matches("step", "step 1"));
	CHECK(!matches("step", "a step"));
	CHECK(matches("step*", "step"));
	CHECK(matches("step*", "step 1"));
	CHECK(matches("*step*", "train_step_7"));
	CHECK(matches("*", ""));
	CHECK(matches("", ""));
	CHECK(!matches("", "x"));
	CHECK(!matches("?", ""));
	CHECK(matches("batch_??", "batch_12"));
	CHECK(!matches("batch_??", "batch_1"));
	CHECK(matches("a*b*c", "a1b2b3c"));
	CHECK(!matches("a*b*c", "a1c2b"));
}

TEST(a_set_has_members_ranges_and_its_opposite)
{
	CHECK(matches("step[0-9]", "step7"));
	CHECK(!matches("step[0-9]", "stepx"));
	CHECK(matches("[!0-9]x", "ax"));
	CHECK(matches("[^0-9]x", "ax"));
	CHECK(!matches("[!a]x", "ax"));
	CHECK(matches("[]]", "]"));
	CHECK(matches("[!]]", "a"));
	CHECK(matches("[a-]", "-"));
	CHECK(matches("[-a]", "-"));
	CHECK(matches("[\\]x]", "]"));
	CHECK(matches("[", "["));
	CHECK(matches("a[b", "a[b"));
	CHECK(matches("[!", "[!"));
	CHECK(!matches("[z-a]", "m"));
	CHECK(matches("[\xc0-\xff]", "\xe4"));
}

TEST(a_backslash_takes_the_meaning_away)
{
	CHECK(matches("\\*", "*"));
	CHECK(!matches("\\*", "a"));
	CHECK(matches("a\\[1]", "a[1]"));
	CHECK(matches("a\\", "a\\"));
}

TEST(a_glob_reads_no_byte_beyond_its_length)
{
	CHECK(glob_match("ab*", 2, "abc", 2));
	CHECK(!glob_match("a[bc]", 4, "ab", 2));        /* the ] is not part of it */
	CHECK(glob_match("a\\b", 2, "a\\b", 2));
	CHECK(glob_match("a\0b", 3, "a\0b", 3));
}

/* Random patterns of few letters, against libc.  Left out are the sets on which shells differ. */
TEST(globs_agree_with_fnmatch)
{
	static const char letters[] = "ab*?";
	unsigned matched = 0;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		char pattern[9] = "", name[11] = "";

		for (int n = rand() % 9, k = 0; k < n; k++)
			pattern[k] = letters[rand() % 4];
		for (int n = rand() % 11, k = 0; k < n; k++)
			name[k] = letters[rand() % 2];
		matched += matches(pattern, name);
		if (!CHECK_EQ(matches(pattern, name), fnmatch(pattern, name, 0) == 0))
			printf("  '%s' '%s'\n", pattern, name);
	}
	CHECK(matched > 10000);
}

TEST(a_glob_that_nearly_matches_takes_no_exponential_time)
{
	char name[4097];
	char pattern[129];

	memset(name, 'a', sizeof name - 1);
	for (size_t i = 0; i < sizeof pattern - 1; i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[126] = '*';
	pattern[127] = 'b';
	CHECK(!glob_match(pattern, 128, name, sizeof name - 1));
}

static bool range_matches(const char *spec, const char *range, const char *domain)
{
	struct glob_range g;

	CHECK_EQ(glob_range_parse(&g, spec, strlen(spec)), 0);
	return glob_range_match(&g, range, strlen(range), domain, domain ? strlen(domain) : 0);
}

TEST(a_range_alone_is_one_of_the_default_domain)
{
	CHECK(range_matches("step", "step", NULL));
	CHECK(range_matches("step", "step", ""));
	CHECK(!range_matches("step", "step", "NCCL"));
	CHECK(range_matches("step*", "step 1", NULL));
}

TEST(a_domain_names_one_or_any)
{
	CHECK(range_matches("step@main", "step", "main"));
	CHECK(!range_matches("step@main", "step", NULL));
	CHECK(!range_matches("step@main", "other", "main"));
	CHECK(range_matches("step@*", "step", NULL));
	CHECK(range_matches("step@*", "step", "NCCL"));
	CHECK(range_matches("step*@my*", "step 3", "mydomain"));
	CHECK(range_matches("a@b@c", "a@b", "c"));
	CHECK(range_matches("a\\@b", "a@b", NULL));
	CHECK(range_matches("a\\@b@c", "a@b", "c"));
}

TEST(a_range_or_domain_of_no_bytes_is_refused)
{
	struct glob_range g;

	CHECK_EQ(glob_range_parse(&g, "", 0), -1);
	CHECK_EQ(glob_range_parse(&g, "@", 1), -1);
	CHECK_EQ(glob_range_parse(&g, "step@", 5), -1);
	CHECK_EQ(glob_range_parse(&g, "@main", 5), -1);
	CHECK_EQ(glob_range_parse(&g, "step", 4), 0);
	CHECK(!g.domain);
}
