/*
 * measure ROUNDS COMMAND...: runs the command ROUNDS times, its output thrown away, and prints the least wall time, the least CPU time
 * (s, of all its threads) and the largest peak of resident memory (MiB, pages of mapped files among them).
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double of_timeval(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0, status;
	double wall = 1e9, cpu = 1e9, memory = 0;
	posix_spawn_file_actions_t actions;
	struct rusage use;
	pid_t pid;

	if (rounds < 1) {
		fprintf(stderr, "usage: measure ROUNDS COMMAND...\n");
		return 2;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	while (rounds--) {
		double start = seconds(), took, busy;

		if (posix_spawnp(&pid, argv[2], &actions, NULL, argv + 2, environ) != 0)
			return 1;
		while (wait4(pid, &status, 0, &use) < 0 && errno == EINTR)
			;
		if (status) {
			fprintf(stderr, "measure: '%s' failed\n", argv[2]);
			return 1;
		}
		took = seconds() - start;
		busy = of_timeval(use.ru_utime) + of_timeval(use.ru_stime);
		wall = took < wall ? took : wall;
		cpu = busy < cpu ? busy : cpu;
		memory = (double)use.ru_maxrss / 1024 > memory ? (double)use.ru_maxrss / 1024 : memory;
	}
	printf("%.3f %.3f %.0f\n", wall, cpu, memory);
	return 0;
}
