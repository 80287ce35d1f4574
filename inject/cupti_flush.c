#include "inject/cupti_flush.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/cupti.h"
#include "inject/cupti_activity.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_client.h"
#include "inject/cupti_yield.h"
#include "inject/stacks.h"
#include "inject/stream.h"
#include "inject/windows.h"

/*
 * Why a thread, and not cuptiActivityFlushPeriod(): that one returns full buffers only, and a kill would lose what the
 * others hold. Why the exiting thread waits for this one rather than flushing itself: a flush into a dying context may
 * never return.
 *
 * Futexes, not a mutex and a condition: _exit() may come from a signal handler.
 */
static struct {
	uint32_t asked, done;           /* futex words: flushes asked for, and done */
	uint32_t forced;                /* the next one must be */
	uint32_t running;               /* 0, or the thread exists */
	uint32_t hung;                  /* somebody waited in vain at the end */
	uint32_t late;                  /* or at the end of a window */
	uint32_t tid;                   /* its kernel id */
	uint32_t wake;                  /* CUPTI is to be woken */
	int64_t hurried;                /* when a flush was last asked for out of turn */
} flusher;

#define LOOK      50000000ll    /* ns between looks whether a window has ended: the program may be killed right after */
#define BETWEEN   20000000ll    /* ns at least from one flush out of turn to the next */

/* Whose thread it is: one of an older generation ends. */
static uint32_t generation;

static void futex_wait(uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

bool cupti_flush_needed(void)
{
	if (cupti_yield_holds())        /* CUPTI has nothing of ours */
		return false;
	return __atomic_load_n(&tracer.called, __ATOMIC_RELAXED) || cupti_buffers_out();
}

static void flush(uint32_t forced)
{
	int64_t begin = clock_now();

	if (!tracer_usable() || cupti_yield_holds())
		return;
	__atomic_store_n(&tracer.called, 0, __ATOMIC_RELAXED);
	tracer.fn.ActivityFlushAll(0);
	if (forced)
		tracer.fn.ActivityFlushAll(FLUSH_FORCED);
	cupti_activity_dropped();
	health_cost(COST_flush, begin);
}

/* What has ended by the end of a window is delivered then; a forced flush would lose what still runs. */
static bool window_has_ended(uint32_t *closed)
{
	struct arena *a = guest->arena;

	if (!a)
		return false;
	gate_now();             /* an order to stop is followed here if no call comes */
	*closed = __atomic_load_n(&a->n_closed, __ATOMIC_ACQUIRE);
	return *closed != __atomic_load_n(&a->n_flushed, __ATOMIC_RELAXED);
}

static void wake_now(void)
{
	int64_t begin = clock_now();

	windows_sleeper(NULL);
	/* Not while the program's own profiler has kinds switched or is given way. */
	cupti_client_lock();
	cupti_activity_wake();
	cupti_client_unlock();
	health_cost(COST_window, begin);
}

/* For the rest of the program: what its own profiler uses stays, and a CUPTI that may hang when kernels are switched off. */
static bool may_rest(void)
{
	return tracer_usable() && tracer.fn.ActivityDisable && tracer.version != FLAWED_VERSION && !cupti_client.n_kinds &&
	       !tracer.ending && !cupti_activity_sleeps();
}

static void rest(void)
{
	cupti_client_lock();
	if (may_rest())
		cupti_activity_sleep();
	cupti_client_unlock();
}

static void *flusher_main(void *arg)
{
	int64_t period = (int64_t)guest->config.flush_ms * 1000000, last = clock_ns(CLOCK_MONOTONIC);
	uint32_t mine = (uint32_t)(uintptr_t)arg;
	uint32_t seen = 0, closed = 0;

	if (period <= 0)
		period = 1000000000;
	prctl(PR_SET_NAME, "gprof-flush");
	__atomic_store_n(&flusher.tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	stream_tool_thread();
	guest->watcher = 1;
	if (cupti_activity_sleeps() && windows_want_cuda())
		wake_now();
	for (;;) {
		uint32_t asked = __atomic_load_n(&flusher.asked, __ATOMIC_ACQUIRE);
		bool ended;

		if (asked == seen) {
			futex_wait(&flusher.asked, seen, LOOK < period ? LOOK : period);
			asked = __atomic_load_n(&flusher.asked, __ATOMIC_ACQUIRE);
		}
		if (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) != mine)
			return NULL;
		if (__atomic_exchange_n(&flusher.wake, 0, __ATOMIC_ACQ_REL))
			wake_now();
		ended = window_has_ended(&closed);
		if (asked != seen || ended || (cupti_flush_needed() && clock_ns(CLOCK_MONOTONIC) - last >= period)) {
			flush(__atomic_exchange_n(&flusher.forced, 0, __ATOMIC_ACQ_REL));
			last = clock_ns(CLOCK_MONOTONIC);
		}
		if (ended)
			__atomic_store_n(&guest->arena->n_flushed, closed, __ATOMIC_RELEASE);
		if (windows_over() && may_rest())
			rest();
		if (cupti_yield_returning() && tracer_usable() && !tracer.ending)
			cupti_yield_flush();
		stacks_look();
		seen = asked;
		__atomic_store_n(&flusher.done, seen, __ATOMIC_RELEASE);
		futex_wake(&flusher.done);
	}
}

void cupti_flush_start(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int saved = errno;

	if (__atomic_exchange_n(&flusher.running, 1, __ATOMIC_ACQ_REL))
		return;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* CUPTI works on it, and the program's thread-local data comes off it; touched only as far as it is used. */
	pthread_attr_setstacksize(&attr, 1 << 20);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attr, flusher_main, (void *)(uintptr_t)generation) != 0) {
		flusher.running = 0;
		health_note(HEALTH_cupti_error, "no thread for flushing CUPTI: %m");
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	errno = saved;
}

