/* Unusual stacks: signal frames, coroutines, assembly, damaged stacks, interruption at any instruction. */
#include "inject/unwind/unwind.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "inject/unwind/images.h"
#include "test/unit/inject/walked.h"
#include "test/unit/test.h"

/* ---- signals ---- */

static volatile sig_atomic_t handled;
static struct unwind_walk from_context;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	struct unwind_cursor c;

	(void)sig, (void)info;
	unwind_context(&c, context);
	unwind_native(&c, &from_context, UNWIND_MOST, UNWIND_AUTO);
	look();
	handled = 1;
}

static KEEP void interrupted(void)
{
	raise(SIGUSR1);
	STOP;
}

static void handle(int flags)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags };

	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	handled = 0;
}

TEST(a_walk_goes_through_a_signal_handler_to_what_it_interrupted)
{
	if (!walked_begin())
		return;
	handle(0);
	interrupted();
	CHECK(handled);
#if defined(__x86_64__)
	AGREE();
	/* From the context: what was interrupted, without the handler. */
	CHECK(from_context.n >= 4 && !(from_context.flags & STACK_INCOMPLETE));
	for (uint32_t i = 0; i < from_context.n; i++)
		CHECK_EQ(from_context.pcs[i], walked.pcs[walked.n - from_context.n + i]);
#endif
}

static void on_stack(void *stack, size_t size)
{
	stack_t s = { .ss_sp = stack, .ss_size = size }, off = { .ss_flags = SS_DISABLE };

	sigaltstack(&s, NULL);
	handle(SA_ONSTACK);
	interrupted();
	sigaltstack(&off, NULL);
}

TEST(a_walk_changes_from_a_handlers_own_stack_to_that_of_the_thread)
{
	char inside[64 << 10] __attribute__((aligned(16)));
	void *apart = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!walked_begin())
		return;
	on_stack(apart, 64 << 10);
	CHECK(handled);
#if defined(__x86_64__)
	AGREE();
#endif
	on_stack(inside, sizeof inside);        /* above the frames that it interrupts */
	CHECK(handled);
#if defined(__x86_64__)
	AGREE();
#endif
	munmap(apart, 64 << 10);
}

/* ---- coroutines ---- */

static ucontext_t outside, coroutine;

static void in_coroutine(void)
{
	with_room(4);
	swapcontext(&coroutine, &outside);
}

TEST(a_coroutine_ends_at_the_top_of_its_stack_whatever_lies_above)
{
	char *area = mmap(NULL, 3 * 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!walked_begin())
		return;
	mprotect(area + 65536, 65536, PROT_READ | PROT_WRITE);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = area + 65536;
	coroutine.uc_stack.ss_size = 65536;
	coroutine.uc_link = &outside;
	makecontext(&coroutine, in_coroutine, 0);
	swapcontext(&outside, &coroutine);
	CHECK(walked.n >= 6);
	for (uint32_t i = 0; i < walked.n; i++)
		CHECK(walked.sps[i] >= (uint64_t)(uintptr_t)area + 65536 && walked.sps[i] <= (uint64_t)(uintptr_t)area + 2 * 65536);
	/* The same thread again on its own. */
	with_room(4);
	AGREE();
	munmap(area, 3 * 65536);
}

/* ---- code without rules ---- */

#if defined(__x86_64__)

void asm_with_frame_pointer(void (*f)(void));
void asm_without_anything(void (*f)(void));
void asm_with_garbage_in_rbp(void (*f)(void));
__asm__(".text\n"
	".type asm_with_frame_pointer,@function\n"
	"asm_with_frame_pointer: push %rbp; mov %rsp, %rbp; sub $32, %rsp; call *%rdi; leave; ret\n"
	".type asm_without_anything,@function\n"
	"asm_without_anything: sub $24, %rsp; call *%rdi; add $24, %rsp; ret\n"
	".type asm_with_garbage_in_rbp,@function\n"
	"asm_with_garbage_in_rbp: push %rbp; mov $0x123456789abc, %rbp; call *%rdi; pop %rbp; ret\n");

static KEEP void through(void (*code)(void (*f)(void)))
{
	code(look);
	STOP;
}

TEST(assembly_without_rules_is_left_by_its_frame_pointer)
{
	if (!walked_begin())
		return;
	through(asm_with_frame_pointer);
	CHECK(walked.n >= 6);
	CHECK(!(walked.flags & STACK_INCOMPLETE));
}

TEST(assembly_without_rules_and_frame_pointer_ends_the_walk_cleanly)
{
	if (!walked_begin())
		return;
	through(asm_with_garbage_in_rbp);
	CHECK_EQ(walked.n, 2);
	CHECK_EQ(walked.flags, STACK_INCOMPLETE);
	through(asm_without_anything);
	CHECK(walked.n >= 2);
}

