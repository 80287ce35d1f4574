#include "inject/sample.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/intern.h"
#include "inject/module.h"
#include "inject/stacks.h"
#include "inject/stream.h"

#define SECOND 1000000000ll

__thread struct sampler *sampler_self;

static int64_t period;                  /* ns of CPU time between two samples of a thread; 0: there are none */

static struct sampler *sampler_new(void)
{
	char *p = mmap(NULL, SAMPLE_STACK + sizeof(struct sampler), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct sampler *t;

	if (p == MAP_FAILED)
		return NULL;
	t = (struct sampler *)(p + SAMPLE_STACK);
	t->timer = -1;
	return t;
}

static void sampler_free(struct sampler *t)
{
	munmap((char *)t - SAMPLE_STACK, SAMPLE_STACK + sizeof *t);
}

/* Anywhere within a period: else a thread that lives for less would never be met. */
static int64_t first_wait(void)
{
	uint64_t x = tsc_now() * 0x9e3779b97f4a7c15ull;

	return 1 + (int64_t)((x >> 32) * (uint64_t)period >> 32);
}

static struct timespec span(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

/* The calling thread's.  By the system calls themselves: libc's allocate, or live in a library of their own. */
static int arm(struct sampler *t)
{
	struct itimerspec every = { .it_interval = span(period), .it_value = span(first_wait()) };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SAMPLE_SIGNAL, .sigev_value.sival_ptr = t };
	int id = -1;

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id) < 0)
		return -1;
	t->timer = id;
	__atomic_store_n(&t->armed, 1, __ATOMIC_RELEASE);
	return (int)syscall(SYS_timer_settime, id, 0, &every, NULL);
}

static void disarm(struct sampler *t)
{
	__atomic_store_n(&t->armed, 0, __ATOMIC_RELEASE);
	if (t->timer >= 0)
		syscall(SYS_timer_delete, t->timer);
	t->timer = -1;
}

/* This thread from now on.  It gets its place in the arena here, since a handler cannot ask for one. */
static void begin(struct sampler *t)
{
	struct stream *s = stream_enter();

	if (!s)
		return;
	gate_now();
	stream_leave(s);
	sampler_self = t;
	if (arm(t) == 0)
		return;
	health_note(HEALTH_sample_failed, "timer_create: %m");
	disarm(t);
}

/* ---- threads ---- */

static void *run(void *arg)
{
	struct sampler *t = arg;
	void *(*start)(void *) = t->start;
	void *result;

	arg = t->arg;
	begin(t);
	result = start(arg);
	sample_thread_ends();
	return result;
}

int sample_create(int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), pthread_t *thread,
		  const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	struct sampler *t = period ? sampler_new() : NULL;
	int error;

	if (!t)
		return real(thread, attr, start, arg);
	t->start = start;
	t->arg = arg;
	error = real(thread, attr, run, t);
	if (error)
		sampler_free(t);
	sample_take_signal();           /* libc takes it with the first thread */
	return error;
}

void sample_thread_ends(void)
{
	struct sampler *t = sampler_self;

	if (!t)
		return;
	disarm(t);
	sampler_self = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	sampler_free(t);
}

/* ---- the process ---- */

/* CPU time is looked at by the kernel's tick: asking for more brings no more.  The coarse clock moves with it. */
static int64_t tick(void)
{
	struct timespec t;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &t) == 0 ? t.tv_sec * SECOND + t.tv_nsec : 0;
}

static void describe(struct stream *s)
{
	char hz[32];

	snprintf(hz, sizeof hz, "%.4g", (double)SECOND / (double)period);
	intern_attribute(s, "sampling", "timers of each thread's CPU time");
	intern_attribute(s, "sampling.hz", hz);
}

static bool start(void)
{
	struct stream *s;
	int64_t least = tick();

	if (!session_connect() || !guest->config.sample || !guest->config.sample_hz || !(s = stream_enter()))
		return false;
	period = SECOND / (int64_t)guest->config.sample_hz;
	if (period < least)
		period = least;
	describe(s);
	stream_leave(s);
	stacks_start();
	if (sample_take_signal() == 0)
		return true;
	health_note(HEALTH_sample_failed, "rt_sigaction: %m");
	period = 0;
	return false;
}

static void sample_this_thread(void)
{
	struct sampler *t = sampler_self ? sampler_self : sampler_new();
	int saved = errno;

	if (t)
		begin(t);
	errno = saved;
}

static void init(void)
{
	int saved = errno;

	if (session_samples() && start())
		sample_this_thread();
	errno = saved;
}

void sample_forked(void)
{
	int saved = errno;

	if (!period)
		return;
	if (sampler_self) {             /* the parent's timer is not ours */
		sampler_self->armed = 0;
		sampler_self->timer = -1;
		sampler_self->owed = 0;
	}
	period = 0;
	if (start())
		sample_this_thread();
	errno = saved;
}

const struct module sample_module = { .init = init };
