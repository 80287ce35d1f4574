/*
 * Learning that libtorch_cpu is there, without interposing dlopen() (the loader looks at who calls it) and without a hook in Python.
 *
 * Initialisers of C++ libraries call __cxa_atexit() with an address of theirs.  One that needs a library of PyTorch's is initialised when
 * libtorch_cpu is already; libtorch_python is such a one.  A program linked with it has it initialised before our own constructor.
 */
#include <dlfcn.h>

#include "inject/stream.h"
#include "inject/torch.h"

#define EXPORT __attribute__((visibility("default")))

/* Of the C++ ABI, of which C's headers know nothing. */
int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);

static int (*real_cxa_atexit)(void (*fn)(void *), void *arg, void *dso);
static void *last_dso;                  /* of the last call: those of a library come together */

/* It may be called before our constructors. */
static void find_real(void)
{
	*(void **)&real_cxa_atexit = dlsym(RTLD_NEXT, "__cxa_atexit");
}

EXPORT int __cxa_atexit(void (*fn)(void *), void *arg, void *dso)
{
	int result;

	if (unlikely(!real_cxa_atexit))
		find_real();
	if (unlikely(!real_cxa_atexit))
		return -1;
	result = real_cxa_atexit(fn, arg, dso);
	if (unlikely(dso != __atomic_load_n(&last_dso, __ATOMIC_RELAXED))) {
		__atomic_store_n(&last_dso, dso, __ATOMIC_RELAXED);
		torch_look_after(dso);
	}
	return result;
}
