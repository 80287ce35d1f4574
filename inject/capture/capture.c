#include "inject/capture/capture.h"

#include <string.h>

#include "trace/config.h"

static bool in_range(const struct capture *c)
{
	if (c->plan.range == RANGE_NONE)
		return true;
	return c->plan.range_end == RANGE_END_NONE ? c->begun : c->depth > 0;
}

/* Training and validation each follow a schedule: the strongest action of all kinds wins. */
static enum capture_state scheduled(const struct capture *c)
{
	enum capture_state best = STATE_WAIT;

	if (!c->plan.scheduled)
		return STATE_RECORD;
	for (unsigned i = 0; i < CAPTURE_KINDS; i++) {
		if (c->kinds[i].action >= SCHEDULE_RECORD)
			return STATE_RECORD;
		if (c->kinds[i].action == SCHEDULE_WARMUP)
			best = STATE_WARMUP;
	}
	return best;
}

static enum capture_state state_of(const struct capture *c)
{
	if (c->over)
		return STATE_OFF;
	return c->ordered && in_range(c) ? scheduled(c) : STATE_WAIT;
}

static unsigned settle(struct capture *c)
{
	enum capture_state before = c->state;

	c->state = state_of(c);
	if (c->state == STATE_RECORD && c->depth)
		c->recorded = true;
	if (before == c->state)
		return 0;
	return before == STATE_RECORD ? CAPTURE_CLOSED : c->state == STATE_RECORD ? CAPTURE_OPENED : 0;
}

struct capture_plan capture_plan_of(const struct config *c)
{
	struct capture_plan plan = { .range = (uint32_t)c->capture_range, .range_end = (uint32_t)c->range_end,
				     .repeats = c->range_repeats };
	char why[128];

	plan.scheduled = c->schedule[0] && schedule_parse(&plan.schedule, c->schedule, why, sizeof why) == 0;
	return plan;
}

void capture_init(struct capture *c, const struct capture_plan *plan)
{
	memset(c, 0, sizeof *c);
	c->plan = *plan;
	c->state = STATE_WAIT;
}

/* Only ranges in which rows were kept count: one that ended before the start delay was over does not. */
static unsigned range_ended(struct capture *c)
{
	uint32_t how = c->plan.range_end;
	bool repeats = how == RANGE_END_REPEAT || how == RANGE_END_REPEAT_SHUTDOWN;

	if (!c->depth)
		return CAPTURE_UNBALANCED;
	if (--c->depth || !c->recorded)
		return 0;
	c->recorded = false;
	c->ranges++;
	if (c->plan.range == RANGE_NONE || how == RANGE_END_NONE || (repeats && (!c->plan.repeats || c->ranges < c->plan.repeats)))
		return 0;
	c->over = true;
	return how == RANGE_END_STOP_SHUTDOWN || how == RANGE_END_REPEAT_SHUTDOWN ? CAPTURE_SHUTDOWN : 0;
}

/* The schedule begins with the first step in which rows could be kept.  A step may begin before the last step of a cycle has ended. */
static unsigned step_scheduled(struct capture *c, unsigned kind)
{
	uint8_t before = c->kinds[kind].action;

	if (c->plan.scheduled && !c->over && c->ordered && in_range(c))
		c->kinds[kind].action = (uint8_t)schedule_action(&c->plan.schedule, c->kinds[kind].scheduled++);
	return before == SCHEDULE_RECORD_AND_SAVE ? CAPTURE_READY : 0;
}

static unsigned step_began(struct capture *c, unsigned kind)
{
	c->kinds[kind].open++;
	return step_scheduled(c, kind);
}

/* Restarts the schedule at this step; no cycle ended. */
static unsigned step_is_first(struct capture *c, unsigned kind)
{
	c->kinds[kind].scheduled = 0;
	step_scheduled(c, kind);
	return 0;
}

/* An action lasts until the next step begins, so rows between two active steps are kept.  Only the last step of a cycle ends it. */
static unsigned step_ended(struct capture *c, unsigned kind)
{
	if (!c->kinds[kind].open)
		return CAPTURE_UNBALANCED;
	if (--c->kinds[kind].open || c->kinds[kind].action != SCHEDULE_RECORD_AND_SAVE)
		return 0;
	c->kinds[kind].action = SCHEDULE_NONE;
	return CAPTURE_READY;
}

bool capture_is_cut_by_exit(const struct capture_plan *plan)
{
	return plan->scheduled || (plan->range != RANGE_NONE && plan->range_end != RANGE_END_NONE);
}

unsigned capture_feed(struct capture *c, enum capture_event event, unsigned kind)
{
	unsigned said = 0;

	switch (event) {
	case EVENT_ORDER_ON:
		c->ordered = true;
		break;
	case EVENT_ORDER_OFF:
		c->ordered = false;
		break;
	case EVENT_ORDER_OVER:
		c->over = true;
		break;
	case EVENT_RANGE_BEGIN:
		c->depth++;
		c->begun = true;
		break;
	case EVENT_RANGE_END:
		said = range_ended(c);
		break;
	case EVENT_STEP_BEGIN:
		said = step_began(c, kind);
		break;
	case EVENT_STEP_END:
		said = step_ended(c, kind);
		break;
	case EVENT_STEP_FIRST:
		said = step_is_first(c, kind);
		break;
	}
	said |= settle(c);
	/* A cycle that ends while another kind keeps the window open, or without a window, is not reported. */
	return said & CAPTURE_CLOSED ? said : said & ~CAPTURE_READY;
}

bool capture_warms(const struct capture *c, unsigned kind)
{
	return c->kinds[kind].action == SCHEDULE_WARMUP;
}
