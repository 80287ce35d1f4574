/* dlclose() is seen, so that nothing is believed about code that is gone.  dlopen() is not: the loader looks at who calls it. */
#include <dlfcn.h>
#include <errno.h>

#include "inject/images.h"

#define EXPORT __attribute__((visibility("default")))

static int (*real_dlclose)(void *handle);

__attribute__((constructor(101))) static void find_real(void)
{
	*(void **)&real_dlclose = dlsym(RTLD_NEXT, "dlclose");
	dlerror();
}

static void look(void)
{
	uint32_t before = __atomic_load_n(&images_generation, __ATOMIC_RELAXED);
	struct stream *s;

	images_look_for_gone();
	if (__atomic_load_n(&images_generation, __ATOMIC_RELAXED) == before)
		return;
	s = stream_enter();
	if (!s)
		return;         /* the next image that is described brings them along */
	images_write_ends(s);
	stream_leave(s);
}

EXPORT int dlclose(void *handle)
{
	int result, saved;

	if (!real_dlclose)
		find_real();
	if (!real_dlclose)
		return -1;
	if (!images_any())
		return real_dlclose(handle);
	__atomic_add_fetch(&images_unloading, 1, __ATOMIC_SEQ_CST);
	result = real_dlclose(handle);
	saved = errno;
	look();
	__atomic_sub_fetch(&images_unloading, 1, __ATOMIC_SEQ_CST);
	errno = saved;
	return result;
}
