/* Handler of the sampling signal.  It may interrupt any instruction: in malloc(), in the loader, in fork(). */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/capture/windows.h"
#include "inject/stacks/sample.h"
#include "inject/stacks/stacks.h"

/* Most timer expirations that one delayed signal counts for: ten seconds at 100 Hz. */
#define MOST_LATE 1000

/* struct sigaction of the kernel: libc's sigaction() refuses this signal. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* libc's handler, which it installs with its first thread; NULL: none yet. */
static void (*next)(int, siginfo_t *, void *);

#ifdef __x86_64__
#define HAS_RESTORER 0x04000000ul

/* The bytes by which debuggers recognize a signal return.  "nop": they look up the address before it, too. */
void gprof_sample_return(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	"\tnop\n"
	".type gprof_sample_return, @function\n"
	"gprof_sample_return:\n"
	"\tmov $15, %rax\n"
	"\tsyscall\n"
	".size gprof_sample_return, . - gprof_sample_return\n"
	".popsection\n");
#endif

/* Calls fn(t, info, context) on the stack that ends at `top`. */
static void call_on(char *top, void (*fn)(struct sampler *, const siginfo_t *, void *), struct sampler *t, siginfo_t *info, void *context)
{
#if defined __x86_64__
	register char *at __asm__("r12") = top;

	__asm__ volatile("xchg %%r12, %%rsp\n\tcall *%[fn]\n\tmov %%r12, %%rsp"
			 : "+r"(at), "+D"(t), "+S"(info), "+d"(context)
			 : [fn] "r"(fn)
			 : "rax", "rcx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#elif defined __aarch64__
	register struct sampler *a0 __asm__("x0") = t;
	register siginfo_t *a1 __asm__("x1") = info;
	register void *a2 __asm__("x2") = context;
	register char *at __asm__("x19") = top;

	__asm__ volatile("mov x20, sp\n\tmov sp, %[at]\n\tblr %[fn]\n\tmov sp, x20"
			 : "+r"(a0), "+r"(a1), "+r"(a2)
			 : [at] "r"(at), [fn] "r"(fn)
			 : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x20",
			   "x30", "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20",
			   "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#endif
}

static void write_sample(struct stream *s, int64_t time, uint32_t stack, uint32_t flags)
{
	struct sample_row *row = stream_reserve(s, ROW_sample, sizeof *row);

	if (!row)
		return;
	*row = (struct sample_row){ .start = time, .thread = s->thread, .stack = stack, .flags = flags };
	stream_publish(s, row);
}

static void take_sample(struct sampler *t, const siginfo_t *info, void *context)
{
	const struct stack_want want = {
		.flags = STACK_NATIVE | (guest->config.python_backtrace ? STACK_PYTHON : 0),
		.context = context,
	};
	uint32_t owed = t->owed, late = info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0, stack;
	struct stream *s = &stream_self;
	int64_t now = clock_now();

	if (late > MOST_LATE)
		late = MOST_LATE;
	/* The signal interrupted this object's own code, or the stream is of another process and a handler cannot connect. */
	if (s->busy || !s->epoch || s->epoch != guest->epoch) {
		t->owed += 1 + late;
		return;
	}
	s = stream_enter();
	t->owed = 0;
	stream_follow_name(s, t->name);
	if (windows_gate_now() & GATE_SAMPLE) {
		stack = stacks_capture(s, &want);
		/* Expirations that were merged into this signal: the thread spent all that time here, in the kernel. */
		for (uint32_t i = 0; i <= late; i++)
			write_sample(s, now, stack, SAMPLE_CPU);
		for (uint32_t i = 0; i < owed && i < MOST_LATE; i++)
			write_sample(s, now, 0, SAMPLE_CPU | SAMPLE_INSIDE);
	}
	stream_leave(s);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct sampler *t = sampler_self;
	int saved = errno;

	if (info->si_code != SI_TIMER) {
		if (next)
			next(number, info, context);
	} else if (t && info->si_ptr == t && __atomic_load_n(&t->armed, __ATOMIC_RELAXED)) {
		call_on((char *)t - 64, take_sample, t, info, context);
	}
	errno = saved;
}

static int action(const struct kernel_action *fresh, struct kernel_action *old)
{
	return (int)syscall(SYS_rt_sigaction, SAMPLE_SIGNAL, fresh, old, sizeof fresh->mask);
}

int sample_take_signal(void)
{
	/*
	 * Blocks the program's signals during the handler: a handler of the program that leaves by longjmp would leave the stream busy for
	 * ever.  Fault signals stay unblocked, so that a crash reaches the program's own handler.
	 */
	struct kernel_action ours = {
		.handler = on_signal,
		.flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
		.mask = ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1)),
	}, old;
	uint64_t only = 1ull << (SAMPLE_SIGNAL - 1);

	if (action(NULL, &old) < 0)
		return -1;
	if (old.handler == on_signal)
		return 0;
	if (old.handler != (void *)SIG_DFL && old.handler != (void *)SIG_IGN)
		__atomic_store_n(&next, old.handler, __ATOMIC_RELEASE);
#ifdef __x86_64__
	ours.flags |= HAS_RESTORER;
	ours.restorer = gprof_sample_return;
#endif
	if (action(&ours, NULL) < 0)
		return -1;
	/* The mask is inherited: the parent may have blocked the signal. */
	return (int)syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &only, NULL, sizeof only);
}
