/*
 * Nanoseconds per native stack of 10, 30 and 60 frames, through functions of different frame sizes: rules of .eh_frame that are known, all
 * of them parsed anew, frame pointers, libunwind, and glibc's backtrace() beside them; and a whole capture, with its id.
 */
#include <execinfo.h>
#include <stdio.h>

#include "inject/stacks/stacks.h"
#include "inject/unwind/images.h"
#include "inject/unwind/unwind.h"
#include "test/unit/inject/fake.h"

#define ROUNDS 60
#define REPEAT 200

static void (*bottom)(void);

#define STOP __asm__ volatile("" ::: "memory")
#if defined(__clang__) || !defined(__x86_64__)
#define FRAMED
#else
#define FRAMED __attribute__((optimize("no-omit-frame-pointer")))
#endif

/* Functions f0 .. f63, each with a frame of its own size, that call the next. */
#define F(n, next)                                                                              \
	static __attribute__((noinline)) FRAMED void f##n(int depth)                   \
	{                                                                                       \
		volatile char room[16 + (n) * 24];                                              \
		room[0] = (char)depth;                                                          \
		if (depth > 1)                                                                  \
			next(depth - 1);                                                        \
		else                                                                            \
			bottom();                                                               \
		room[1] = room[0];                                                              \
		STOP;                                                                           \
	}
static void last(int depth)
{
	(void)depth;
	bottom();
	STOP;
}
F(63, last) F(62, f63) F(61, f62) F(60, f61) F(59, f60) F(58, f59) F(57, f58) F(56, f57) F(55, f56) F(54, f55) F(53, f54)
F(52, f53) F(51, f52) F(50, f51) F(49, f50) F(48, f49) F(47, f48) F(46, f47) F(45, f46) F(44, f45) F(43, f44) F(42, f43)
F(41, f42) F(40, f41) F(39, f40) F(38, f39) F(37, f38) F(36, f37) F(35, f36) F(34, f35) F(33, f34) F(32, f33) F(31, f32)
F(30, f31) F(29, f30) F(28, f29) F(27, f28) F(26, f27) F(25, f26) F(24, f25) F(23, f24) F(22, f23) F(21, f22) F(20, f21)
F(19, f20) F(18, f19) F(17, f18) F(16, f17) F(15, f16) F(14, f15) F(13, f14) F(12, f13) F(11, f12) F(10, f11) F(9, f10)
F(8, f9) F(7, f8) F(6, f7) F(5, f6) F(4, f5) F(3, f4) F(2, f3) F(1, f2) F(0, f1)


static double least;
static uint32_t frames, limit;
static enum unwind_method method;
static bool forget;
static struct unwind_walk walk;

/* The best of many rounds: other programs run on the machine too. */
static void note(int64_t begin, unsigned n)
{
	double ns = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / n;

	if (ns < least)
		least = ns;
}

static void walks(void)
{
	unsigned n = forget ? 1 : REPEAT;
	struct unwind_cursor c;

	unwind_here(&c);
	for (int round = 0; round < (forget ? ROUNDS * REPEAT / 10 : ROUNDS); round++) {
		int64_t begin;

		images_generation += forget;
		begin = clock_ns(CLOCK_MONOTONIC);
		for (unsigned i = 0; i < n; i++)
			unwind_native(&c, &walk, limit, method);
		note(begin, n);
	}
	frames = walk.n;
}

static void backtraces(void)
{
	void *pcs[UNWIND_MOST];

	for (int round = 0; round < ROUNDS; round++) {
		int64_t begin = clock_ns(CLOCK_MONOTONIC);

		for (unsigned i = 0; i < REPEAT / 10; i++)
			frames = (uint32_t)backtrace(pcs, (int)limit);
		note(begin, REPEAT / 10);
	}
}

static void captures(void)
{
	const struct stack_want want = { .depth = limit };
	struct stream *s = stream_enter();

	for (int round = 0; round < ROUNDS; round++) {
		int64_t begin = clock_ns(CLOCK_MONOTONIC);

		for (unsigned i = 0; i < REPEAT; i++)
			stacks_capture(s, &want);
		note(begin, REPEAT);
	}
	stream_leave(s);
	frames = limit;
}

static void measure(const char *what, void (*how)(void), uint32_t depth)
{
	bottom = how;
	limit = depth;
	least = 1e30;
	f0(62);
	printf("%s, %u frames\t%.0f\tns\t%.1f ns a frame\n", what, frames, least, least / frames);
}

int main(void)
{
	static const uint32_t depths[] = { 10, 30, 60 };

	fake_session(64, 8);
	images_init();
	unwind_init();
	unwind_lib_load();
	for (int i = 0; i < 3; i++) {
		method = UNWIND_AUTO;
		measure("native stack by .eh_frame", walks, depths[i]);
		forget = true;
		measure("native stack by .eh_frame, nothing known", walks, depths[i]);
		forget = false;
		method = UNWIND_FP;
		measure("native stack by frame pointers", walks, depths[i]);
		method = UNWIND_LIBUNWIND;
		measure("native stack by libunwind", walks, depths[i]);
		measure("native stack by glibc's backtrace()", backtraces, depths[i]);
		measure("native stack taken and its id found", captures, depths[i]);
	}
	return 0;
}
