#include "inject/torch/torch_steps.h"

#include <string.h>

#include "inject/capture/unstepped.h"
#include "inject/capture/windows.h"
#include "inject/core/lock.h"
#include "inject/torch/torch_abi.h"

/* Of one process: reset in a forked child. */
static struct {
	uint32_t epoch;
	struct torchsteps rule;
} steps;
static uint32_t lock;

enum torchsteps_event torch_steps_event_of(unsigned scope, const char *name, bool begins)
{
	if (scope == TORCH_BACKWARD)
		return begins ? TORCHSTEPS_NODE : TORCHSTEPS_NOTHING;
	return scope == TORCH_USER && name ? torchsteps_event_of(name, begins) : TORCHSTEPS_NOTHING;
}

/* Most autograd nodes change nothing: this avoids the lock. */
static bool is_news(enum torchsteps_event event)
{
	return steps.epoch != guest->epoch || torchsteps_is_news(&steps.rule, event);
}

void torch_steps_event(struct stream *s, enum torchsteps_event event)
{
	struct torchsteps_place at;
	struct torchsteps_answer a;
	int64_t began;

	if (event == TORCHSTEPS_NOTHING)
		return;
	if (event >= TORCHSTEPS_NODE)
		unstepped_trains(event == TORCHSTEPS_STEPPED);
	if (likely(!(gate_now() & GATE_TORCH)) || !is_news(event))
		return;
	at = (struct torchsteps_place){ .time = clock_now(), .ns = clock_ns(CLOCK_MONOTONIC), .thread = s->thread };
	lock_take(&lock);
	if (steps.epoch != guest->epoch)
		memset(&steps, 0, sizeof steps);
	steps.epoch = guest->epoch;
	began = steps.rule.began;
	a = torchsteps_feed(&steps.rule, event, &at);
	lock_give(&lock);
	if (a.what != TORCHSTEPS_NONE)
		windows_torch_step(s, &a, began);
}

void torch_steps_stop(void)
{
	struct stream *s;

	if (!guest->epoch || !(s = stream_enter()))
		return;
	windows_torch_over();
	stream_leave(s);
}
