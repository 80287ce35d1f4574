#include "inject/cupti/cupti_flush.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "inject/capture/windows.h"
#include "inject/client/cupti_client.h"
#include "inject/client/cupti_yield.h"
#include "inject/core/signals_blocked.h"
#include "inject/core/futex.h"
#include "inject/core/seccomp.h"
#include "inject/core/self.h"
#include "inject/core/stream.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_buffers.h"
#include "inject/stacks/stacks.h"

/*
 * A thread instead of cuptiActivityFlushPeriod(), which returns full buffers only: a kill would lose the records in the other buffers.
 * The exiting thread waits for this thread instead of flushing itself: a flush into a context that is being destroyed may never return.
 *
 * Futexes instead of a mutex and a condition: _exit() may be called in a signal handler.
 */
static struct {
	uint32_t asked, done;           /* flushes requested and done (`done` is a futex word) */
	uint32_t rung;                  /* futex word on which the flush thread sleeps */
	uint32_t hurry;                 /* enum flush_hurry, or 0: request for an early flush */
	uint32_t forced;                /* FLUSH_FORCED: the next flush is forced */
	uint32_t running;               /* 1: the thread exists */
	uint32_t hung;                  /* 1: a wait in cupti_flush_wait() timed out */
	uint32_t late;                  /* 1: a wait at the end of a window timed out */
	uint32_t tid;                   /* kernel thread id */
	uint32_t wake;                  /* 1: sleeping kinds are to be enabled */
	pthread_t thread;
} flusher;

#define LOOK      50000000ll    /* ns between checks for the end of a window: the program may be killed right after */
#define BETWEEN(hurry) ((hurry) == FLUSH_NOW ? 2000000ll : 20000000ll)  /* least ns between a flush and an early one */

/* A thread started under an older generation ends. */
static uint32_t generation;