TEST(code_made_at_run_time_is_left_if_it_keeps_a_frame_and_else_ends_the_walk)
{
	static const uint8_t framed[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	static const uint8_t trampoline[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
	static const uint8_t frameless[] = { 0x55, 0x31, 0xed, 0xff, 0xd7, 0x5d, 0xc3 };
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!walked_begin())
		return;
	if (code == MAP_FAILED) {
		test_skip("no memory that can be written and run");
		return;
	}
	memcpy(code, framed, sizeof framed);
	memcpy(code + 64, trampoline, sizeof trampoline);
	memcpy(code + 128, frameless, sizeof frameless);
	through((void (*)(void (*)(void)))(void *)code);
	CHECK(walked.n >= 6 && !(walked.flags & STACK_INCOMPLETE));
	CHECK_EQ(walked.pcs[1], (uint64_t)(uintptr_t)code + 5);
	through((void (*)(void (*)(void)))(void *)(code + 64));
	CHECK(walked.n >= 6 && !(walked.flags & STACK_INCOMPLETE));
	through((void (*)(void (*)(void)))(void *)(code + 128));
	CHECK_EQ(walked.n, 2);
	munmap(code, 4096);
}

/* ---- faults ---- */

static uint64_t random_state = 88172645463325252ull;

static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

/* A copy of this program's rules, damaged here and there: any answer will do, as long as there is one. */
TEST(damaged_rules_are_no_danger)
{
	struct image *image, copy;
	uint64_t low, size;
	uint8_t *bytes;

	if (!walked_begin())
		return;
	image = images_at((uint64_t)(uintptr_t)look, false);
	if (!CHECK(image && image->eh_hdr))
		return;
	copy = *image;
	for (uint32_t i = 0; i < image->n_segments; i++)
		if ((uint64_t)(uintptr_t)image->eh_hdr >= image->segments[i].low && (uint64_t)(uintptr_t)image->eh_hdr < image->segments[i].high) {
			low = image->segments[i].low;
			size = image->segments[i].high - low;
			copy.n_segments = 1;
			goto found;
		}
	return;
found:
	/* Against a page that is not there, so that a byte too many is a fault. */
	bytes = mmap(NULL, ((size + 4095) & ~4095ull) + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(bytes + ((size + 4095) & ~4095ull), 4096);
	bytes += -size & 4095;
	copy.segments[0].low = (uint64_t)(uintptr_t)bytes;
	copy.segments[0].high = copy.segments[0].low + size;
	copy.eh_hdr = bytes + ((uint64_t)(uintptr_t)image->eh_hdr - low);
	for (int round = 0; round < 3000; round++) {
		uint64_t hdr = (uint64_t)(copy.eh_hdr - bytes);

		if (round % 100 == 0)
			memcpy(bytes, (const void *)(uintptr_t)low, size);
		for (int i = 0; i < 40; i++)
			bytes[hdr + random64() % (size - hdr)] = (uint8_t)random64();
		if (round % 7 == 0)     /* and in what all begins with */
			bytes[hdr + random64() % 16] = (uint8_t)random64();
		for (int i = 0; i < 20; i++)
			rule_make(&copy, (uint64_t)(uintptr_t)copy.eh_hdr - (uint64_t)(uintptr_t)image->eh_hdr + image->low +
				  random64() % (image->high - image->low));
	}
	CHECK(true);
}

TEST(registers_of_nonsense_give_a_short_walk)
{
	static struct unwind_walk w;
	uint64_t here[4];
	char *hole = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!walked_begin())
		return;
	munmap(hole + 4096, 4096);
	here[0] = (uint64_t)(uintptr_t)look;
	here[1] = (uint64_t)(uintptr_t)hole;
	here[2] = (uint64_t)(uintptr_t)&here & ~7ull;
	here[3] = (uint64_t)(uintptr_t)qsort;
	for (int i = 0; i < 200000; i++) {
		uint64_t a = here[random64() % 4] + random64() % 4096, b = here[random64() % 4] + random64() % 8192;
		/* The stack pointer of a thread is always right: a page that is there. */
		struct unwind_cursor c = { .pc = a, .sp = here[1 + random64() % 2] + (random64() % 512) * 8, .bp = b & ~(random64() % 8), .bx = random64() };

		if (random64() % 4 == 0)
			c.pc = random64();
		if (c.sp >= here[1] && c.sp < here[1] + 4096)
			*(uint64_t *)(uintptr_t)(c.sp & ~7ull) = random64() % 2 ? here[random64() % 4] : random64();
		else
			c.sp = here[2] & ~4095ull;
		unwind_native(&c, &w, UNWIND_MOST, random64() % 2 ? UNWIND_AUTO : UNWIND_FP);
		if (w.n > UNWIND_MOST)
			CHECK(false);
	}
	CHECK(true);
	munmap(hole, 4096);
	munmap(hole + 8192, 4096);
}

#endif

/* ---- at any moment ---- */

static volatile uint32_t n_moments, n_lost;

static void on_tick(int sig, siginfo_t *info, void *context)
{
	struct unwind_cursor c;
	int saved = errno;

	(void)sig, (void)info;
	unwind_context(&c, context);
	unwind_native(&c, &from_context, UNWIND_MOST, UNWIND_AUTO);
	n_moments++;
	n_lost += (from_context.flags & STACK_INCOMPLETE) != 0;
	errno = saved;
}

TEST(walks_from_any_moment_of_a_busy_program_come_to_its_beginning)
{
	struct sigaction action = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART }, before;
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
	int64_t end = clock_ns(CLOCK_MONOTONIC) + 20000000000;
	char text[200];

	if (!walked_begin())
		return;
	n_moments = n_lost = 0;
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; n_moments < 500 && clock_ns(CLOCK_MONOTONIC) < end; i++) {
		recursion(i % 30);
		snprintf(text, sizeof text, "%d %f %s", i, i / 3.0, "text");
		free(strdup(text));
		through_libc();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	CHECK(n_moments >= 500);
#if defined(__x86_64__)
	/* Hand-written assembly of libc has moments without a rule. */
	if (!CHECK(n_lost * 100 <= n_moments))
		printf("  %u of %u moments\n", n_lost, n_moments);
#endif
}
