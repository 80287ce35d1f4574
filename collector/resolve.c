#include "collector/resolve.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/log.h"

/*
 * gprof-run waits for this, so names not found in two seconds are left to a later `gprof-trace resolve`: names of 10^5 addresses take a
 * tenth of that, lines of large libraries may take many times as long.  The alarm ends it if a file system hangs; gprof-run itself waits
 * for 10 s.
 */
#define LIMIT_S "2"
#define ALARM_S 8

/* BIN/../lib/gprof/gprof-collector -> BIN/gprof-trace.  0 or -1. */
static int find_program(char *out, size_t size)
{
	char self[PATH_MAX], *end = self;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n <= 0)
		return -1;
	self[n] = '\0';
	for (int i = 0; i < 3 && end; i++) {
		end = strrchr(self, '/');
		if (end)
			*end = '\0';
	}
	if (!end || (size_t)snprintf(out, size, "%s/bin/gprof-trace", self) >= size)
		return -1;
	return access(out, X_OK);
}

void resolve_run(const char *path, unsigned sources)
{
	static const char *const which[] = { "--sources=own", "--sources=all", "--sources=none" };
	char program[PATH_MAX];
	int status = 0;
	pid_t pid;

	if (find_program(program, sizeof program) < 0) {
		fail("the stacks of '%s' have no names: gprof-trace is not installed next to gprof-run", path);
		return;
	}
	pid = fork();
	if (pid == 0) {
		alarm(ALARM_S);
		execl(program, "gprof-trace", "resolve", "--quiet", "--time-limit=" LIMIT_S, which[sources % 3], "--", path, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || status)
		fail("not all stacks of '%s' have names: gprof-trace resolve ended with status 0x%x", path, status);
}
