/*
 * Keeps a seccomp filter of the program from killing it for a system call of this object.  libc's prctl() and syscall() are interposed
 * (system_hooks.c), so each filter is known before it is in force.  It is run on each system call that this object makes
 * (system_calls.def).  If it would kill, trap or notify a supervisor for one call of a situation, that situation is forbidden from then
 * on.  A call that the filter answers with an error is made: the code handles the error.
 *
 * Filters belong to threads, but a forbidden situation is forbidden in all threads of the process and in its forked children.  Not seen:
 * filters installed without libc, and filters in force when the program image started.
 */
#ifndef INJECT_CORE_SECCOMP_H
#define INJECT_CORE_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>

/* Situations in which this object makes system calls; system_calls.def lists the calls of each. */
enum seccomp_situation {
	SECCOMP_CONNECT = 1,
	SECCOMP_THREAD = 2,
	SECCOMP_MEMORY = 4,
	SECCOMP_BELL = 8,
	SECCOMP_PEEK = 16,
	SECCOMP_LOCK = 32,
	SECCOMP_SAMPLE = 64,
	SECCOMP_SIGNAL = 128,
	SECCOMP_END = 256,
	SECCOMP_FILE = 512,
	SECCOMP_TOOL = 1024,
	SECCOMP_CARRY = 2048,
	SECCOMP_ROSTER = 4096,
	SECCOMP_CUPTI = 8192,
	SECCOMP_LIMIT = 16384,
	SECCOMP_EXEC = 32768,
	SECCOMP_LATE = 65536,
	SECCOMP_MOVE = 131072,
	SECCOMP_START = 262144,
};

/* SECCOMP_ bits; 0 in a process without a filter. */
extern uint32_t seccomp_forbidden;

/* True if this object may make the system calls of that situation. */
static inline bool seccomp_allows(enum seccomp_situation what)
{
	return __builtin_expect(!(__atomic_load_n(&seccomp_forbidden, __ATOMIC_RELAXED) & what), 1);
}

/* False: a filter is in force.  An executed program inherits it unknowingly, so this object must not be loaded there. */
static inline bool seccomp_allows_all(void)
{
	return __builtin_expect(!__atomic_load_n(&seccomp_forbidden, __ATOMIC_RELAXED), 1);
}

struct sock_fprog;

struct seccomp_verdict {
	uint32_t forbidden;             /* SECCOMP_ bits */
	const char *first;              /* name of the first forbidden call; NULL: none */
};

/* Judges a filter by this object's system calls.  NULL: strict mode, which allows only read, write, exit and rt_sigreturn. */
struct seccomp_verdict seccomp_judge(const struct sock_fprog *filter);

/* Runs the filter on one call.  Returns a SECCOMP_RET_ value; SECCOMP_RET_KILL_PROCESS for a filter that the kernel would refuse. */
uint32_t seccomp_run(const struct sock_fprog *filter, int number, const uint64_t args[6]);

#endif
