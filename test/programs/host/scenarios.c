/*
 * scenarios NAME [NUMBER]: special things that programs do (stacks, children, signals, limits), with NVTX ranges before and after.  Output
 * and exit status show whether they work; both must be the same with and without gprof-run.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

static void range(void)
{
	nvtxRangePushA("range");
	nvtxRangePop();
}

static int say(const char *what, long n)
{
	printf("%s %ld\n", what, n);
	return 0;
}

static void nap(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static int ended(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return say("child", status);
}

/* ---- threads and stacks ---- */

static void *thread(void *arg)
{
	range();
	nvtxMarkA("mark");
	return arg;
}

static pthread_barrier_t all;

static void *waiting_thread(void *arg)
{
	nvtxRangePushA("together");
	pthread_barrier_wait(&all);
	nvtxRangePop();
	return arg;
}

static int threads(long n, size_t stack, void *(*run)(void *), long at_once)
{
	pthread_t *t = calloc((size_t)at_once, sizeof *t);
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack);
	for (long made = 0; made < n; made += at_once) {
		for (long i = 0; i < at_once; i++)
			if (pthread_create(&t[i], &attr, run, NULL) != 0)
				return say("no thread", made + i);
		for (long i = 0; i < at_once; i++)
			pthread_join(t[i], NULL);
	}
	free(t);
	return say("threads", n);
}

static int small_threads(long n)
{
	return threads(n ? n : 20, 16384, thread, 1);
}

static int threads_at_once(long n)
{
	pthread_barrier_init(&all, NULL, (unsigned)n);
	return threads(n, 65536, waiting_thread, n);
}

static int threads_in_turn(long n)
{
	return threads(n, 65536, thread, 1);
}

static ucontext_t outside, inside;

static void on_coroutine(void)
{
	range();
	nvtxMarkA("mark");
	swapcontext(&inside, &outside);
}

