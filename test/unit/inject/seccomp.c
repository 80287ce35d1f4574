/* Which of the injected object's system calls a seccomp filter of the program allows. */
#include "inject/core/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "test/unit/test.h"

#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define FIRST_ARGUMENT BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define JUDGE(...) judge((struct sock_filter[]){ __VA_ARGS__ }, sizeof((struct sock_filter[]){ __VA_ARGS__ }) / sizeof(struct sock_filter))

static struct seccomp_verdict judge(struct sock_filter *f, size_t n)
{
	const struct sock_fprog program = { (unsigned short)n, f };

	return seccomp_judge(&program);
}

TEST(a_filter_forbids_the_situations_of_the_calls_that_it_kills)
{
	struct seccomp_verdict v = JUDGE(NUMBER, IF(SYS_futex, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW));

	CHECK(v.forbidden & SECCOMP_BELL);
	CHECK(!(v.forbidden & (SECCOMP_CONNECT | SECCOMP_THREAD | SECCOMP_MEMORY | SECCOMP_PEEK)));
	CHECK_STR(v.first, "futex");
}

TEST(what_answers_with_an_error_is_tried_and_what_pretends_success_is_not)
{
	static const struct { uint32_t action; bool tried; } actions[] = {
		{ SECCOMP_RET_ALLOW, true }, { SECCOMP_RET_LOG, true }, { SECCOMP_RET_ERRNO | EPERM, true }, { SECCOMP_RET_ERRNO, false },
		{ SECCOMP_RET_KILL_THREAD, false }, { SECCOMP_RET_KILL_PROCESS, false }, { SECCOMP_RET_TRAP | 7, false },
		{ SECCOMP_RET_TRACE, false }, { SECCOMP_RET_USER_NOTIF, false },
	};

	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
		struct seccomp_verdict v = JUDGE(NUMBER, IF(SYS_rt_sigreturn, 3, 0), IF(SYS_rseq, 2, 0), IF(SYS_exit, 1, 0),
						 RETURN(actions[i].action), RETURN(SECCOMP_RET_ALLOW));

		CHECK_EQ(!(v.forbidden & SECCOMP_CONNECT), actions[i].tried);
		CHECK_EQ(!v.forbidden, actions[i].tried);
	}
}

TEST(a_thread_of_ours_needs_its_rseq_and_its_exit)
{
	struct seccomp_verdict v = JUDGE(NUMBER, IF(SYS_rseq, 1, 0), IF(SYS_exit, 0, 1), RETURN(SECCOMP_RET_ERRNO | EPERM),
					 RETURN(SECCOMP_RET_ALLOW));

	CHECK_EQ(v.forbidden, SECCOMP_TOOL);
}

TEST(no_handler_of_ours_goes_on_where_its_return_fails)
{
	struct seccomp_verdict v = JUDGE(NUMBER, IF(SYS_rt_sigreturn, 0, 1), RETURN(SECCOMP_RET_ERRNO | EPERM), RETURN(SECCOMP_RET_ALLOW));

	CHECK_EQ(v.forbidden, SECCOMP_SIGNAL);
}

TEST(a_filter_sees_the_arguments_of_our_calls)
{
	/* Of prctl() the name of a thread may be asked for, and no more: threads of ours set theirs. */
	struct seccomp_verdict v = JUDGE(NUMBER, IF(SYS_prctl, 0, 3), FIRST_ARGUMENT, IF(PR_GET_NAME, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS),
					 RETURN(SECCOMP_RET_ALLOW));

	CHECK_EQ(v.forbidden, SECCOMP_TOOL);
}

TEST(strict_mode_forbids_all_but_reading_and_writing)
{
	struct seccomp_verdict v = seccomp_judge(NULL);

	CHECK_EQ(v.forbidden & SECCOMP_SIGNAL, 0);
	CHECK(v.forbidden & SECCOMP_END);
}

TEST(every_instruction_of_filters_does_what_the_kernel_does)
{
	static const uint64_t args[6] = { 0x1122334455667788ull, 3 };
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),      /* 0x55667788 */
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff00),                                    /* 0x7700 */
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8),                                         /* 0x77 */
		BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),                                          /* 64 */
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),                                         /* 64 + 0x77 */
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 7),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 6),
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 2),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_IMM, 1),
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 16),
		BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_NEG, 0),
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, ~0u),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 0x10000, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x10000, 0, 1),
		BPF_STMT(BPF_RET | BPF_A, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = { sizeof f / sizeof *f, f };

	CHECK_EQ(seccomp_run(&program, 1, args), (0x10000u | (64 + 0x77 - 7) * 3) - 1);
}

TEST(a_filter_that_the_kernel_would_refuse_allows_nothing)
{
	struct sock_filter f[] = { BPF_JUMP(BPF_JMP | BPF_JA, 7, 0, 0), RETURN(SECCOMP_RET_ALLOW) };
	struct sock_filter g[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), RETURN(SECCOMP_RET_ALLOW) };
	struct sock_filter h[] = { BPF_STMT(BPF_LD | BPF_MEM, 16), RETURN(SECCOMP_RET_ALLOW) };
	const struct sock_fprog programs[] = { { 2, f }, { 2, g }, { 2, h }, { 0, f } };

	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		CHECK_EQ(seccomp_run(&programs[i], 1, (uint64_t[6]){ 0 }), SECCOMP_RET_KILL_PROCESS);
}
