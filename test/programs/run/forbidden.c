/*
 * forbidden NAME,... COMMAND...: runs the command under a filter that makes these system calls return EPERM, as in a container with a
 * strict profile.  Exit status 125: the filter cannot be installed.
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
#define MOST (1 + 5 * MAX_CALLS + 1)

static const struct call {
	const char *name;
	unsigned nr;
	unsigned arg, bits;             /* forbidden only if the argument has one of these bits; 0: always */
} calls[] = {
	{ "memfd_create", SYS_memfd_create, 0, 0 },
	{ "pidfd_open", 434, 0, 0 },
	{ "close_range", 436, 0, 0 },
	{ "process_vm_readv", SYS_process_vm_readv, 0, 0 },
	{ "fallocate", SYS_fallocate, 0, 0 },
	{ "map_shared", SYS_mmap, 3, 1 },       /* MAP_SHARED; programs and libraries are mapped private */
	{ "own_descriptors", 436, 2, 2 },       /* CLOSE_RANGE_UNSHARE */
};

static const struct call *find(const char *name)
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	return NULL;
}

static void load(struct sock_fprog *p, size_t offset)
{
	p->filter[p->len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset);
}

static void jump(struct sock_fprog *p, unsigned how, unsigned value, unsigned char otherwise)
{
	p->filter[p->len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, value, 0, otherwise);
}

static void answer(struct sock_fprog *p, unsigned with)
{
	p->filter[p->len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, with);
}

static void forbid(struct sock_fprog *p, const struct call *c)
{
	jump(p, BPF_JEQ, c->nr, c->bits ? 4 : 1);
	if (c->bits) {
		load(p, offsetof(struct seccomp_data, args) + c->arg * sizeof(__u64));
		jump(p, BPF_JSET, c->bits, 1);
	}
	answer(p, SECCOMP_RET_ERRNO | EPERM);
	if (c->bits)
		load(p, offsetof(struct seccomp_data, nr));
}

int main(int argc, char **argv)
{
	struct sock_filter code[MOST];
	struct sock_fprog program = { 0, code };
	int n = 0;

	if (argc < 3)
		return 125;
	load(&program, offsetof(struct seccomp_data, nr));
	for (char *name = strtok(argv[1], ","); name && n < MAX_CALLS; name = strtok(NULL, ","), n++) {
		const struct call *c = find(name);

		if (!c) {
			fprintf(stderr, "forbidden: no such call: %s\n", name);
			return 125;
		}
		forbid(&program, c);
	}
	answer(&program, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("forbidden: seccomp");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
