/*
 * stack_locks loader | opening FOLDER | malloc: makes CUDA calls from many new call stacks.  loader: while another thread is inside a
 * callback of dl_iterate_phdr(); opening: in the constructor of FOLDER/libslow.so.  That thread leaves only after all calls are made.
 * malloc: counts each malloc() during the calls.  Prints the result.
 */
#include <pthread.h>
#include <link.h>
#include <stdint.h>
#include <time.h>

#define PROGRAM "stack_locks"
#define NEEDS(X) X(cuInit) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuCtxSynchronize)

#include "test/programs/driver.h"

#if defined(__clang__)
#define PLACE static __attribute__((noinline))
#else
#define PLACE static __attribute__((noinline, noclone))
#endif

static int held, done, counted;
static __thread int in_call;

/* ---- replaces malloc() ---- */

extern void *__libc_malloc(size_t n), *__libc_calloc(size_t n, size_t size), *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	counted += in_call;
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	counted += in_call;
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	counted += in_call;
	return __libc_realloc(p, n);
}

/* ---- the thread that holds the loader's lock ---- */

/* Waits until all calls are made, at most 10 s; prints which. */
static void hold(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	__atomic_store_n(&held, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 10000 && !__atomic_load_n(&done, __ATOMIC_ACQUIRE); i++)
		nanosleep(&moment, NULL);
	puts(__atomic_load_n(&done, __ATOMIC_ACQUIRE) ? "the calls were made meanwhile" : "the calls waited");
	fflush(stdout);
}

static int in_callback(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info, (void)size, (void)arg;
	hold();
	return 1;
}

static void *iterate(void *arg)
{
	dl_iterate_phdr(in_callback, NULL);
	return arg;
}

static void *open_slow(void *folder)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/libslow.so", (char *)folder);
	if (!dlopen(path, RTLD_NOW))
		puts(dlerror());
	return NULL;
}

/* Called by the constructor of libslow.so. */
void stack_locks_slow(void);
void stack_locks_slow(void)
{
	hold();
}

/* ---- calls ---- */

static void call(void)
{
	in_call = 1;
	DO(cuCtxSynchronize);
	in_call = 0;
}

static int compare(const void *a, const void *b)
{
	call();
	return *(const int *)a - *(const int *)b;
}

/* Each n has another call stack: each bit chooses one of two frames, some of them through libc. */
PLACE int way(unsigned n)
{
	volatile char room[64] = { (char)n };
	int two[] = { 2, 1 }, r = 0;

	if (n < 2) {
		call();
		return room[0];
	}
	if (n % 7 == 0)
		qsort(two, 2, sizeof two[0], compare);
	if (n % 2)
		r = way(n / 2) + 1;
	else
		r = way(n / 2) - 1;
	return r + room[0];
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	void *(*holder)(void *) = *what == 'l' ? iterate : *what == 'o' && argc > 2 ? open_slow : NULL;
	CUcontext context;
	pthread_t t;

	bind();
	DO(cuInit, 0);
	DO(cuDevicePrimaryCtxRetain, &context, 0);
	DO(cuCtxSetCurrent, context);
	puts("begun");
	if (holder) {
		pthread_create(&t, NULL, holder, argc > 2 ? argv[2] : NULL);
		while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
			;
	}
	for (unsigned n = 2; n < 600; n++)
		way(n);
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	if (holder)
		pthread_join(t, NULL);
	else
		printf("allocated %d times\n", counted);
	return 0;
}
