#include "inject/capture/unstepped.h"

#include "inject/core/health.h"

static struct {
	uint32_t stepped;               /* ends of Optimizer.step so far */
	bool trains;
	bool judged;                    /* report the open window if no step ends in it */
	uint32_t at_open;               /* `stepped` when it was opened */
	uint32_t silent, first;         /* windows without a step while the program was not known to train; number of the first */
} seen;

void unstepped_clear(void)
{
	__builtin_memset(&seen, 0, sizeof seen);
}

static void tell(uint32_t n, uint32_t window)
{
	health_note(HEALTH_window_unstepped, "window %u", window);
	health_add(HEALTH_window_unstepped, n - 1);
}

void unstepped_trains(bool stepped)
{
	uint32_t n;

	if (stepped)
		__atomic_fetch_add(&seen.stepped, 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&seen.trains, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&seen.trains, true, __ATOMIC_RELAXED);
	n = __atomic_exchange_n(&seen.silent, 0, __ATOMIC_RELAXED);
	if (n)
		tell(n, seen.first);
}

void unstepped_opened(bool judged)
{
	seen.judged = judged;
	seen.at_open = __atomic_load_n(&seen.stepped, __ATOMIC_RELAXED);
}

void unstepped_closed(uint32_t window)
{
	if (!seen.judged || __atomic_load_n(&seen.stepped, __ATOMIC_RELAXED) != seen.at_open)
		return;
	seen.judged = false;
	if (__atomic_load_n(&seen.trains, __ATOMIC_RELAXED)) {
		tell(1, window);
		return;
	}
	if (!seen.silent)
		seen.first = window;
	__atomic_fetch_add(&seen.silent, 1, __ATOMIC_RELAXED);
}

void unstepped_waited(void)
{
	if (__atomic_load_n(&seen.trains, __ATOMIC_RELAXED) && !__atomic_load_n(&seen.stepped, __ATOMIC_RELAXED))
		health_note(HEALTH_window_unstepped, "no window was recorded: the schedule waited for the end of an Optimizer.step");
}
