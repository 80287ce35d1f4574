/* A library that needs libtorch_cpu, as libtorch_python does: loading it loads both, and its initialiser runs last. */
#include <stdlib.h>

#include "test/programs/libtorch/standin.h"

int (*volatile user_of)(void) = standin_observers;

static void at_end(void)
{
}

__attribute__((constructor)) static void initialise(void)
{
	atexit(at_end);
}
