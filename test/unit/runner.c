#include "test/unit/test.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

extern const struct test *const __start_tests[], *const __stop_tests[];

static int failures;
static atomic_int checks;       /* atomic: tests also check in threads that they create */
static const char *skipped;

bool test_check(bool ok, const char *what, const char *file, int line)
{
	checks++;
	if (!ok && failures++ < 5)
		printf("  %s:%d: not true: %s\n", file, line, what);
	return ok;
}

bool test_check_eq(int64_t a, int64_t b, const char *what, const char *file, int line)
{
	checks++;
	if (a != b && failures++ < 5)
		printf("  %s:%d: not true: %s (%" PRId64 " and %" PRId64 ")\n", file, line, what, a, b);
	return a == b;
}

bool test_check_str(const char *a, const char *b, const char *what, const char *file, int line)
{
	bool same = a && b && strcmp(a, b) == 0;

	checks++;
	if (!same && failures++ < 5)
		printf("  %s:%d: %s is '%s', not '%s'\n", file, line, what, a ? a : "(null)", b ? b : "(null)");
	return same;
}

void test_skip(const char *why)
{
	skipped = why;
}

static bool wanted(const struct test *t, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(t->name, argv[i]))
			return true;
	return argc < 2;
}

int test_run_all(int argc, char **argv)
{
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (const struct test *const *t = __start_tests; t < __stop_tests; t++) {
		if (!wanted(*t, argc, argv))
			continue;
		failures = 0;
		checks = 0;
		skipped = NULL;
		(*t)->run();
		if (!checks && !skipped) {
			printf("  it ended without any CHECK\n");
			failures++;
		}
		if (failures)
			printf("FAIL %s (%s)\n", (*t)->name, (*t)->file);
		else if (skipped)
			printf("skip %s: %s\n", (*t)->name, skipped);
		else
			printf("ok %s\n", (*t)->name);
		failed += failures > 0;
	}
	return failed ? 1 : 0;
}
