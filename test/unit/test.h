/* TEST(what_is_true) { CHECK...; } defines a test and registers it in a linker section; test/unit/runner.c runs all tests. */
#ifndef TEST_UNIT_TEST_H
#define TEST_UNIT_TEST_H

#include <stdbool.h>
#include <stdint.h>

struct test {
	const char *name, *file;
	void (*run)(void);
};

/* The section holds pointers: compilers may add padding between structs in a section. */
#define TEST(what)                                                                                      \
	static void test_##what(void);                                                                  \
	static const struct test entry_##what = { #what, __FILE__, test_##what };                       \
	static const struct test *const pointer_##what __attribute__((used, section("tests"))) = &entry_##what; \
	static void test_##what(void)

#define CHECK(cond) test_check((cond), #cond, __FILE__, __LINE__)
#define CHECK_EQ(a, b) test_check_eq((int64_t)(a), (int64_t)(b), #a " == " #b, __FILE__, __LINE__)
#define CHECK_STR(a, b) test_check_str((a), (b), #a, __FILE__, __LINE__)

/* A failed check is counted, the first five are printed, and the test continues.  A test without any check fails. */
bool test_check(bool ok, const char *what, const char *file, int line);
bool test_check_eq(int64_t a, int64_t b, const char *what, const char *file, int line);
bool test_check_str(const char *a, const char *b, const char *what, const char *file, int line);

/* Marks the running test as skipped; `why` is printed. */
void test_skip(const char *why);

/* Runs all tests of this binary, or those whose name contains a word of argv.  Prints "ok NAME" lines; returns the exit code. */
int test_run_all(int argc, char **argv);

#endif