bool cupti_flush_needed(void)
{
	if (cupti_yield_holds())        /* activity is the client's */
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

/*
 * True if a window has closed since the last flush; *closed: windows closed so far.  The flush that follows is not forced: that would lose
 * the ends of running work.
 */
static bool window_has_ended(uint32_t *closed)
{
	struct arena *a = guest->arena;

	if (!a)
		return false;
	gate_now();             /* follow an order to stop even if the program makes no calls */
	*closed = __atomic_load_n(&a->n_closed, __ATOMIC_ACQUIRE);
	return *closed != __atomic_load_n(&a->n_flushed, __ATOMIC_RELAXED);
}

/* Leaves waking CUPTI to the flush thread.  Before the first context, the first call after it waits for this. */
static void wake_later(void)
{
	__atomic_store_n(&flusher.wake, 1, __ATOMIC_RELEASE);
	if (!__atomic_load_n(&tracer.ready, __ATOMIC_ACQUIRE))
		__atomic_store_n(&tracer.wake_due, 1, __ATOMIC_RELEASE);
}

static void wake_now(void)
{
	int64_t begin = clock_now();

	windows_sleeper(NULL);
	/* Not while the client switches kinds or takes over activity. */
	cupti_client_lock();
	if (cupti_activity_sleeps())
		cupti_activity_wake();
	cupti_client_unlock();
	health_cost(COST_window, begin);
}

/*
 * True if the tracer's kinds may be disabled for the rest of the program: not if the client has kinds enabled, and not in versions whose
 * kinds must stay enabled.
 */
static bool may_rest(void)
{
	return tracer_usable() && tracer.fn.ActivityDisable && !tracer_keeps_kinds(tracer.version) && !cupti_client.n_kinds &&
	       !tracer.ending && !cupti_activity_sleeps();
}

static void rest(void)
{
	cupti_client_lock();
	if (may_rest())
		cupti_activity_sleep();
	cupti_client_unlock();
}

static void ring(void)
{
	__atomic_add_fetch(&flusher.rung, 1, __ATOMIC_ACQ_REL);
	futex_wake(&flusher.rung, 1);
}

/* True if a periodic or early flush is due. */
static bool is_due(int64_t last, int64_t period)
{
	uint32_t hurry = __atomic_load_n(&flusher.hurry, __ATOMIC_ACQUIRE);

	return (hurry || cupti_flush_needed()) && clock_ns(CLOCK_MONOTONIC) - last >= (hurry ? BETWEEN(hurry) : period);
}

/* Sleeps until something is requested or a flush may be due. */
static void sleep_until_rung(uint32_t rung, int64_t last, int64_t period)
{
	uint32_t hurry = __atomic_load_n(&flusher.hurry, __ATOMIC_ACQUIRE);
	int64_t ns = hurry ? last + BETWEEN(hurry) - clock_ns(CLOCK_MONOTONIC) : LOOK < period ? LOOK : period;

	futex_wait(&flusher.rung, rung, ns);
}

static void *flusher_main(void *arg)
{
	int64_t period = (int64_t)guest->config.flush_ms * 1000000, last = clock_ns(CLOCK_MONOTONIC);
	uint32_t mine = (uint32_t)(uintptr_t)arg;
	uint32_t seen = 0, closed = 0;

	if (period <= 0)
		period = 1000000000;
	prctl(PR_SET_NAME, "gprof-flush");
	__atomic_store_n(&flusher.tid, self_ask(), __ATOMIC_RELEASE);
	stream_tool_thread();
	guest->watcher = 1;
	if (cupti_activity_sleeps() && windows_want_cuda())
		wake_later();
	for (;;) {
		uint32_t rung = __atomic_load_n(&flusher.rung, __ATOMIC_ACQUIRE);
		uint32_t asked = __atomic_load_n(&flusher.asked, __ATOMIC_ACQUIRE);
		bool ended;

		if (asked == seen) {
			sleep_until_rung(rung, last, period);
			asked = __atomic_load_n(&flusher.asked, __ATOMIC_ACQUIRE);
		}
		if (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) != mine)
			break;
		ended = window_has_ended(&closed);
		if (__atomic_load_n(&tracer.ready, __ATOMIC_ACQUIRE) && __atomic_exchange_n(&flusher.wake, 0, __ATOMIC_ACQ_REL))
			wake_now();
		if (asked != seen || ended || is_due(last, period)) {
			__atomic_store_n(&flusher.hurry, 0, __ATOMIC_RELEASE);
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
		futex_wake(&flusher.done, INT32_MAX);
	}
	windows_unwatched();
	return NULL;
}

void cupti_flush_start(void)
{
	struct signals_blocked blocked;
	pthread_attr_t attr;
	int saved = errno;

	if (!seccomp_allows(SECCOMP_TOOL) || __atomic_exchange_n(&flusher.running, 1, __ATOMIC_ACQ_REL))
		return;
	pthread_attr_init(&attr);
	/* For CUPTI's calls and the program's thread-local data.  Only pages in use take memory. */
	pthread_attr_setstacksize(&attr, 1 << 20);
	signals_block(&blocked);        /* the thread inherits the signal mask */
	errno = pthread_create(&flusher.thread, &attr, flusher_main, (void *)(uintptr_t)generation);
	if (errno) {
		flusher.running = 0;
		health_note(HEALTH_cupti_error, "cannot create the thread that flushes CUPTI: %m");
	}
	signals_restore(&blocked);
	pthread_attr_destroy(&attr);
	errno = saved;
}

static uint32_t ask(void)
{
	uint32_t ticket = __atomic_add_fetch(&flusher.asked, 1, __ATOMIC_ACQ_REL);

	ring();
	return ticket;
}

/* True: the requested flush was done within `ms`. */
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

/* A filter of the program may kill for gettid(). */
static bool is_flusher(void)
{
	return self_id() == __atomic_load_n(&flusher.tid, __ATOMIC_ACQUIRE);
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
		health_note(HEALTH_flush_timeout, "activity buffers still in CUPTI: %u", cupti_buffers_out());
	return done;
}

bool cupti_flush_window(void)
{
	int saved = errno;
	uint32_t ticket;
	bool done;

	if (!has_thread())
		return false;
	if (is_flusher()) {
		flush(0);
		return true;
	}
	ticket = ask();
	done = !__atomic_load_n(&flusher.late, __ATOMIC_RELAXED) && await(ticket, FLUSH_WINDOW_MS);
	errno = saved;
	if (!done && !__atomic_exchange_n(&flusher.late, 1, __ATOMIC_RELAXED))
		health_note(HEALTH_window_late, "activity buffers still in CUPTI: %u", cupti_buffers_out());
	return done;
}

void cupti_flush_wake(void)
{
	int saved = errno;

	if (!__atomic_load_n(&tracer.ready, __ATOMIC_ACQUIRE) || is_flusher()) {
		wake_later();
	} else if (!has_thread()) {
		wake_now();
	} else {
		wake_later();
		if (!await(ask(), FLUSH_WINDOW_MS))
			health_note(HEALTH_window_slow, "enabling the activity kinds took longer than %d ms", FLUSH_WINDOW_MS);
	}
	errno = saved;
}

void cupti_flush_hurry(enum flush_hurry hurry)
{
	uint32_t before = __atomic_load_n(&flusher.hurry, __ATOMIC_RELAXED);
	int saved = errno;

	while (before < hurry && has_thread())
		if (__atomic_compare_exchange_n(&flusher.hurry, &before, hurry, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			ring();
			break;
		}
	errno = saved;
}

void cupti_flush_end(void)
{
	struct timespec end;

	if (!__atomic_load_n(&flusher.running, __ATOMIC_ACQUIRE))
		return;
	if (cupti_flush_needed())
		cupti_flush_window();
	__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
	ask();
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	/* A thread that hangs in CUPTI ends when CUPTI returns.  Nobody may wait for it until then, nor leave orders to it. */
	if (pthread_timedjoin_np(flusher.thread, NULL, &end) != 0) {
		windows_unwatched();
		pthread_detach(flusher.thread);
	}
	__atomic_store_n(&flusher.running, 0, __ATOMIC_RELEASE);
}

void cupti_flush_forget(void)
{
	__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
	__builtin_memset(&flusher, 0, sizeof flusher);
}
