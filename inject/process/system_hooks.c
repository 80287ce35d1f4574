/* Interposes the calls that this object must know of: seccomp filters of the program, and children that share its memory. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/core/carrier.h"
#include "inject/core/health.h"
#include "inject/core/seccomp.h"
#include "inject/core/session.h"
#include "inject/cupti/cupti_flush.h"
#include "inject/stacks/sample.h"
#include "inject/unwind/peek.h"

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))

/* ---- libc's functions ---- */

typedef long (*system_call)(long, long, long, long, long, long, long);

/* Used until libc's syscall() is looked up: the constructor of another library may run first. */
static long ask_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

#if defined(__x86_64__)
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	result = x0;
#else
	(void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	result = -ENOSYS;
#endif
	if (result < 0 && result >= -4095) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

/* Read by the assembly below. */
HIDDEN system_call gprof_libc_syscall = ask_kernel;
HIDDEN void *gprof_libc_vfork;
static __typeof__(&prctl) libc_prctl;
static __typeof__(&clone) libc_clone;

EXPORT int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);

static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		dlerror();      /* the program must not read this error */
	return function;
}

__attribute__((constructor(101))) static void find_libc(void)
{
	void *call = next("syscall");

	if (call)
		gprof_libc_syscall = (system_call)call;
	gprof_libc_vfork = next("vfork");
	*(void **)&libc_prctl = next("prctl");
	*(void **)&libc_clone = next("clone");
}

/* ---- filters ---- */

/*
 * If the filter cannot be read, the kernel rejects it (programs test this way): forbids nothing.  If an earlier filter forbids the test,
 * everything is forbidden.
 */
static struct seccomp_verdict judge(const struct sock_fprog *filter)
{
	if (!seccomp_allows(SECCOMP_PEEK))
		return (struct seccomp_verdict){ .forbidden = ~0u, .first = "not known" };
	if (!peek_all_mapped((uintptr_t)filter, sizeof *filter) ||
	    !peek_all_mapped((uintptr_t)filter->filter, sizeof *filter->filter * filter->len))
		return (struct seccomp_verdict){ 0 };
	return seccomp_judge(filter);
}

/* Ends this object's threads: a filter for all threads applies to them, too. */
static void end_threads(void)
{
	cupti_flush_end();
	carrier_finish();
	carrier_end_thread();
}

/*
 * Writes the health note, ends threads and stops sampling before the filter is in force.  Returns the SECCOMP_ bits that the filter adds.
 */
static uint32_t filter_comes(const struct seccomp_verdict *v, bool on_all)
{
	uint32_t fresh = v->forbidden & ~__atomic_load_n(&seccomp_forbidden, __ATOMIC_RELAXED);

	if (fresh && guest->arena)
		health_note(HEALTH_filtered, "the first forbidden call: %s", v->first);
	if (on_all && fresh & (SECCOMP_TOOL | SECCOMP_CARRY))
		end_threads();
	if (fresh & SECCOMP_SIGNAL)
		sample_thread_rests();
	__atomic_fetch_or(&seccomp_forbidden, fresh, __ATOMIC_RELAXED);
	return fresh;
}

/* Installs strict mode or a filter through prctl() or seccomp(). */
static long install(bool strict, const struct sock_fprog *filter, long number, const long a[5])
{
	unsigned long flags = number == SYS_seccomp ? (unsigned long)a[1] : 0;
	struct seccomp_verdict v;
	int saved = errno;
	uint32_t fresh = 0;
	long result;

	if (session_wanted()) {
		v = strict ? seccomp_judge(NULL) : judge(filter);
		fresh = filter_comes(&v, flags & SECCOMP_FILTER_FLAG_TSYNC);
	}
	errno = saved;
	result = gprof_libc_syscall(number, a[0], a[1], a[2], a[3], a[4], 0);
	/* Above 0: a listener's descriptor, or the id of a thread that could not get the filter, which is a failure. */
	if (result < 0 || (result > 0 && !(flags & SECCOMP_FILTER_FLAG_NEW_LISTENER)))
		__atomic_fetch_and(&seccomp_forbidden, ~fresh, __ATOMIC_RELAXED);
	return result;
}