static uint32_t ask(void)
{
	uint32_t ticket = __atomic_add_fetch(&flusher.asked, 1, __ATOMIC_ACQ_REL);

	futex_wake(&flusher.asked);
	return ticket;
}

/* True: the flush asked for is done.  False: not within so many ms. */
static bool await(uint32_t ticket, unsigned ms)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC), begin = now;
	const int64_t left = ms * 1000000ll;
	uint32_t done;

	while ((int32_t)((done = __atomic_load_n(&flusher.done, __ATOMIC_ACQUIRE)) - ticket) < 0 &&
	       now - begin < left) {
		futex_wait(&flusher.done, done, left - (now - begin));
		now = clock_ns(CLOCK_MONOTONIC);
	}
	return (int32_t)(done - ticket) >= 0;
}

static bool has_thread(void)
{
	return __atomic_load_n(&flusher.running, __ATOMIC_ACQUIRE) && !__atomic_load_n(&flusher.hung, __ATOMIC_RELAXED);
}

bool cupti_flush_wait(uint32_t flag)
{
	int saved = errno;
	bool done;

	if (!has_thread())
		return false;
	if (flag)
		__atomic_fetch_or(&flusher.forced, flag, __ATOMIC_ACQ_REL);
	done = await(ask(), FLUSH_WAIT_MS);
	errno = saved;
	if (!done && !__atomic_exchange_n(&flusher.hung, 1, __ATOMIC_RELAXED))
		health_note(HEALTH_flush_timeout, "%u activity buffers were still with CUPTI", cupti_buffers_out());
	return done;
}

bool cupti_flush_window(void)
{
	int saved = errno;
	uint32_t ticket;
	bool done;

	if (!has_thread())
		return false;
	if (syscall(SYS_gettid) == __atomic_load_n(&flusher.tid, __ATOMIC_ACQUIRE)) {
		flush(0);
		return true;
	}
	ticket = ask();
	done = !__atomic_load_n(&flusher.late, __ATOMIC_RELAXED) && await(ticket, FLUSH_WINDOW_MS);
	errno = saved;
	if (!done && !__atomic_exchange_n(&flusher.late, 1, __ATOMIC_RELAXED))
		health_note(HEALTH_window_late, "%u activity buffers were still with CUPTI", cupti_buffers_out());
	return done;
}

void cupti_flush_wake(void)
{
	int saved = errno;

	if (!has_thread() || syscall(SYS_gettid) == __atomic_load_n(&flusher.tid, __ATOMIC_ACQUIRE)) {
		wake_now();
	} else {
		__atomic_store_n(&flusher.wake, 1, __ATOMIC_RELEASE);
		if (!await(ask(), FLUSH_WINDOW_MS))
			health_note(HEALTH_window_slow, "CUPTI did not answer within %d ms", FLUSH_WINDOW_MS);
	}
	errno = saved;
}

void cupti_flush_soon(void)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC), before = __atomic_load_n(&flusher.hurried, __ATOMIC_RELAXED);
	int saved = errno;

	if (has_thread() && now - before >= BETWEEN &&
	    __atomic_compare_exchange_n(&flusher.hurried, &before, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		ask();
	errno = saved;
}

void cupti_flush_forget(void)
{
	__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
	__builtin_memset(&flusher, 0, sizeof flusher);
}
