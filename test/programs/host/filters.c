/*
 * A program that installs a seccomp filter.  filters ACTION WHAT END BEFORE AFTER
 *
 *	ACTION	for forbidden calls: kill, trap (with a handler that returns EPERM) or errno
 *	WHAT	forbidden calls.  all: all except read, write, exit, exit_group and rt_sigreturn; threads: the same, for all threads;
 *		files: open, openat and socket; sockets: socket
 *	END	_exit, return, quick_exit, fork (the child writes rows, ends with _exit), thread, exec (a program with AFTER ranges),
 *		module (AFTER ranges of a library that was loaded before the filter and has not called NVTX before)
 *	BEFORE	NVTX ranges before the filter		AFTER	... and after it
 *
 * Exit status 5.  Prints what still works under the filter; with "trap" also the number of trapped calls, and the number of environment
 * variables whose address has changed since before the filter.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

static volatile int trapped;

static void say(const char *what, int n)
{
	char text[64];
	size_t used = strlen(what);

	memcpy(text, what, used);
	text[used++] = ' ';
	if (n > 9)
		text[used++] = (char)('0' + n / 10 % 10);
	text[used++] = (char)('0' + n % 10);
	text[used++] = '\n';
	if (write(1, text, used) < 0)
		_exit(9);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	trapped++;
#if defined(__x86_64__)
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	((ucontext_t *)context)->uc_mcontext.regs[0] = -EPERM;
#endif
}

static void ranges(const char *name, int n)
{
	for (int i = 0; i < n; i++) {
		nvtxRangePushA(name);
		nvtxRangePop();
	}
}

static void *thread(void *n)
{
	ranges("thread", *(int *)n);
	return NULL;
}

#define CALL(name, yes) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, yes, 0)

static void filter(unsigned action, int all, int sockets, unsigned long flags)
{
	struct sock_filter few[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		CALL(read, 5), CALL(write, 4), CALL(exit_group, 3), CALL(rt_sigreturn, 2), CALL(exit, 1),
		BPF_STMT(BPF_RET | BPF_K, action), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter files[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_open
		CALL(open, 3),
#else
		CALL(openat, 3),
#endif
		CALL(openat, 2), CALL(socket, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_K, action),
	};
	if (sockets)
		files[1].k = files[2].k = SYS_socket;

	struct sock_fprog program = { all ? sizeof few / sizeof *few : sizeof files / sizeof *files, all ? few : files };

	/* Sandboxes probe the kernel with a NULL filter. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || errno != EFAULT)
		_exit(8);
	/* Uses prctl() or seccomp(), depending on WHAT. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    (all && !flags ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program)) < 0)
		_exit(77);
}

static void children(int n)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		ranges("child", n);
		_exit(4);
	}
	waitpid(child, &status, 0);
	say("child", WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

/* Copy of environ's pointers: removing a variable moves the following ones. */
static char *environment[4096];

static int keep_environment(void)
{
	int n = 0;

	while (environ[n] && n < 4096) {
		environment[n] = environ[n];
		n++;
	}
	return n;
}

static int moved(int n)
{
	int changed = 0;

	for (int i = 0; i < n; i++)
		changed += environ[i] != environment[i];
	return changed;
}

/* Loads the library from the program's folder. */
static void (*module(const char *self))(const char *, int)
{
	char path[4096];
	void *library;

	strcpy(path, self);
	strcpy(strrchr(path, '/') + 1, "libnvtx_module.so");
	library = dlopen(path, RTLD_NOW);
	return library ? (void (*)(const char *, int))dlsym(library, "module_ranges") : NULL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	void (*of_module)(const char *, int) = NULL;
	int before, after, variables;

	if (argc == 3) {
		ranges("executed", atoi(argv[2]));
		say("executed", atoi(argv[2]));
		return 5;
	}
	if (argc != 6)
		return 2;
	before = atoi(argv[4]);
	after = atoi(argv[5]);
	sigaction(SIGSYS, &action, NULL);
	ranges("before", before);
	if (strcmp(argv[3], "module") == 0)
		of_module = module(argv[0]);
	variables = keep_environment();
	filter(argv[1][0] == 'k' ? SECCOMP_RET_KILL_PROCESS : argv[1][0] == 't' ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | EPERM,
	       strcmp(argv[2], "all") == 0 || strcmp(argv[2], "threads") == 0, strcmp(argv[2], "sockets") == 0,
	       strcmp(argv[2], "threads") == 0 ? SECCOMP_FILTER_FLAG_TSYNC : 0);
	if (of_module)
		of_module("module", after);
	else
		ranges("after", after);
	if (strcmp(argv[3], "fork") == 0)
		children(after);
	if (strcmp(argv[3], "thread") == 0) {
		pthread_t t;

		pthread_create(&t, NULL, thread, &after);
		pthread_join(t, NULL);
	}
	if (strcmp(argv[3], "exec") == 0)
		execl(argv[0], argv[0], "executed", argv[5], NULL);
	say("trapped", trapped);
	say("variables moved", moved(variables));
	if (strcmp(argv[3], "_exit") == 0)
		_exit(5);
	if (strcmp(argv[3], "quick_exit") == 0)
		quick_exit(5);
	return 5;
}
