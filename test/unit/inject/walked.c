#include "test/unit/inject/walked.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>

#include "inject/unwind/images.h"
#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

struct unwind_walk walked;
static void *said[UNWIND_MOST];
uint32_t n_said;
enum unwind_method method = UNWIND_AUTO;

bool walked_begin(void)
{
	static bool ready, judged;

#ifdef __SANITIZE_ADDRESS__
	test_skip("backtrace() is the sanitizer's here, which counts another frame");
	return false;
#endif
	if (!ready) {
		ready = true;
		fake_session(8, 8);
		images_init();
		unwind_init();
		judged = backtrace(said, 1) == 1;
	}
	if (!judged)
		test_skip("backtrace() finds no frame here: libgcc_s is missing");
	return judged;
}

KEEP void look(void)
{
	struct unwind_cursor c;

	unwind_here(&c);
	unwind_native(&c, &walked, UNWIND_MOST, method);
	n_said = (uint32_t)backtrace(said, UNWIND_MOST);
	STOP;
}

bool walked_agree(const char *file, int line)
{
	if (!test_check(walked.n >= 4 && walked.n == n_said, "as many frames as backtrace() has", file, line)) {
		printf("  %u frames, backtrace() has %u\n", walked.n, n_said);
		return false;
	}
	for (uint32_t i = 1; i < walked.n; i++) {
		uint64_t theirs = (uint64_t)(uintptr_t)said[i];

		if (!test_check(walked.pcs[i] == theirs - 1 || walked.pcs[i] == theirs, "each where backtrace() has it", file, line))
			return false;
	}
	return test_check(!(walked.flags & STACK_INCOMPLETE), "complete", file, line);
}

KEEP int recursion(int n)
{
	int r;

	if (n == 0) {
		look();
		return 0;
	}
	r = recursion(n - 1) + 1;
	STOP;
	return r;
}

KEEP int with_room(int n)
{
	volatile char *room = __builtin_alloca((size_t)n * 100 + 16);
	int r;

	room[0] = (char)n;
	r = n ? with_room(n - 1) : (look(), 0);
	STOP;
	return r + room[0];
}

static int compare(const void *a, const void *b)
{
	if (*(const int *)a == 7 || *(const int *)b == 7)
		look();
	return *(const int *)a - *(const int *)b;
}

KEEP void through_libc(void)
{
	int numbers[] = { 9, 3, 7, 1, 5 };

	qsort(numbers, 5, sizeof numbers[0], compare);
	STOP;
}
