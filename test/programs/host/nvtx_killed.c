/*
 * nvtx_killed [SIGNAL [RANGES [MS]]]: makes ranges, opens some more, and is killed by the signal MS milliseconds later.
 * The open ranges must be recorded as incomplete.
 */
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int signo = argc > 1 ? atoi(argv[1]) : SIGKILL;
	int done = argc > 2 ? atoi(argv[2]) : 100;

	for (int i = 0; i < done; i++) {
		nvtxRangePushA("done");
		nvtxRangePop();
	}
	nvtxRangeStartA("started");
	nvtxRangePushA("outer");
	nvtxRangePushA("inner");
	printf("done %d\n", done);
	fflush(stdout);
	if (argc > 3)
		usleep((unsigned)atoi(argv[3]) * 1000);
	raise(signo);
	return 0;
}
