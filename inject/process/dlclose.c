/*
 * Interposes dlclose(), so that facts about unloaded code are dropped.  dlopen() is not interposed: its result depends on the caller's
 * address.
 */
#include <dlfcn.h>
#include <errno.h>

#include "inject/python/python.h"
#include "inject/unwind/images.h"

#define EXPORT __attribute__((visibility("default")))

static int (*real_dlclose)(void *handle);

__attribute__((constructor(101))) static void find_real(void)
{
	*(void **)&real_dlclose = dlsym(RTLD_NEXT, "dlclose");
	dlerror();
}

static void look_for_gone(void)
{
	uint32_t before = __atomic_load_n(&images_generation, __ATOMIC_RELAXED);
	struct stream *s;

	images_look_for_gone();
	if (__atomic_load_n(&images_generation, __ATOMIC_RELAXED) == before)
		return;
	s = stream_enter();
	if (!s)
		return;         /* written together with the next described image */
	images_write_ends(s);
	stream_leave(s);
}

EXPORT int dlclose(void *handle)
{
	int64_t process = guest->start;
	bool images, python;
	int result, saved;

	if (!real_dlclose)
		find_real();
	if (!real_dlclose)
		return -1;
	images = images_met();
	if (images)
		__atomic_add_fetch(&images_unloading, 1, __ATOMIC_SEQ_CST);
	python = python_closing();
	result = real_dlclose(handle);
	saved = errno;
	if (guest->start == process) {  /* unequal: a destructor forked, and the child's counters are 0 */
		if (python)
			python_closed();
		if (images) {
			look_for_gone();
			__atomic_sub_fetch(&images_unloading, 1, __ATOMIC_SEQ_CST);
		}
	}
	errno = saved;
	return result;
}
