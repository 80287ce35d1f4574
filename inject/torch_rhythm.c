#include "inject/torch_rhythm.h"

#include <string.h>

#include "inject/torch_abi.h"

static bool starts_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

enum torch_event torch_event_of(unsigned scope, const char *name, bool begins)
{
	if (scope == TORCH_BACKWARD)
		return begins ? TORCH_NODE : TORCH_NOTHING;
	if (scope != TORCH_USER || !name)
		return TORCH_NOTHING;
	if (starts_with(name, "enumerate(DataLoader)#"))
		return begins ? TORCH_BATCH : TORCH_NOTHING;
	if (starts_with(name, "Optimizer.step#"))
		return begins ? TORCH_OTHER : TORCH_STEPPED;
	return begins && starts_with(name, "Optimizer.zero_grad#") ? TORCH_OTHER : TORCH_NOTHING;
}

/* What comes belongs to the next step. */
static enum torch_boundary batch_over(struct torch_rhythm *r)
{
	bool late = r->stepped && !r->declared;

	if (r->stepped)
		r->size = r->stepped;
	r->stepped = 0;
	r->declared = false;
	return late ? TORCH_NEXT_BEFORE : TORCH_NO_BOUNDARY;
}

static enum torch_boundary batch(struct torch_rhythm *r)
{
	bool inference = r->batch && !r->training && !r->backward;

	r->batch = true;
	r->backward = false;
	return inference ? TORCH_NEXT : batch_over(r);
}

static enum torch_boundary stepped(struct torch_rhythm *r, int64_t now)
{
	bool moved = r->declared;

	r->training = true;
	r->last = now;
	if (++r->stepped < r->size)
		return TORCH_NO_BOUNDARY;
	r->declared = true;
	return moved ? TORCH_MOVED : TORCH_NEXT;
}

enum torch_boundary torch_rhythm_feed(struct torch_rhythm *r, enum torch_event event, int64_t now)
{
	enum torch_boundary b = TORCH_NO_BOUNDARY;
	bool first = !r->begun && event != TORCH_NOTHING;

	if (first) {
		r->begun = true;
		r->first = now;
	}
	switch (event) {
	case TORCH_NOTHING: case TORCH_OTHER:
		break;
	case TORCH_BATCH:
		b = batch(r);
		break;
	case TORCH_NODE:
		r->backward = true;
		if (!r->batch)
			b = batch_over(r);
		break;
	case TORCH_STEPPED:
		b = stepped(r, now);
		break;
	}
	return first ? TORCH_FIRST : b;
}
