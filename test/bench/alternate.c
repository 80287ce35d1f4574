/*
 * alternate ROUNDS NAME-A COMMAND-A NAME-B COMMAND-B...: runs the shell commands in turn, ROUNDS times, and prints a row for each:
 * the median wall time, and how it compares with the first.  In turn, because a machine is never the same for two minutes.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMANDS 8
#define MAX_ROUNDS   1001

extern char **environ;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Milliseconds, or -1: it failed. */
static double run(const char *command)
{
	char *argv[] = { "/bin/sh", "-c", (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	double start;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	start = now_ms();
	if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	posix_spawn_file_actions_destroy(&actions);
	return status == 0 ? now_ms() - start : -1;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double times[MAX_COMMANDS][MAX_ROUNDS];
	int rounds = argc > 1 ? atoi(argv[1]) : 0, n = (argc - 2) / 2;
	double first = 0;

	if (rounds < 1 || rounds > MAX_ROUNDS || n < 1 || n > MAX_COMMANDS || argc % 2) {
		fprintf(stderr, "usage: alternate ROUNDS NAME COMMAND [NAME COMMAND]...\n");
		return 2;
	}
	for (int round = -1; round < rounds; round++) {         /* the first round warms up and does not count */
		for (int i = 0; i < n; i++) {
			double ms = run(argv[3 + 2 * i]);

			if (ms < 0) {
				fprintf(stderr, "alternate: this failed: %s\n", argv[3 + 2 * i]);
				return 1;
			}
			if (round >= 0)
				times[i][round] = ms;
		}
	}
	for (int i = 0; i < n; i++) {
		double median;

		qsort(times[i], (size_t)rounds, sizeof times[i][0], by_value);
		median = times[i][rounds / 2];
		printf("%s\t%.3f\tms\t", argv[2 + 2 * i], median);
		if (i == 0) {
			first = median;
			puts("1.00 x");
		} else {
			printf("%.2f x, %+.3f ms\n", median / first, median - first);
		}
	}
	return 0;
}
