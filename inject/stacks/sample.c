#include "inject/stacks/sample.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/core/intern.h"
#include "inject/core/memory.h"
#include "inject/core/module.h"
#include "inject/core/seccomp.h"
#include "inject/core/stream.h"
#include "inject/stacks/stacks.h"

#define SECOND 1000000000ll

__thread struct sampler *sampler_self;

static int64_t period;                  /* ns of CPU time between two samples of a thread; 0: no sampling */
static bool preloaded;                  /* LD_PRELOAD is in effect: pthread_create() is interposed */

static bool may_sample(void)
{
	return seccomp_allows(SECCOMP_SAMPLE | SECCOMP_SIGNAL);
}

static struct sampler *sampler_new(void)
{
	const size_t size = SAMPLE_STACK + sizeof(struct sampler);
	char *p = may_sample() ? memory_map_file(size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1) : NULL;
	struct sampler *t;

	if (!p)
		return NULL;
	t = (struct sampler *)(p + SAMPLE_STACK);
	t->timer = -1;
	return t;
}

static void sampler_free(struct sampler *t)
{
	memory_unmap((char *)t - SAMPLE_STACK, SAMPLE_STACK + sizeof *t);
}

/* A random part of a period: a fixed wait would never sample threads that live for less. */
static int64_t first_wait(void)
{
	uint64_t x = tsc_now() * 0x9e3779b97f4a7c15ull;

	return 1 + (int64_t)((x >> 32) * (uint64_t)period >> 32);
}

static struct timespec span(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

/* Starts the calling thread's timer.  Raw system calls: libc's wrappers allocate, or are in a separate library. */
static int arm(struct sampler *t)
{
	struct itimerspec every = { .it_interval = span(period), .it_value = span(first_wait()) };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SAMPLE_SIGNAL, .sigev_value.sival_ptr = t };
	int id = -1;

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id) < 0)
		return -1;
	t->timer = id;
	t->owed = 0;
	__atomic_store_n(&t->armed, guest->epoch, __ATOMIC_RELEASE);
	return (int)syscall(SYS_timer_settime, id, 0, &every, NULL);
}

static void disarm(struct sampler *t)
{
	__atomic_store_n(&t->armed, 0, __ATOMIC_RELEASE);
	if (t->timer >= 0 && may_sample())
		syscall(SYS_timer_delete, t->timer);
	t->timer = -1;
}

/* ---- threads ---- */

void sample_thread_begins(struct stream *s)
{
	struct sampler *t = sampler_self;

	if (!period || !may_sample() || s->tool || (t && t->tried == guest->epoch))
		return;
	if (!t && !(t = sampler_new())) {
		health_note(HEALTH_sample_failed, "not enough memory for the sampling state of a thread");
		return;
	}
	sampler_self = t;
	t->tried = guest->epoch;
	t->name[0] = '\0';
	stream_follow_name(s, t->name);
	sample_take_signal();           /* libc may have installed its own handler for a thread that it created */
	if (arm(t) == 0)
		return;
	health_note(HEALTH_sample_failed, "timer_create: %m");
	disarm(t);
}

/* Attaches the new thread's stream, which a signal handler cannot do. */
static void begin(struct sampler *t)
{
	struct stream *s;

	sampler_self = t;
	s = stream_enter();
	if (s) {
		gate_now();
		sample_thread_begins(s);
		stream_leave(s);
	}
	if (t->armed)
		return;
	sampler_self = NULL;
	sampler_free(t);
}

struct sampler *sample_thread_new(void *start, void *arg)
{
	struct sampler *t = period ? sampler_new() : NULL;

	if (t) {
		t->start = start;
		t->arg = arg;
	} else if (period) {
		health_count(HEALTH_sample_failed);
	}
	return t;
}

/* Both end in a tail call, so that the thread's stack has no frame of this object.  stream.c notices the thread's end. */
void *sample_run(void *sampler)
{
	struct sampler *t = sampler;
	void *(*start)(void *) = (void *(*)(void *))t->start;
	void *arg = t->arg;

	begin(t);
	return start(arg);
}

int sample_run_c11(void *sampler)
{
	struct sampler *t = sampler;
	int (*start)(void *) = (int (*)(void *))t->start;
	void *arg = t->arg;

	begin(t);
	return start(arg);
}

void sample_thread_rests(void)
{
	if (sampler_self)
		disarm(sampler_self);
}

void sample_thread_made(struct sampler *t, bool made)
{
	int saved = errno;

	if (!period || !may_sample())
		return;
	if (t && !made)
		sampler_free(t);
	sample_take_signal();           /* libc installs its handler with the first thread */
	errno = saved;
}

void sample_thread_ends(struct stream *s)
{
	struct sampler *t = sampler_self;

	if (!t)
		return;
	disarm(t);
	stream_follow_name(s, t->name);
	sampler_self = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	sampler_free(t);
}

/* ---- the process ---- */

/*
 * Returns the kernel's tick in ns, the resolution of the coarse clock.  CPU-time timers are checked at each tick: a shorter period gives no
 * more samples.
 */
static int64_t tick(void)
{
	struct timespec t;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &t) == 0 ? t.tv_sec * SECOND + t.tv_nsec : 0;
}

static void describe(struct stream *s)
{
	char hz[32];

	snprintf(hz, sizeof hz, "%.4g", (double)SECOND / (double)period);
	intern_attribute(s, "sampling", "a timer of each thread's CPU time");
	intern_attribute(s, "sampling.hz", hz);
}

/* Not inside stream_enter(): health_note() may connect. */
static void say_what_is_less(int64_t wanted)
{
	if (period > wanted)
		health_note(HEALTH_sample_rate, "%.4g Hz instead of %llu Hz", (double)SECOND / (double)period,
			    (unsigned long long)guest->config.sample_hz);
	if (!preloaded)
		health_note(HEALTH_sample_threads, "LD_PRELOAD did not load gprof-run's library into the process");
}

static bool start(void)
{
	struct stream *s;
	int64_t least = tick(), wanted;

	if (!session_connect() || !guest->config.sample || !guest->config.sample_hz || !(s = stream_enter()))
		return false;
	wanted = SECOND / (int64_t)guest->config.sample_hz;
	period = wanted < least ? least : wanted;
	describe(s);
	stream_leave(s);
	say_what_is_less(wanted);
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

	preloaded = guest->flags & PROCESS_PRELOADED;
	if (session_file(WIRE_SAMPLES) && start())
		sample_this_thread();
	errno = saved;
}

void sample_forked(void)
{
	int saved = errno;

	if (!period)
		return;
	if (sampler_self) {             /* timers are not inherited */
		sampler_self->armed = sampler_self->tried = 0;
		sampler_self->timer = -1;
	}
	period = 0;
	if (start())
		sample_this_thread();
	errno = saved;
}

void sample_process_ends(void)
{
	struct stream *s = sampler_self && period ? stream_enter() : NULL;

	if (!s)
		return;
	stream_follow_name(s, sampler_self->name);
	stream_leave(s);
}

const struct module sample_module = { .init = init, .stop = sample_process_ends };