/* Runs on a stack of `size` bytes after an inaccessible page. */
static char *stack_of(size_t size)
{
	size_t whole = (size + 4095) & ~4095ul;
	char *p = mmap(NULL, whole + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(p + 4096, whole, PROT_READ | PROT_WRITE);
	return p + 4096 + whole - size;
}

static int coroutine(long size)
{
	range();
	getcontext(&inside);
	inside.uc_stack.ss_size = (size_t)size;
	inside.uc_stack.ss_sp = stack_of((size_t)size);
	makecontext(&inside, on_coroutine, 0);
	swapcontext(&outside, &inside);
	return say("coroutine", size);
}

static void in_handler(int sig)
{
	(void)sig;
	range();
}

static int handler(long size)
{
	stack_t stack = { .ss_sp = stack_of((size_t)size), .ss_size = (size_t)size };
	struct sigaction act = { .sa_handler = in_handler, .sa_flags = SA_ONSTACK };

	range();
	if (sigaltstack(&stack, NULL) < 0)
		return say("no such stack", size);
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	raise(SIGUSR1);
	return say("handler", size);
}

static void *spins(void *arg)
{
	for (struct timespec t = { 0 }; t.tv_nsec < 200000000 && t.tv_sec == 0; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
		;
	range();
	return arg;
}

static int changes_ids(long n)
{
	pthread_t t[8];
	int failed = 0;

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, spins, NULL);
	for (int i = 0; i < 200; i++)
		failed += setresuid((uid_t)-1, getuid(), (uid_t)-1) != 0;
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	(void)n;
	return say("failed", failed);
}

static int cancelled(long n)
{
	pthread_t t;
	void *result;

	(void)n;
	range();
	pthread_create(&t, NULL, (void *(*)(void *))(void *)pause, NULL);
	pthread_cancel(t);
	pthread_join(t, &result);
	return say("cancelled", result == PTHREAD_CANCELED);
}

static void *last_thread(void *arg)
{
	nap(50);
	range();
	puts("last");
	return arg;
}

static int leaves_main(long n)
{
	pthread_t t;

	(void)n;
	range();
	pthread_create(&t, NULL, last_thread, NULL);
	pthread_exit(NULL);
}

/* ---- children ---- */

static int child_of_clone(void *arg)
{
	(void)arg;
	range();
	return 7;
}

static int clones(long n)
{
	char *stack = malloc(1 << 16);

	(void)n;
	range();
	ended(clone(child_of_clone, stack + (1 << 16), SIGCHLD, NULL));
	ended(clone(child_of_clone, stack + (1 << 16), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
	range();
	return 0;
}

static int forks(long n)
{
	pid_t p = fork();

	(void)n;
	if (!p) {
		range();
		_exit(4);
	}
	ended(p);
	p = vfork();
	if (!p)
		_exit(6);
	ended(p);
	p = vfork();
	if (!p) {
		execl("/bin/false", "false", (char *)NULL);
		_exit(9);
	}
	ended(p);
	range();
	return 5;
}

static int spawns(long n)
{
	char *argv[] = { "true", NULL }, *none[] = { NULL };
	pid_t p = 0;

	(void)n;
	range();
	say("spawned", posix_spawnp(&p, "true", NULL, NULL, argv, none));
	ended(p);
	say("not there", posix_spawn(&p, "/nothing", NULL, NULL, argv, none));
	return 0;
}

static int new_root(long n)
{
	char there[] = "/tmp/gprof-scenario-XXXXXX";
	pid_t p;

	(void)n;
	if (!mkdtemp(there) || chroot(there) < 0 || chdir("/") < 0)
		return say("no root", errno);
	p = fork();
	if (!p) {
		range();
		_exit(4);
	}
	ended(p);
	range();
	return 0;
}

static int new_user(long n)
{
	(void)n;
	return say("unshare", unshare(CLONE_NEWUSER));
}

/* ---- signals and ends ---- */

static sigjmp_buf back;

static void jumps(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static int faults(long n)
{
	volatile long i;

	signal(SIGSEGV, jumps);
	for (i = 0; i < n; i++) {
		nvtxRangePushA("fault");
		if (!sigsetjmp(back, 1))
			raise(SIGSEGV);
		nvtxRangePop();
	}
	return say("faults", n);
}

static void exits_there(int sig)
{
	(void)sig;
	_exit(42);
}

static int exits_in_handler(long n)
{
	stack_t stack = { .ss_sp = stack_of((size_t)n), .ss_size = (size_t)n };
	struct sigaction act = { .sa_handler = exits_there, .sa_flags = SA_ONSTACK };

	range();
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &act, NULL);
	raise(SIGSEGV);
	return 0;
}

static int signalled(long n)
{
	range();
	raise((int)n);
	return 0;
}

static int aborts(long n)
{
	(void)n;
	range();
	abort();
}

/* ---- limits ---- */

static int descriptors(long n)
{
	const struct rlimit r = { (rlim_t)n, (rlim_t)n };

	setrlimit(RLIMIT_NOFILE, &r);
	range();
	return say("descriptor", open("/dev/null", O_RDONLY));
}

static int closes_all(long n)
{
	int fd;

	range();
	for (int i = 3; i < 1024; i++)
		close(i);
	fd = open("x.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
	while (n-- > 0)
		range();
	nap(300);
	say("descriptor", fd);
	return say("bytes", (long)lseek(fd, 0, SEEK_END));
}

static int file_size(long n)
{
	const struct rlimit r = { 4096, 4096 };

	setrlimit(RLIMIT_FSIZE, &r);
	while (n-- > 0)
		range();
	return say("ranges", 0);
}

static int real_time(long n)
{
	const struct sched_param to = { .sched_priority = 10 };

	say("fifo", sched_setscheduler(0, SCHED_FIFO, &to));
	while (n-- > 0)
		range();
	return 0;
}

static int keeps_errno(long n)
{
	long bad = 0;
	void *lib;

	while (n-- > 0) {
		errno = 1234;
		range();
		nvtxMarkA("mark");
		bad += errno != 1234;
	}
	lib = dlopen("libm.so.6", RTLD_NOW);
	errno = 77;
	if (lib)
		dlclose(lib);
	return say("changed", bad + (errno != 77));
}

static int namespaces(long n)
{
	void *lib;

	(void)n;
	range();
	lib = dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW);
	say("loaded", lib != NULL);
	if (lib)
		dlclose(lib);
	range();
	return 0;
}

static int hello(long n)
{
	for (long i = 0; i < (n ? n : 100); i++)
		range();
	puts("hello");
	fputs("to standard error\n", stderr);
	return 3;
}

static const struct {
	const char *name;
	int (*run)(long n);
} scenarios[] = {
	{ "hello", hello }, { "small_threads", small_threads }, { "threads_at_once", threads_at_once },
	{ "threads_in_turn", threads_in_turn }, { "coroutine", coroutine }, { "handler", handler }, { "changes_ids", changes_ids },
	{ "cancelled", cancelled }, { "leaves_main", leaves_main }, { "clones", clones }, { "forks", forks }, { "spawns", spawns },
	{ "new_root", new_root }, { "new_user", new_user }, { "faults", faults }, { "exits_in_handler", exits_in_handler },
	{ "signalled", signalled }, { "aborts", aborts }, { "descriptors", descriptors }, { "closes_all", closes_all },
	{ "file_size", file_size }, { "real_time", real_time }, { "keeps_errno", keeps_errno }, { "namespaces", namespaces },
};

int main(int argc, char **argv)
{
	setlinebuf(stdout);
	for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
		if (strcmp(argv[1], scenarios[i].name) == 0)
			return scenarios[i].run(argc > 2 ? atol(argv[2]) : 0);
	return 8;
}
