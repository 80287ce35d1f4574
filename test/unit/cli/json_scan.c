#include "cli/import/json/json_scan.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/test.h"

/* Bytes that come a few at a time, each part ending in front of memory that says so when it is wrong. */
struct drip {
	struct scan scan;
	uint8_t bytes[4096 + JSON_SLACK];
	size_t n, step;
};

static bool more(struct scan *s)
{
	struct drip *d = s->arg;
	size_t have = (size_t)(s->end - d->bytes), now = have + d->step < d->n ? have + d->step : d->n;

	s->end = d->bytes + now;
	return now > have;
}

static struct scan *drip(struct drip *d, const char *text, size_t step)
{
	d->n = strlen(text);
	d->step = step;
	memset(d->bytes, '"', sizeof d->bytes); /* what is not there yet looks like an end */
	memcpy(d->bytes, text, d->n);
	d->scan = (struct scan){ .p = d->bytes, .end = d->bytes, .more = more, .arg = d };
	scan_init(&d->scan);
	return &d->scan;
}

static struct json_value value_of(const char *text)
{
	static struct drip d;
	struct json_value v;

	scan_value(drip(&d, text, 4096), &v);
	return v;
}

static bool us(const char *text, int64_t *ns, bool *fraction)
{
	struct json_value v = value_of(text);

	*fraction = false;
	return json_us(&v, ns, fraction);
}

TEST(values_are_the_same_however_their_bytes_come)
{
	static const char text[] = "  {\"a\": 12, \"b\\\"c\" : \"x \\\\ y\",\n\t\"long\": \"0123456789012345678901234567890123456789\""
				   ", \"l\": [[1, 2], {\"]\": \"}\"}], \"t\": true, \"n\": null, \"w\": -Infinity}  ";

	for (size_t step = 1; step < 80; step++) {
		static const enum json_type types[] = { JSON_NUMBER, JSON_TEXT, JSON_TEXT, JSON_LIST, JSON_TRUE, JSON_NULL,
							JSON_WORD };
		static const size_t lengths[] = { 2, 6, 40, 20, 4, 4, 9 };
		struct drip d;
		struct scan *s = drip(&d, text, step);
		struct json_value key, v;

		CHECK_EQ(scan_peek(s), '{');
		s->p++;
		for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
			CHECK_EQ(scan_key(s, &key), JSON_TEXT);
			CHECK_EQ(scan_value(s, &v), types[i]);
			CHECK_EQ(v.type, types[i]);
			CHECK_EQ(v.n, lengths[i]);
		}
		CHECK_EQ(scan_key(s, &key), JSON_OBJECT);
		CHECK_EQ(scan_peek(s), -1);
	}
}

TEST(both_ways_to_find_a_quote_find_the_same)
{
	uint8_t bytes[300 + JSON_SLACK];

	if (!scan_has_avx2())
		return test_skip("this processor has no AVX2");
	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)rand() % 300, from = n ? (size_t)rand() % n : 0;
		const uint8_t *plain, *avx2;

		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (uint8_t)(rand() % 60 ? 0x80 | rand() : rand() % 2 ? '"' : '\\');
		plain = scan_find_plain(bytes + from, bytes + n);
		avx2 = scan_find_avx2(bytes + from, bytes + n);
		CHECK((plain >= bytes + n && avx2 >= bytes + n) || plain == avx2);
		for (const uint8_t *p = bytes + from; p < plain && p < bytes + n; p++)
			CHECK(*p != '"' && *p != '\\');
	}
}

TEST(quotes_that_were_not_escaped_stay_in_their_text)
{
	struct drip d;
	struct scan *s = drip(&d, "\"void f<\"x\">(\"\")\", \"next\"", 5);
	struct json_value v;

	CHECK_EQ(scan_value(s, &v), JSON_TEXT);
	CHECK_EQ(v.n, strlen("void f<\"x\">(\"\")"));
	CHECK_EQ(s->odd_quotes, 4);
	CHECK_EQ(scan_peek(s), ',');
}

