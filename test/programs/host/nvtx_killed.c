/* Opens ranges and dies of the signal named on the command line, in the middle.  Its ranges must be found as incomplete. */
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

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
	raise(signo);
	return 0;
}
