/*
 * cloned HOW: creates a child without running fork handlers (clone: clone(2); _Fork: _Fork()).  The child makes 5 ranges and ends with
 * status 7.  Prints how the child ended.
 */
#include <nvtx3/nvToolsExt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(void *unused)
{
	(void)unused;
	for (int i = 0; i < 5; i++) {
		nvtxRangePushA("child");
		nvtxRangePop();
	}
	return 7;
}

static pid_t start(const char *how)
{
	static char stack[1 << 20] __attribute__((aligned(64)));
	pid_t pid;

	if (strcmp(how, "_Fork") != 0)
		return clone(child, stack + sizeof stack, SIGCHLD, NULL);
#if __GLIBC_PREREQ(2, 34)
	pid = _Fork();
#else
	pid = fork();
#endif
	if (pid == 0)
		_exit(child(NULL));
	return pid;
}

int main(int argc, char **argv)
{
	int status;

	nvtxRangePushA("parent");
	if (argc < 2 || waitpid(start(argv[1]), &status, 0) < 0)
		return 1;
	nvtxRangePop();
	printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status);
	return 0;
}
