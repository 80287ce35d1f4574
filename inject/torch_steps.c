#include "inject/torch_steps.h"

#include <string.h>

#include "inject/lock.h"
#include "inject/windows.h"

/* Of one process: a forked child begins anew. */
static struct {
	uint32_t epoch;
	struct torch_rhythm rhythm;
} steps;
static uint32_t lock;

/* Most autograd nodes say nothing new. */
static bool is_news(enum torch_event event)
{
	const struct torch_rhythm *r = &steps.rhythm;

	return event != TORCH_NODE || steps.epoch != guest->epoch || !r->backward || !r->begun || (!r->batch && r->stepped);
}

void torch_steps_event(struct stream *s, enum torch_event event)
{
	enum torch_boundary b;
	int64_t now, at, first;

	if (event == TORCH_NOTHING || likely(!(gate_now() & GATE_TORCH)) || !is_news(event))
		return;
	now = clock_now();
	lock_take(&lock);
	if (steps.epoch != guest->epoch)
		memset(&steps, 0, sizeof steps);
	steps.epoch = guest->epoch;
	b = torch_rhythm_feed(&steps.rhythm, event, now);
	at = b == TORCH_NEXT_BEFORE ? steps.rhythm.last : now;
	first = steps.rhythm.first;
	lock_give(&lock);
	if (b != TORCH_NO_BOUNDARY)
		windows_torch_step(s, b, at, first);
}

void torch_steps_stop(void)
{
	struct stream *s;

	if (!guest->epoch || steps.epoch != guest->epoch || !(s = stream_enter()))
		return;
	windows_torch_over();
	stream_leave(s);
}
