/*
 * signals LOG: writes its pid to LOG.pid, then a line to LOG for each signal that it gets, until USR2 ends it.  Reads signals at once, so
 * that two signals of a kind are two lines.  Ends after 30 s at the latest.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[4096], ready[4096];
	sigset_t all;
	FILE *log, *pid;
	int sig;

	(void)argc;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	log = fopen(argv[1], "w");
	snprintf(name, sizeof name, "%s.new", argv[1]);
	snprintf(ready, sizeof ready, "%s.pid", argv[1]);
	pid = fopen(name, "w");
	if (!log || !pid)
		return 1;
	setvbuf(log, NULL, _IOLBF, 0);
	fprintf(pid, "%d\n", (int)getpid());
	fclose(pid);
	rename(name, ready);
	alarm(30);
	while ((sig = sigwaitinfo(&all, NULL)) != SIGUSR2) {
		fprintf(log, "%d\n", sig);
		if (sig == SIGALRM)
			return 9;
	}
	return 0;
}
