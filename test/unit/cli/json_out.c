#include "cli/ui/json_out.h"
#include "test/unit/test.h"

#include <inttypes.h>
#include <stdlib.h>

/* What fn writes, as a new string. */
static char *written(void (*fn)(struct out *o))
{
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out o;

	CHECK_EQ(out_init(&o, file), 0);
	fn(&o);
	CHECK_EQ(out_finish(&o), 0);
	fclose(file);
	return text;
}

static void check_written(void (*fn)(struct out *o), const char *want)
{
	char *got = written(fn);

	CHECK_STR(got, want);
	free(got);
}

TEST(numbers_are_written_as_printf_writes_them)
{
	char got[32], want[32];
	uint64_t v = 1;

	for (int i = 0; i < 2000; i++, v = v * 6364136223846793005u + 1442695040888963407u) {
		uint64_t n = i < 64 ? (1ull << i) - 1 : v >> (i % 64);

		*digits_u64(got, n) = '\0';
		snprintf(want, sizeof want, "%" PRIu64, n);
		CHECK_STR(got, want);
		*digits_i64(got, -(int64_t)(n >> 1)) = '\0';
		snprintf(want, sizeof want, "%" PRId64, -(int64_t)(n >> 1));
		CHECK_STR(got, want);
	}
	for (uint64_t p = 1; p <= 1000000000000000000; p *= 10)
		for (int d = -1; d <= 1; d++) {
			*digits_u64(got, p + (uint64_t)d) = '\0';
			snprintf(want, sizeof want, "%" PRIu64, p + (uint64_t)d);
			CHECK_STR(got, want);
		}
	*digits_u64(got, UINT64_MAX) = '\0';
	CHECK_STR(got, "18446744073709551615");
	*digits_i64(got, INT64_MIN) = '\0';
	CHECK_STR(got, "-9223372036854775808");
}

TEST(decimals_are_exact)
{
	char got[32];

	*digits_fixed(got, 1700000000123456789, 3) = '\0';
	CHECK_STR(got, "1700000000123456.789");
	*digits_fixed(got, 7, 3) = '\0';
	CHECK_STR(got, "0.007");
	*digits_fixed(got, -1050, 3) = '\0';
	CHECK_STR(got, "-1.050");
	*digits_fixed(got, 0, 1) = '\0';
	CHECK_STR(got, "0.0");
	*digits_fixed(got, 12, 0) = '\0';
	CHECK_STR(got, "12");
}

static void strings(struct out *o)
{
	json_string(o, "a\"b\\c\n\t\x01\x7f/");
	json_string(o, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82");
	json_string(o, "\xff-\xc3(-\xe0\x80\x80-\xed\xa0\x80-\xf4\x90\x80\x80-\xe2\x82");
	json_string_n(o, "nul\0l", 5);
}

TEST(json_strings_are_escaped_and_broken_utf8_is_replaced)
{
#define R "\xef\xbf\xbd"
	check_written(strings,
		      "\"a\\\"b\\\\c\\n\\t\\u0001\x7f/\""
		      "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82\""
		      "\"" R "-" R "(-" R R R "-" R R R "-" R R R R "-" R R "\""
		      "\"nul\\u0000l\"");
}

static void visible(struct out *o)
{
	out_visible(o, "abc\x1b[31mdef", 100);
	out_visible(o, " gr\xc3\xbc\xc3\x9f" "e an alle", 8);
	out_visible(o, "|\xff|", 8);
}

TEST(text_for_people_moves_no_cursor_and_is_cut_by_characters)
{
	check_written(visible, "abc?[31mdef gr\xc3\xbc\xc3\x9f" "e \xe2\x80\xa6|?|");
}

static void large(struct out *o)
{
	char *text = malloc(OUT_BUFFER + 10);

	memset(text, 'x', OUT_BUFFER + 10);
	for (unsigned i = 0; i < 1000; i++)
		out_bytes(o, text, 1000);
	out_bytes(o, text, OUT_BUFFER + 10);
	out_char(o, '.');
	free(text);
}

TEST(no_byte_is_lost_at_the_edge_of_the_buffer)
{
	char *got = written(large);
	size_t n = strlen(got);

	CHECK_EQ(n, 1000 * 1000 + OUT_BUFFER + 10 + 1);
	CHECK_EQ(strspn(got, "x"), n - 1);
	free(got);
}

TEST(a_full_disk_is_told_at_the_end)
{
	FILE *full = fopen("/dev/full", "w");
	struct out o;

	if (!full) {
		test_skip("no /dev/full");
		return;
	}
	CHECK_EQ(out_init(&o, full), 0);
	for (unsigned i = 0; i < 1000000; i++)
		out_lit(&o, "0123456789");
	CHECK_EQ(out_finish(&o), -1);
	fclose(full);
}
