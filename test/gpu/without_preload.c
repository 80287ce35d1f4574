/*
 * without_preload PROGRAM ARGUMENT...: runs it without LD_PRELOAD.  Linked statically, so that no preloaded object is in here to put itself
 * back: what records the program then was loaded by the driver, through CUDA_INJECTION64_PATH.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	unsetenv("LD_PRELOAD");
	execv(argv[1], argv + 1);
	perror("without_preload: cannot run the program");
	return 127;
}
