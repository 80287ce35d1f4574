/* rows PER_SECOND SECONDS: NVTX ranges from one thread; prints how many were made, and in how many seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nvtx3/nvToolsExt.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double per_second = argc > 1 ? atof(argv[1]) : 1e6, seconds = argc > 2 ? atof(argv[2]) : 1;
	double begin = now(), at = 0;
	static const char *const names[] = { "forward", "backward", "optimizer", "load" };
	const struct timespec nap = { .tv_nsec = 500000 };
	long done = 0;

	for (; at < seconds; at = now() - begin) {
		long due = (long)(at * per_second) - done;

		if (due <= 0)
			nanosleep(&nap, NULL);
		for (long i = 0; i < due && i < 10000; i++, done++) {
			nvtxRangePushA(names[done & 3]);
			nvtxRangePop();
		}
	}
	printf("%ld %.2f\n", done, at);
	return 0;
}
