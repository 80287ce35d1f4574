/*
 * spawned PROCESSES BEFORE MS AFTER: starts PROCESSES processes at once (fork, exec).  Each makes BEFORE ranges, sleeps MS, makes AFTER
 * ranges, and ends with status 3.  Prints the longest time of a process's first range in ms, and the number of processes with another
 * status.
 */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long ms_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void make_ranges(int n)
{
	for (int i = 0; i < n; i++) {
		nvtxRangePushA("range");
		nvtxRangePop();
	}
}

static int child(char **argv)
{
	long begin = ms_now(), first;

	nvtxRangePushA("first");
	nvtxRangePop();
	first = ms_now() - begin;
	make_ranges(atoi(argv[2]) - 1);
	usleep((unsigned)atoi(argv[3]) * 1000);
	make_ranges(atoi(argv[4]));
	if (write(1, &first, sizeof first) != sizeof first)
		return 1;
	return 3;
}

int main(int argc, char **argv)
{
	int ends[2], status, bad = 0;
	long longest = 0, first;

	if (argc < 5)
		return 2;
	if (argv[1][0] == 'c')
		return child(argv);
	if (pipe(ends) < 0)
		return 1;
	for (int i = atoi(argv[1]); i > 0; i--)
		if (fork() == 0) {
			dup2(ends[1], 1);
			close(ends[0]);
			close(ends[1]);
			execl(argv[0], argv[0], "child", argv[2], argv[3], argv[4], NULL);
			_exit(9);
		}
	close(ends[1]);
	while (read(ends[0], &first, sizeof first) == sizeof first)
		longest = first > longest ? first : longest;
	while (wait(&status) > 0)
		bad += status != 3 << 8;
	printf("longest %ld\nbad %d\n", longest, bad);
	return bad != 0;
}
