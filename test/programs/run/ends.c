/*
 * ends [-i SIG] [-b SIG] [-c FD] [-g] RESULT COMMAND...: runs the command with a signal ignored (-i) or blocked (-b), a descriptor closed
 * (-c), in a new process group (-g).  Writes what waitpid() returns to RESULT: "stopped N" (then continues the group), "exit N", "signal
 * N".
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void start(int argc, char **argv)
{
	sigset_t set;
	int o;

	sigemptyset(&set);
	while ((o = getopt(argc, argv, "+i:b:c:g")) != -1) {
		if (o == 'i')
			signal(atoi(optarg), SIG_IGN);
		if (o == 'b')
			sigaddset(&set, atoi(optarg));
		if (o == 'c')
			close(atoi(optarg));
		if (o == 'g')
			setpgid(0, 0);
	}
	sigprocmask(SIG_SETMASK, &set, NULL);
	execvp(argv[optind + 1], argv + optind + 1);
	perror(argv[optind + 1]);
	_exit(99);
}

int main(int argc, char **argv)
{
	pid_t child = fork();
	int status, o;
	FILE *out;

	if (child == 0)
		start(argc, argv);
	while ((o = getopt(argc, argv, "+i:b:c:g")) != -1)
		if (o == 'g')
			setpgid(child, child);
	out = fopen(argv[optind], "w");
	if (!out)
		return 1;
	while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
		fprintf(out, "stopped %d\n", WSTOPSIG(status));
		fflush(out);
		kill(-getpgid(child), SIGCONT);
	}
	if (WIFSIGNALED(status))
		fprintf(out, "signal %d%s\n", WTERMSIG(status), WCOREDUMP(status) ? " core" : "");
	else
		fprintf(out, "exit %d\n", WEXITSTATUS(status));
	return fclose(out) ? 1 : 0;
}
