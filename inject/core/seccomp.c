#include "inject/core/seccomp.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

uint32_t seccomp_forbidden;

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

/* Not in the headers of older kernels. */
#ifndef SYS_rseq
#define SYS_rseq -1
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define WORDS (sizeof(struct seccomp_data) / 4)

/* ---- a filter's program ---- */

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	uint32_t data[WORDS];           /* struct seccomp_data, word by word */
};

/* Loads a value for A or X.  False: invalid instruction or offset. */
static bool loads(const struct machine *m, const struct sock_filter *f, uint32_t *value)
{
	switch (BPF_MODE(f->code)) {
	case BPF_IMM:
		*value = f->k;
		return true;
	case BPF_LEN:
		*value = sizeof(struct seccomp_data);
		return true;
	case BPF_MEM:
		*value = f->k < BPF_MEMWORDS ? m->memory[f->k] : 0;
		return f->k < BPF_MEMWORDS;
	case BPF_ABS:
		*value = f->k / 4 < WORDS ? m->data[f->k / 4] : 0;
		return f->k / 4 < WORDS && f->k % 4 == 0;
	default:
		return false;
	}
}

static bool calculates(struct machine *m, const struct sock_filter *f)
{
	uint32_t by = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD: m->a += by; return true;
	case BPF_SUB: m->a -= by; return true;
	case BPF_MUL: m->a *= by; return true;
	case BPF_DIV: m->a = by ? m->a / by : 0; return by;
	case BPF_AND: m->a &= by; return true;
	case BPF_OR:  m->a |= by; return true;
	case BPF_XOR: m->a ^= by; return true;
	case BPF_LSH: m->a = by < 32 ? m->a << by : 0; return true;
	case BPF_RSH: m->a = by < 32 ? m->a >> by : 0; return true;
	case BPF_NEG: m->a = -m->a; return true;
	default: return false;
	}
}

/* Returns how many instructions to skip; -1: invalid jump. */
static int64_t jumps(const struct machine *m, const struct sock_filter *f)
{
	uint32_t with = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_JA:   return f->k;
	case BPF_JEQ:  return m->a == with ? f->jt : f->jf;
	case BPF_JGT:  return m->a > with ? f->jt : f->jf;
	case BPF_JGE:  return m->a >= with ? f->jt : f->jf;
	case BPF_JSET: return m->a & with ? f->jt : f->jf;
	default:       return -1;
	}
}

static bool stores(struct machine *m, const struct sock_filter *f, uint32_t value)
{
	if (f->k >= BPF_MEMWORDS)
		return false;
	m->memory[f->k] = value;
	return true;
}

/* Runs the filter.  It always ends: jumps only go forward. */
static uint32_t run(struct machine *m, const struct sock_fprog *filter)
{
	for (uint32_t at = 0; at < filter->len; at++) {
		const struct sock_filter *f = &filter->filter[at];
		int64_t jump = 0;
		bool known = true;

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:   known = loads(m, f, &m->a); break;
		case BPF_LDX:  known = loads(m, f, &m->x); break;
		case BPF_ST:   known = stores(m, f, m->a); break;
		case BPF_STX:  known = stores(m, f, m->x); break;
		case BPF_ALU:  known = calculates(m, f); break;
		case BPF_JMP:  known = (jump = jumps(m, f)) >= 0; break;
		case BPF_MISC:
			if (BPF_MISCOP(f->code) == BPF_TXA)
				m->a = m->x;
			else
				m->x = m->a;
			break;
		default:       return BPF_RVAL(f->code) == BPF_A ? m->a : f->k;
		}
		if (!known || jump > filter->len)
			break;
		at += (uint32_t)jump;
	}
	return SECCOMP_RET_KILL_PROCESS;
}

uint32_t seccomp_run(const struct sock_fprog *filter, int number, const uint64_t args[6])
{
	struct seccomp_data data = { .nr = number, .arch = ARCH };
	struct machine m = { 0 };

	for (int i = 0; i < 6; i++)
		data.args[i] = args[i];
	memcpy(m.data, &data, sizeof data);
	return run(&m, filter);
}

/* ---- this object's system calls ---- */

static const struct {
	uint32_t situation;
	int number;
	const char *name;
	uint64_t args[6];
} calls[] = {
#define SYSTEM_CALL(situation, name, a, b, c, d, e, f)                                                  \
	{ SECCOMP_##situation, SYS_##name, #name,                                                       \
	  { (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e), (uint64_t)(f) } },
#include "inject/core/system_calls.def"
#undef SYSTEM_CALL
};

/* Calls that may not even fail: a handler cannot return, a thread cannot end, and libc aborts if a new thread cannot register its rseq. */
static bool must_succeed(int number)
{
	return number == SYS_rt_sigreturn || number == SYS_exit || number == SYS_rseq;
}

/* A call that fails with an error is handled.  SECCOMP_RET_ERRNO with error 0 is not: it looks like a success. */
static bool may_be_tried(uint32_t action, int number)
{
	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:
		return action & SECCOMP_RET_DATA && !must_succeed(number);
	default:
		return false;
	}
}

static bool strict_allows(int number)
{
	return number == SYS_read || number == SYS_write || number == SYS_exit || number == SYS_rt_sigreturn;
}

struct seccomp_verdict seccomp_judge(const struct sock_fprog *filter)
{
	struct seccomp_verdict v = { 0 };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		int number = calls[i].number;
		uint32_t action = filter ? seccomp_run(filter, number, calls[i].args) :
				  strict_allows(number) ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS;

		if (may_be_tried(action, number))
			continue;
		v.forbidden |= calls[i].situation;
		if (!v.first)
			v.first = calls[i].name;
	}
	return v;
}