EXPORT int prctl(int option, ...)
{
	va_list more;
	long a[5] = { option };

	va_start(more, option);
	for (int i = 1; i < 5; i++)
		a[i] = va_arg(more, long);
	va_end(more);
	if (option == PR_SET_SECCOMP && (a[1] == SECCOMP_MODE_STRICT || a[1] == SECCOMP_MODE_FILTER))
		return (int)install(a[1] == SECCOMP_MODE_STRICT, (const struct sock_fprog *)a[2], SYS_prctl, a);
	if (libc_prctl)
		return libc_prctl(option, a[1], a[2], a[3], a[4]);
	return (int)gprof_libc_syscall(SYS_prctl, a[0], a[1], a[2], a[3], a[4], 0);
}

/* syscall(), for the numbers that are inspected. */
HIDDEN long gprof_looked_at(long number, long a, long b, long c, long d, long e, long f);

long gprof_looked_at(long number, long a, long b, long c, long d, long e, long f)
{
	const long args[5] = { a, b, c, d, e };

	if (number == SYS_prctl)
		return prctl((int)a, b, c, d, e);
	if (number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER))
		return install(a == SECCOMP_SET_MODE_STRICT, (const struct sock_fprog *)c, number, args);
	return gprof_libc_syscall(number, a, b, c, d, e, f);
}

/* ---- children that share memory ---- */

int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	va_list more;
	void *last[3];

	va_start(more, arg);
	for (int i = 0; i < 3; i++)
		last[i] = va_arg(more, void *);
	va_end(more);
	if (flags & CLONE_VM && !(flags & CLONE_THREAD))
		__atomic_store_n(&session_memory_shared, true, __ATOMIC_RELAXED);
	if (!libc_clone)
		find_libc();
	if (libc_clone)
		return libc_clone(fn, stack, flags, arg, last[0], last[1], last[2]);
	errno = ENOSYS;
	return -1;
}

#if defined(__x86_64__)

/*
 * Both jump to libc with an unchanged stack: a vfork child returns on it, and so may a child made by syscall().  Calls that may make a
 * child set session_memory_shared; clone3 always does, as its flags are in memory.
 */
#define LOOKED_AT_157 "cmp $157, %rdi\n\tje gprof_looked_at\n\t"         /* prctl */
#define LOOKED_AT_317 "cmp $317, %rdi\n\tje gprof_looked_at\n\t"         /* seccomp */

__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"\t.cfi_startproc\n"
	"\t.byte 0xf3, 0x0f, 0x1e, 0xfa\n"     /* endbr64 */
	"\tmovb $1, session_memory_shared(%rip)\n"
	"\tmov gprof_libc_vfork(%rip), %rax\n"
	"\ttest %rax, %rax\n"
	"\tje 1f\n"
	"\tjmp *%rax\n"
	"1:\tjmp fork@PLT\n"                    /* fork() is a valid vfork() */
	"\t.cfi_endproc\n"
	".size vfork, . - vfork\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"\t.cfi_startproc\n"
	"\t.byte 0xf3, 0x0f, 0x1e, 0xfa\n"
	"\t" LOOKED_AT_157 LOOKED_AT_317
	"lea -56(%rdi), %rax\n"                 /* clone, fork, vfork */
	"\tcmp $2, %rax\n"
	"\tjbe 2f\n"
	"\tcmp $435, %rdi\n"                   /* clone3 */
	"\tjne 3f\n"
	"2:\tmovb $1, session_memory_shared(%rip)\n"
	"3:\tjmp *gprof_libc_syscall(%rip)\n"
	"\t.cfi_endproc\n"
	".size syscall, . - syscall\n"
	".popsection\n");

#else

EXPORT long syscall(long number, ...)
{
	va_list more;
	long a[6];

	va_start(more, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(more, long);
	va_end(more);
	return gprof_looked_at(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
