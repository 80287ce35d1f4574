/* Reads a trace of others as the importer does, but looks at nothing.  Prints seconds of CPU time, all threads: the least of ROUNDS. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/import/bytes/source.h"

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[1]) : 0;
	double least = 1e9;
	struct trace_error err = { 0 };

	if (rounds < 1)
		return fputs("usage: unpack ROUNDS FILE\n", stderr), 2;
	while (rounds--) {
		double begin = cpu_seconds(), took;
		struct source *s = source_open(argv[2], &err);
		size_t have = 0, now;

		if (!s)
			return fprintf(stderr, "unpack: %s\n", err.text), 1;
		while ((now = source_wait(s, have)) > have)
			source_release(s, have = now);
		source_close(s);
		took = cpu_seconds() - begin;
		least = took < least ? took : least;
	}
	printf("%.6f\n", least);
	return 0;
}
