#include "inject/unwind/unwind.h"

#include <pthread.h>
#include <stdlib.h>

#include "test/unit/inject/walked.h"
#include "test/unit/test.h"

/* ---- shapes ---- */

TEST(recursion_of_any_depth_is_walked_as_libgcc_does)
{
	if (!walked_begin())
		return;
	for (int n = 0; n < 100; n++) {
		recursion(n);
		if (!AGREE())
			return;
		CHECK(walked.n > (uint32_t)n + 2);
	}
}

TEST(a_stack_deeper_than_asked_for_is_cut_and_says_so)
{
	if (!walked_begin())
		return;
	recursion(UNWIND_MOST + 10);
	CHECK_EQ(walked.n, UNWIND_MOST);
	CHECK_EQ(walked.flags, STACK_CUT);
}

/* The stack is realigned: in x86-64 code of gcc the frame is then found through a word below rbp. */
static KEEP int aligned(int n)
{
	volatile char wide[64] __attribute__((aligned(64)));
	volatile char *room = __builtin_alloca((size_t)n + 16);
	int r;

	wide[0] = room[0] = (char)n;
	r = n ? aligned(n - 1) : with_room(2);
	STOP;
	return r + wide[0] + room[0];
}

#if defined(__x86_64__) && !defined(__clang__)
__attribute__((optimize("no-omit-frame-pointer")))
#endif
static KEEP int with_frame_pointer(int n)
{
	int r = n ? with_frame_pointer(n - 1) : aligned(3);

	STOP;
	return r + 1;
}

static KEEP int tail(int n);
static KEEP int tail_of(int n)
{
	return n ? tail(n - 1) : with_frame_pointer(2);
}

static KEEP int tail(int n)
{
	return tail_of(n);
}

TEST(frames_of_every_shape_that_compilers_make_are_left_as_libgcc_leaves_them)
{
	if (!walked_begin())
		return;
	with_room(5);
	AGREE();
	aligned(4);
	AGREE();
	with_frame_pointer(6);
	AGREE();
	through_libc();
	AGREE();
	tail(9);
	AGREE();
}

/* Hundreds of call shapes: each number is a way down through the functions above. */
static KEEP int shape(uint32_t way)
{
	int r;

	if (way < 2) {
		r = (look(), 0);
		STOP;
		return r;
	}
	switch (way % 5) {
	case 0: {
		volatile char wide[32] __attribute__((aligned(32)));

		wide[0] = (char)way;
		r = shape(way / 5) + wide[0];
		break;
	}
	case 1: {
		volatile char *room = __builtin_alloca(way % 777 + 8);

		room[0] = (char)way;
		r = shape(way / 5) + room[0];
		break;
	}
	case 2: {
		volatile uint64_t many[30] = { way };

		r = shape(way / 5) + (int)many[3];
		break;
	}
	case 3:
		r = shape(way / 5) * 3;
		break;
	default:
		r = shape(way / 5) + shape(0);
		break;
	}
	STOP;
	return r;
}

TEST(six_hundred_generated_shapes_are_walked_as_libgcc_does)
{
	if (!walked_begin())
		return;
	for (uint32_t way = 5; way < 600; way++) {
		shape(way * 97 + way);
		if (!AGREE())
			return;
	}
}

static void *in_thread(void *arg)
{
	with_room(3);
	*(bool *)arg = AGREE();
	return NULL;
}

TEST(threads_end_where_they_began)
{
	bool ok = false;
	pthread_t t;

	if (!walked_begin())
		return;
	pthread_create(&t, NULL, in_thread, &ok);
	pthread_join(t, NULL);
	CHECK(ok);
}
/* ---- methods ---- */

TEST(frame_pointers_alone_lead_from_one_function_that_keeps_them_to_the_next)
{
	if (!walked_begin())
		return;
	method = UNWIND_FP;
	with_frame_pointer(5);
	method = UNWIND_AUTO;
	CHECK(walked.n >= 1 && walked.n <= n_said);
}

TEST(libunwind_walks_the_same_frames_where_there_is_one)
{
	if (!walked_begin())
		return;
	unwind_lib_load();
	method = UNWIND_LIBUNWIND;
	with_room(5);
	method = UNWIND_AUTO;
	AGREE();
	for (uint32_t way = 5; way < 100; way++) {
		method = UNWIND_LIBUNWIND;
		shape(way * 97);
		method = UNWIND_AUTO;
		if (!AGREE())
			return;
	}
}
