/*
 * Unusual behaviour of threads that the injected object must survive.  Prints the number of ended ranges; exits with 1 if it or a child
 * hangs.  rough start|name|cancel|jump|die
 */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HANG_S 5

static long *ranges;            /* shared with the children */
static volatile int stop, ready;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void range(const char *name)
{
	nvtxRangePushA(name);
	nvtxRangePop();
	__atomic_fetch_add(ranges, 1, __ATOMIC_RELAXED);
}

static int hangs(pid_t child)
{
	double end = now() + HANG_S;
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (now() > end) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			return 1;
		}
		usleep(200);
	}
	return 0;
}

/*
 * While one thread initializes NVTX, all other threads wait, and a child forked meanwhile hangs.  So initialization must not wait for a
 * collector that does not answer; the first mark may.
 */
static int start_at_once(void)
{
	double begin = now(), started;

	nvtxInitialize(NULL);
	started = now() - begin;
	nvtxMarkA("first");
	printf("NVTX took %.3f s to start, the first mark came after %.3f s\n", started, now() - begin);
	return started > 0.1;
}

static void *name_things(void *arg)
{
	char name[32];

	for (long i = 0; !stop; i++) {
		snprintf(name, sizeof name, "domain %ld", i % 2000);
		nvtxDomainCreateA(name);
		snprintf(name, sizeof name, "%ld", i % 50000);
		range(name);
	}
	return arg;
}

/* Forks children while other threads make domains and names; the children make some, too. */
static int fork_in_naming(void)
{
	pthread_t threads[2];
	int hung = 0;

	/* Initializes NVTX first: a child forked during initialization hangs with any tool. */
	nvtxInitialize(NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, name_things, NULL);
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();

		if (child == 0) {
			nvtxDomainCreateA("child's");
			range("child");
			_exit(0);
		}
		hung += hangs(child);
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return hung;
}

static void *cancelled(void *arg)
{
	while (!ready)
		;
	range("cancelled");
	stop = 1;
	return arg;
}

/* A thread makes its first range while its cancellation is pending: NVTX calls must be no cancellation points. */
static int cancel(void)
{
	pthread_t t;

	pthread_create(&t, NULL, cancelled, NULL);
	pthread_cancel(t);
	ready = 1;
	pthread_join(t, NULL);
	range("after it");
	return !stop;
}

static sigjmp_buf back;

static void jump_back(int signo)
{
	(void)signo;
	siglongjmp(back, 1);
}

static void *jumper(void *arg)
{
	char name[32];
	static volatile long i;

	sigsetjmp(back, 1);
	ready = 1;
	while (!stop) {
		snprintf(name, sizeof name, "new %ld", i++);
		nvtxRangePushA(name);
		nvtxRangePop();
	}
	return arg;
}

/* A thread repeatedly leaves hooks with siglongjmp() while it makes names; another thread makes names, too. */
static int jump(void)
{
	pthread_t t;
	char name[32];
	double end;

	range("init");
	signal(SIGUSR1, jump_back);
	pthread_create(&t, NULL, jumper, NULL);
	while (!ready)
		;
	end = now() + 1.5;
	for (long i = 0; now() < end; i++) {
		snprintf(name, sizeof name, "other %ld", i);
		range(name);
		if (i % 50 == 0)
			pthread_kill(t, SIGUSR1);
	}
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}

static void end_here(int signo)
{
	(void)signo;
	pthread_exit(NULL);
}

static void *mortal(void *arg)
{
	char name[32];
	static volatile long i;

	for (;;) {
		ready = 1;
		snprintf(name, sizeof name, "mortal %ld", i++);
		nvtxRangePushA(name);
		nvtxRangePop();
	}
	return arg;
}

/* Threads end one after the other with pthread_exit() in a signal handler, also inside hooks; another thread makes names all the time. */
static int die(void)
{
	pthread_t other, t;
	int met = 0;

	nvtxInitialize(NULL);
	range("init");
	signal(SIGUSR1, end_here);
	pthread_create(&other, NULL, name_things, NULL);
	for (; met < 500; met++) {
		ready = 0;
		pthread_create(&t, NULL, mortal, NULL);
		while (!ready)
			;
		for (int i = 0; i < met % 100 * 20; i++)
			__asm__ volatile("");
		pthread_kill(t, SIGUSR1);
		pthread_join(t, NULL);
	}
	stop = 1;
	pthread_join(other, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int hung = 2;

	ranges = mmap(NULL, sizeof *ranges, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	alarm(40);
	if (strcmp(what, "start") == 0)
		hung = start_at_once();
	else if (strcmp(what, "name") == 0)
		hung = fork_in_naming();
	else if (strcmp(what, "cancel") == 0)
		hung = cancel();
	else if (strcmp(what, "jump") == 0)
		hung = jump();
	else if (strcmp(what, "die") == 0)
		hung = die();
	printf("%ld ranges\n", *ranges);
	if (hung)
		printf("hung: %d\n", hung);
	return hung != 0;
}
