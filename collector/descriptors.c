#include "collector/descriptors.h"

#include <sys/resource.h>

static rlim_t limit(void)
{
	struct rlimit files;

	return getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : RLIM_INFINITY;
}

static rlim_t for_guests(rlim_t all)
{
	return all / 4 ? all / 4 : 1;
}

unsigned descriptors_for_guests(unsigned most)
{
	rlim_t n = for_guests(limit());

	return n < most ? (unsigned)n : most;
}

bool descriptors_may_watch(int fd)
{
	rlim_t all = limit();

	return (rlim_t)fd + for_guests(all) + DESCRIPTORS_OWN < all;
}
