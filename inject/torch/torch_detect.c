/*
 * Detects that libtorch_cpu is loaded, without interposing dlopen() (the loader checks who calls it) and without a hook in Python.
 *
 * Static initializers of C++ libraries call __cxa_atexit() with an address in their library.  When a library that needs PyTorch, such as
 * libtorch_python, is initialized, libtorch_cpu already is.  In a program linked with libtorch_cpu, it is initialized before this object's
 * constructor.
 */
#include <dlfcn.h>

#include "inject/core/stream.h"
#include "inject/torch/torch.h"

#define EXPORT __attribute__((visibility("default")))

/* Part of the C++ ABI; no C header declares it. */
int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);

static int (*real_cxa_atexit)(void (*fn)(void *), void *arg, void *dso);
static void *last_dso;                  /* of the last call: a library makes all its calls in a row */

/* Called on demand: __cxa_atexit() may be called before this object's constructors. */
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
