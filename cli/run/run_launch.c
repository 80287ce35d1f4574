/* The program's process: forked, held until the session is ready, executed with the signals and descriptors of gprof-run's start. */
#include "cli/run/run.h"
#include "cli/ui/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void launch_prepare(struct program_launch *l)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t all;
	int fd;

	/* Fill closed standard descriptors, so that no other file becomes stderr.  CLOEXEC: the program finds them closed. */
	while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
		;
	if (fd > STDERR_FILENO)
		close(fd);
	/* Blocked, not handled, so that children inherit the original dispositions. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &l->mask);
	/* If the caller ignores SIGCHLD, waitpid() gets no exit status. */
	sigaction(SIGCHLD, &plain, &l->chld);
	l->line = -1;
}

void launch_close_from(int fd)
{
	long max;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, fd, ~0u, 0) == 0)
		return;
#endif
	max = sysconf(_SC_OPEN_MAX);
	for (; fd < (max > 0 && max < 65536 ? max : 65536); fd++)
		close(fd);
}

void launch_restore_signals(const struct program_launch *l)
{
	sigaction(SIGCHLD, &l->chld, NULL);
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
}

/* execve(); a script without "#!" is run by /bin/sh, as execvp() does.  Returns on failure, with errno. */
static void execute(const char *path, char **argv, int argc, char **vars)
{
	char **shell;

	execve(path, argv, vars);
	if (errno != ENOEXEC)
		return;
	shell = calloc((size_t)argc + 2, sizeof *shell);
	if (!shell)
		return;
	shell[0] = "/bin/sh";
	shell[1] = (char *)path;
	for (int i = 1; i < argc; i++)
		shell[i + 1] = argv[i];
	execve(shell[0], shell, vars);
}

/* In the child: waits for launch_release(), then executes the program, or sends errno.  Does not return. */
static void wait_and_execute(const struct program_launch *l, int line, const struct target *t, const struct request *r,
			     const struct env *plain, const struct env *ours)
{
	char with_us;
	int error;

	if (read(line, &with_us, 1) != 1)
		_exit(EXIT_NOT_EXECUTABLE);
	launch_restore_signals(l);
	execute(t->path, r->argv, r->argc, with_us ? ours->vars : plain->vars);
	error = errno;
	send(line, &error, sizeof error, MSG_NOSIGNAL);
	_exit(EXIT_NOT_EXECUTABLE);
}

int launch_hold(struct program_launch *l, const struct target *t, const struct request *r, const struct env *plain,
		const struct env *ours)
{
	sigset_t all;
	int pair[2];

	sigfillset(&all);
	l->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return fail_errno("cannot start '%s'", r->argv[0]);
	l->program = fork();
	if (l->program == 0) {
		close(pair[0]);
		wait_and_execute(l, pair[1], t, r, plain, ours);
	}
	close(pair[1]);
	l->line = pair[0];
	return l->program < 0 ? fail_errno("cannot start '%s'", r->argv[0]) : 0;
}

void launch_instead(const struct program_launch *l, const struct target *t, const struct request *r, const struct env *plain)
{
	launch_restore_signals(l);
	execute(t->path, r->argv, r->argc, plain->vars);
	fail_errno("cannot run '%s'", t->path);
}

void launch_release(struct program_launch *l, bool with_us)
{
	char byte = with_us;

	send(l->line, &byte, 1, MSG_NOSIGNAL);
}

void launch_check_exec(struct program_launch *l, const struct target *t)
{
	int error;

	if (recv(l->line, &error, sizeof error, MSG_DONTWAIT) == (ssize_t)sizeof error) {
		errno = error;
		fail_errno("cannot run '%s'", t->path);
		if (error == ENOENT)
			hint("the file exists, but its interpreter or loader ('#!' line, ld.so) does not");
		l->status = EXIT_NOT_EXECUTABLE << 8;
	}
	close(l->line);
	l->line = -1;
}

void launch_end_alike(const struct program_launch *l)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	struct rlimit none = { 0, 0 };
	sigset_t one;
	int sig;

	/* _exit(), because this also runs in a signal handler; stdio's buffers are empty. */
	if (!WIFSIGNALED(l->status))
		_exit(WEXITSTATUS(l->status));
	sig = WTERMSIG(l->status);
	/* No core dump of gprof-run; the program has left its own. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(sig, &plain, NULL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	/* Process 1 of a pid namespace survives its own signals: use a shell's exit status. */
	_exit(128 + sig);
}
