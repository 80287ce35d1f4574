/* Scratch memory outside the program's stack, and how much stack the hooks use. */
#include "inject/core/scratch.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "inject/cupti/cupti_api.h"
#include "inject/stacks/stacks.h"
#include "test/programs/measure_stack.h"
#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

#define RUNTIME_LAUNCH 211u

TEST(what_was_pushed_last_is_popped_first_and_all_of_it_is_room_again)
{
	char *a = scratch_push(1000), *b = scratch_push(5000), *c;

	CHECK(a && b >= a + 1000 && (uintptr_t)a % 16 == 0 && (uintptr_t)b % 16 == 0);
	scratch_pop(b);
	c = scratch_push(10);
	CHECK(c == b);
	scratch_pop(c);
	scratch_pop(a);
	CHECK(!scratch_push(1 << 20));
	for (int i = 0; i < 1000; i++) {
		char *room = scratch_push(60000);

		if (!CHECK(room != NULL))
			return;
		scratch_pop(room);
	}
	scratch_pop(NULL);
}

/* A handler may fork, and what it interrupted goes on in the child, too. */
TEST(a_room_that_was_pushed_before_a_fork_stays_pushed_in_the_child)
{
	char *room = scratch_push(100), *next;

	scratch_forked();
	next = scratch_push(100);
	CHECK(room && next && next >= room + 100);
	scratch_pop(next);
	scratch_pop(room);
	CHECK(scratch_push(100) == room);
	scratch_pop(room);
}

static pthread_barrier_t all_inside;
static char *rooms[300];

static void *inside(void *arg)
{
	char **room = arg;

	*room = scratch_push(100);
	pthread_barrier_wait(&all_inside);
	pthread_barrier_wait(&all_inside);
	scratch_pop(*room);
	return NULL;
}

/* More threads than there is room for at once: those get none, and later ones do. */
TEST(threads_that_are_inside_at_once_share_no_room)
{
	pthread_t threads[300];
	pthread_attr_t attr;
	unsigned n = 0, same = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	pthread_barrier_init(&all_inside, NULL, 301);
	for (int i = 0; i < 300; i++)
		pthread_create(&threads[i], &attr, inside, &rooms[i]);
	pthread_barrier_wait(&all_inside);
	for (int i = 0; i < 300; i++) {
		n += rooms[i] != NULL;
		for (int k = 0; k < i; k++)
			same += rooms[i] && rooms[i] == rooms[k];
	}
	pthread_barrier_wait(&all_inside);
	for (int i = 0; i < 300; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(n, 256);
	CHECK_EQ(same, 0);
	for (int i = 0; i < 1000; i++) {
		char *room = scratch_push(1);

		CHECK(room != NULL);
		scratch_pop(room);
	}
}

#ifdef __x86_64__
/*
 * Behind each single instruction of a push and a pop once: a signal handler that pushes and pops, and a thread that then takes a piece, and
 * holds it.  What is pushed next is not what that thread has.
 */
static volatile long steps, stop_at;
static char *volatile others;           /* room of the other thread */
static volatile int turn;               /* 1: the other thread is to take a piece; 2: it has one; 3: it is to give it back; 0: it has none; 4: end */

static void *takes_a_piece(void *arg)
{
	for (;; sched_yield()) {
		if (turn == 1) {
			others = scratch_push(64);
			turn = 2;
		} else if (turn == 3) {
			scratch_pop(others);
			turn = 0;
		} else if (turn == 4) {
			return arg;
		}
	}
}

static void ask(int for_turn, int until)
{
	turn = for_turn;
	while (turn != until)
		sched_yield();
}

static void stepped(int sig)
{
	(void)sig;
	if (++steps != stop_at)
		return;
	scratch_pop(scratch_push(64));
	ask(1, 2);
}

#define SINGLE_STEPS(on) \
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; " on "; popfq; lea 128(%%rsp), %%rsp" : : : "memory", "cc")

static bool keeps_to_its_own(long step)
{
	char *room, *next;
	bool apart;

	steps = 0;
	stop_at = step;
	SINGLE_STEPS("orq $0x100, (%%rsp)");
	room = scratch_push(64);
	scratch_pop(room);
	SINGLE_STEPS("andq $~0x100, (%%rsp)");
	if (turn != 2)          /* it ended before that step */
		return true;
	next = scratch_push(64);
	apart = next && next != others;
	scratch_pop(next);
	ask(3, 0);
	return apart;
}

TEST(a_signal_handler_between_any_two_instructions_gives_no_room_away)
{
	struct sigaction trap = { .sa_handler = stepped }, before;
	pthread_t thread;
	long step = 1;

	sigaction(SIGTRAP, &trap, &before);
	pthread_create(&thread, NULL, takes_a_piece, NULL);
	do {
		if (!CHECK(keeps_to_its_own(step)))
			break;
	} while (steps >= step && ++step < 100000);
	CHECK(step > 10);
	turn = 4;
	pthread_join(thread, NULL);
	sigaction(SIGTRAP, &before, NULL);
}
#endif

static void launch(void)
{
	static uint32_t corr;
	int result = 0;
	uint64_t data = 0;
	struct cupti_call_data d = { .site = SITE_ENTER, .function = "function", .result = &result, .data = &data, .corr = ++corr };

	cupti_callback(NULL, DOMAIN_RUNTIME, RUNTIME_LAUNCH, &d);
	d.site = SITE_EXIT;
	cupti_callback(NULL, DOMAIN_RUNTIME, RUNTIME_LAUNCH, &d);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GOAL (16u << 10)        /* its frames are larger */
#else
#define GOAL 1536u              /* docs/reference/limits.md */
#endif

TEST(a_cuda_callback_takes_little_of_the_programs_stack)
{
	cupti_fake(130001);
	launch();       /* the first row of the process connects */
	CHECK(stack_used(launch) <= GOAL);
}

TEST(so_it_does_when_it_takes_its_call_stack)
{
	cupti_fake(130001);
	guest->config.cuda_backtrace = ~0ull;
	stacks_start();
	stacks_slow[STACKS_KERNEL] = 0;
	launch();
	CHECK(stack_used(launch) <= GOAL);
	CHECK(fake_count(ROW_stack) >= 2);
	stacks_slow[STACKS_KERNEL] = INT64_MAX;
	guest->config.cuda_backtrace = 0;
}