TEST(brackets_are_counted_up_to_a_depth)
{
	size_t n = 2000000;
	uint8_t *deep = malloc(n + JSON_SLACK);
	struct json_value v;
	struct drip d;
	struct scan s = { .p = deep, .end = deep + 2000, .more = more, .arg = &d };

	d.n = d.step = 0;
	memset(deep, '[', n);
	memset(deep + 1000, ']', 1000);
	scan_init(&s);
	CHECK_EQ(scan_value(&s, &v), JSON_LIST);
	CHECK_EQ(v.n, 2000);
	memset(deep, '[', n);
	s = (struct scan){ .p = deep, .end = deep + n, .more = more, .arg = &d };
	scan_init(&s);
	CHECK_EQ(scan_value(&s, &v), JSON_BAD);
	free(deep);
}

TEST(times_are_exact_to_the_nanosecond)
{
	static const struct { const char *text; int64_t ns; bool fraction; } good[] = {
		{ "0", 0, false }, { "1", 1000, false }, { "1669783687464181", 1669783687464181000, false },
		{ "1669783687464181.123", 1669783687464181123, true }, { "1419247332596.028", 1419247332596028, true },
		{ "0.001", 1, true }, { "5.1", 5100, true }, { "5.", 5000, true }, { "0.0004", 0, true }, { "0.0005", 1, true },
		{ "-3.25", -3250, true }, { "\"12.5\"", 12500, true }, { "\" 12 \"", 12000, false },
		{ "1.5e3", 1500000, true }, { "123456789.0", 123456789000, true }, { "99.99999", 100000, true },
	};
	static const char *const bad[] = { "NaN", "-Infinity", "null", "\"\"", "\"x\"", "1.2.3", "18446744073709551615", "-", "1e400",
					   "[1]", "true" };
	bool fraction;
	int64_t ns;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		CHECK(us(good[i].text, &ns, &fraction));
		CHECK_EQ(ns, good[i].ns);
		CHECK_EQ(fraction, good[i].fraction);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(!us(bad[i], &ns, &fraction));
}

TEST(whole_numbers_and_doubles_are_read_as_written)
{
	static const struct { const char *text; int64_t n; } whole[] = {
		{ "0", 0 }, { "7", 7 }, { "-1", -1 }, { "12345678", 12345678 }, { "123456789012345678", 123456789012345678 },
		{ "1234567890123456789", 1234567890123456789 }, { "18446744073709551615", -1 }, { "\"42\"", 42 },
		{ "140234567890123", 140234567890123 },
		{ "-9223372036854775808", INT64_MIN },
	};
	static const struct { const char *text; double d; } doubles[] = {
		{ "0.5", 0.5 }, { "1412.8000000000002", 1412.8000000000002 }, { "-2.25", -2.25 }, { "3", 3.0 },
		{ "1e-3", 1e-3 }, { "0.1", 0.1 }, { "37.925925925925924", 37.925925925925924 },
	};
	static const char *const none[] = { "1.5", "1e3", "x", "18446744073709551616", "12345678x", "\"1 2\"" };
	struct json_value v;
	int64_t n;
	double d;

	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
		v = value_of(whole[i].text);
		CHECK(json_whole(&v, &n));
		CHECK_EQ(n, whole[i].n);
	}
	for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
		v = value_of(doubles[i].text);
		CHECK(json_double(&v, &d));
		CHECK(d == doubles[i].d);
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		v = value_of(none[i]);
		CHECK(!json_whole(&v, &n));
	}
	v = value_of("inf");
	CHECK(!json_double(&v, &d));
}

TEST(escapes_become_what_they_stand_for)
{
	struct json_value v = value_of("\"a\\n\\\"\\\\\\/\\u0041\\u00e9\\ud83d\\ude00\\ud83dx\\u12\"");
	char text[80];
	size_t n = json_text(&v, text);

	text[n] = '\0';
	CHECK_STR(text, "a\n\"\\/A\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbdxu12");
}
