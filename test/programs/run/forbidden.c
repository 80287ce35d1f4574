/*
 * forbidden NAME,... COMMAND...: runs the command where these system calls answer EPERM, as in a container with a strict profile.
 * Exit status 125: no such filter can be had here.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CALLS 16

static const struct {
	const char *name;
	unsigned nr;
} calls[] = {
	{ "memfd_create", SYS_memfd_create },
	{ "pidfd_open", 434 },
	{ "close_range", 436 },
	{ "process_vm_readv", SYS_process_vm_readv },
};

static unsigned number(const char *name)
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].nr;
	return ~0u;
}

int main(int argc, char **argv)
{
	struct sock_filter code[1 + 2 * MAX_CALLS + 1];
	struct sock_fprog program = { 0, code };

	if (argc < 3)
		return 125;
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (char *name = strtok(argv[1], ","); name && program.len < 2 * MAX_CALLS; name = strtok(NULL, ",")) {
		unsigned nr = number(name);

		if (nr == ~0u) {
			fprintf(stderr, "forbidden: no such call: %s\n", name);
			return 125;
		}
		code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("forbidden: seccomp");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
