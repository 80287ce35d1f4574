/*
 * row_less CHILDREN: forks CHILDREN children that end at once, under a filter that kills for every system call except those of libc's
 * fork(), wait() and exit.  Exit status: number of children with another end; 125: the filter cannot be installed.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int allowed[] = {
#ifdef SYS_fork
	SYS_fork,
#endif
	SYS_clone, 435 /* clone3 */, SYS_set_robust_list, SYS_set_tid_address, 334 /* rseq */, SYS_wait4, SYS_waitid, SYS_exit_group,
};
#define N (sizeof allowed / sizeof *allowed)

static int forbid_the_rest(void)
{
	struct sock_filter f[2 * N + 2];
	struct sock_fprog p = { .filter = f };

	f[p.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < N; i++) {
		f[p.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
		f[p.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	f[p.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 1, bad = 0, status;

	if (forbid_the_rest() != 0)
		return 125;
	for (int i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid == 0)
			syscall(SYS_exit_group, 4);
		bad += waitpid(pid, &status, 0) != pid || status != 4 << 8;
	}
	syscall(SYS_exit_group, bad < 100 ? bad : 100);
}
