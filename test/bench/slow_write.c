/* A disk of SLOW_BYTES_PER_S for the collector, preloaded into it alone: each write sleeps as long as such a disk takes. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *data, size_t n, off_t at);

static void sleep_for(ssize_t n)
{
	static double rate;
	double s;

	if (rate <= 0)
		rate = atof(getenv("SLOW_BYTES_PER_S"));
	s = n > 0 ? (double)n / rate : 0;
	nanosleep(&(struct timespec){ .tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) }, NULL);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pwrite");
	sleep_for((ssize_t)n);
	return real(fd, data, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off_t at)
{
	return pwrite(fd, data, n, at);
}
