/*
 * Sends the sampling signal to the sampled threads of its process, as their timers do, but a hundred times as often (every few tens of us),
 * so that the handler interrupts them at any instruction.  /proc/self/timers has the threads and the signal of each timer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST   64

EXPORT int pester_start(int us);
EXPORT long pester_sent(void);
EXPORT void pester_tells_of_crashes(void);

struct target {
	void *value;
	int tid;
};

static struct {
	pthread_t thread;
	int us;
	long sent;
} pester;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int find_targets(struct target list[MOST], int without)
{
	static char text[65536];
	int fd = open("/proc/self/timers", O_RDONLY | O_CLOEXEC), n = 0;
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return -1;
	while ((got = read(fd, text + used, sizeof text - 1 - used)) > 0)
		used += (size_t)got;
	close(fd);
	text[used] = '\0';
	for (char *p = text; n < MOST && (p = strstr(p, "signal: 33/")); p++) {
		struct target t;
		char *tid = strstr(p, "notify: signal/tid.");

		if (!tid)
			break;
		t.value = (void *)(uintptr_t)strtoull(p + 11, NULL, 16);
		t.tid = atoi(tid + 19);
		if (t.tid != without)
			list[n++] = t;
	}
	return n;
}

/* One pending signal per thread: otherwise a slow handler could take all the thread's time. */
static int is_served(int tid)
{
	char path[64], text[2048], *mask;
	ssize_t got = 0;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, text, sizeof text - 1);
		close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
	mask = strstr(text, "SigPnd:");
	return mask && !(strtoull(mask + 7, NULL, 16) >> 32 & 1);
}

static void *run(void *arg)
{
	struct target list[MOST];
	unsigned seed = 1;
	int64_t looked = 0;
	int n = 0;

	while (pester.us) {
		int64_t wait = now() + rand_r(&seed) % (2000 * pester.us + 1);
		siginfo_t info = { .si_signo = 33, .si_code = SI_TIMER };

		if (now() - looked > 2000000) {
			n = find_targets(list, (int)syscall(SYS_gettid));
			looked = now();
		}
		if (n > 0) {
			struct target *t = &list[rand_r(&seed) % (unsigned)n];

			info.si_ptr = t->value;
			if (is_served(t->tid) && syscall(SYS_rt_tgsigqueueinfo, getpid(), t->tid, 33, &info) == 0)
				__atomic_add_fetch(&pester.sent, 1, __ATOMIC_RELAXED);
		}
		while (now() < wait)
			;
	}
	return arg;
}

/* us: mean time between two signals.  Returns 0; otherwise there is no timer. */
int pester_start(int us)
{
	struct target list[MOST];

	pester.us = us;
	if (find_targets(list, 0) <= 0)
		return -1;
	return pthread_create(&pester.thread, NULL, run, NULL);
}

/* Returns the number of sent signals. */
long pester_sent(void)
{
	return __atomic_load_n(&pester.sent, __ATOMIC_RELAXED);
}

static bool is_profiler(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, "libgprof_inject.so");
}

/*
 * On a crash, prints whether the profiler caused it: the instruction or a caller is in the injected object.  Callers are found by
 * unwinding; scanning the stack would find old return addresses of the profiler in any sampled thread.  The first function of a sampled
 * thread, third frame from the end (after start_thread() and clone3()), is always the profiler's and does not count.
 */
static void crashed(int signo, siginfo_t *info, void *context)
{
	static const char ours[] = "crash inside the profiler\n", others[] = "crash outside the profiler\n";
	void *frames[256];
	const ucontext_t *u = context;
#if defined __x86_64__
	bool found = is_profiler((void *)(uintptr_t)u->uc_mcontext.gregs[REG_RIP]);
#else
	bool found = is_profiler((void *)(uintptr_t)u->uc_mcontext.pc);
#endif
	int n;

	(void)info;
	signal(signo, SIG_DFL);         /* the repeated instruction ends the program; so does a crash in this handler */
	n = backtrace(frames, 256);
	for (int i = 0; !found && i < n - 3; i++)
		found = is_profiler(frames[i]);
	if (write(2, found ? ours : others, found ? sizeof ours - 1 : sizeof others - 1) < 0)
		_exit(99);
}

void pester_tells_of_crashes(void)
{
	struct sigaction act = { .sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_NODEFER };
	void *here[1];

	backtrace(here, 1);             /* loads the unwinder */
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
}
