/*
 * memory_limits HOW [MIB]: a program that limits or locks its memory, with NVTX ranges before or after.  Prints whether that worked, and on
 * standard error its address space and locked memory in KiB.
 *   size      prints the sizes at its start and after the first range
 *   after     sets RLIMIT_AS to 200 MiB after the first range; then allocates 100 MiB, starts a thread, and a child that does the same
 *   current   mlockall(MCL_CURRENT) after the first range, unprivileged, with the inherited limit
 *   future    mlockall(MCL_CURRENT | MCL_FUTURE) before it
 *   none      the same, unprivileged, without any range
 *   burst     MIB of ranges; waits until most of their memory was given back, and records one more range
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

static void range(void)
{
	nvtxRangePushA("range");
	nvtxRangePop();
}

static long status_of(const char *name)
{
	char line[200];
	FILE *f = fopen("/proc/self/status", "r");
	long n = -1;

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, name, strlen(name)) == 0)
			n = atol(line + strlen(name) + 1);
	if (f)
		fclose(f);
	return n;
}

static void tell(const char *when)
{
	fprintf(stderr, "%s size %ld locked %ld\n", when, status_of("VmSize"), status_of("VmLck"));
}

static void *nothing(void *arg)
{
	return arg;
}

static void limit_and_use(const char *who)
{
	struct rlimit r = { 200 << 20, 200 << 20 };
	void *p;
	pthread_t t;
	int thread;

	setrlimit(RLIMIT_AS, &r);
	p = malloc(100 << 20);
	thread = pthread_create(&t, NULL, nothing, NULL);
	if (!thread)
		pthread_join(t, NULL);
	printf("%s: malloc %s, thread %d\n", who, p ? "ok" : "failed", thread);
	fflush(stdout);
	tell(who);
	free(p);
	range();
}

static int after(void)
{
	pid_t child;

	range();
	child = fork();
	if (!child) {
		limit_and_use("child");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	limit_and_use("parent");
	return 0;
}

static int lock(int flags, int privileged)
{
	struct rlimit r = { 8 << 20, 8 << 20 };

	if (!privileged) {
		setrlimit(RLIMIT_MEMLOCK, &r);
		if (geteuid() == 0 && setuid(65534))
			return 9;
	}
	printf("mlockall %d\n", mlockall(flags));
	return 0;
}

static int burst(long mib)
{
	const struct timespec nap = { .tv_nsec = 50000000 };
	long most = 0, now = 0;

	for (long n = mib << 14; n > 0; n--)    /* each row takes at least 64 bytes */
		range();
	for (int i = 0; i < 1200; i++) {
		now = status_of("RssShmem");
		if (now > most)
			most = now;
		if (now < 1500)
			break;
		nanosleep(&nap, NULL);
	}
	fprintf(stderr, "shared most %ld then %ld\n", most, now);
	range();
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int rc = 8;

	if (strcmp(how, "after") == 0)
		return after();
	if (strcmp(how, "burst") == 0)
		return burst(argc > 2 ? atol(argv[2]) : 64);
	if (strcmp(how, "size") == 0) {
		tell("start");
		range();
		rc = 0;
	} else if (strcmp(how, "current") == 0) {
		range();
		rc = lock(MCL_CURRENT, 0);
	} else if (strcmp(how, "future") == 0) {
		rc = lock(MCL_CURRENT | MCL_FUTURE, 1);
		range();
	} else if (strcmp(how, "none") == 0) {
		rc = lock(MCL_CURRENT | MCL_FUTURE, 0);
	}
	tell("end");
	range();
	return rc;
}
