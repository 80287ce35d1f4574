/* TEST(what_is_true) { CHECK...; }: registers itself through a linker section; test/unit/runner.c runs them all. */
#ifndef TEST_UNIT_TEST_H
#define TEST_UNIT_TEST_H

#include <stdbool.h>
#include <stdint.h>

struct test {
	const char *name, *file;
	void (*run)(void);
};

/* The pointer, not the struct, is in the section: alignment of structs in sections is the compiler's business. */
#define TEST(what)                                                                                      \
	static void test_##what(void);                                                                  \
	static const struct test entry_##what = { #what, __FILE__, test_##what };                       \
	static const struct test *const pointer_##what __attribute__((used, section("tests"))) = &entry_##what; \
	static void test_##what(void)

#define CHECK(cond) test_check((cond), #cond, __FILE__, __LINE__)
#define CHECK_EQ(a, b) test_check_eq((int64_t)(a), (int64_t)(b), #a " == " #b, __FILE__, __LINE__)
#define CHECK_STR(a, b) test_check_str((a), (b), #a, __FILE__, __LINE__)

/* Each counts a failure of the running test and prints the first few; the test goes on. */
bool test_check(bool ok, const char *what, const char *file, int line);
bool test_check_eq(int64_t a, int64_t b, const char *what, const char *file, int line);
bool test_check_str(const char *a, const char *b, const char *what, const char *file, int line);

/* The running test cannot be run here: prints why, once. */
void test_skip(const char *why);

/* Runs all tests of this binary (argv: only those whose name contains a word).  Prints "ok NAME" lines; the exit code. */
int test_run_all(int argc, char **argv);

#endif
