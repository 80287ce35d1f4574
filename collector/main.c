/* gprof-collector --session DIR --control FD: started by gprof-run; owns the shared memory and the trace file. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/session.h"

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

#define CONTROL 3       /* descriptor of the control socket after detach() */

struct args {
	const char *folder;
	int control;
};

static int parse_args(struct args *a, int argc, char **argv)
{
	*a = (struct args){ .control = -1 };
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--session") == 0)
			a->folder = argv[i + 1];
		else if (strcmp(argv[i], "--control") == 0)
			a->control = atoi(argv[i + 1]);
	}
	if (a->folder && a->control >= 0)
		return 0;
	fprintf(stderr, "gprof-collector: only gprof-run starts this program, with --session DIR --control FD\n");
	return -1;
}

static void close_others(void)
{
	long max;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, CONTROL + 1, ~0u, 0) == 0)
		return;
#endif
	max = sysconf(_SC_OPEN_MAX);
	for (int fd = CONTROL + 1; fd < (max > 0 && max < 65536 ? max : 65536); fd++)
		close(fd);
}

/* Detaches from the terminal, the signals and the open files of gprof-run. */
static int detach(int control)
{
	static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2 };
	sigset_t none;
	int null;

	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	umask(077);
	if (control != CONTROL && dup3(control, CONTROL, O_CLOEXEC) < 0)
		return -1;
	close_others();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (null > CONTROL)
		close(null);
	return 0;
}

/* Each process needs a descriptor; the soft limit is usually 1024. */
static void raise_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

int main(int argc, char **argv)
{
	static struct session session = SESSION_INIT;
	struct args args;
	int rc = EXIT_FAILED;

	if (parse_args(&args, argc, argv) < 0)
		return EXIT_USAGE;
	if (detach(args.control) < 0)
		return EXIT_FAILED;
	raise_limits();
	shared_memory_guard();
	if (session_open(&session, args.folder, CONTROL) < 0)
		goto out;
	while (!session_is_over(&session))
		session_step(&session);
	if (session_finish(&session) < 0)
		goto out;
	rc = EXIT_OK;
out:
	session_release(&session);
	return rc;
}
