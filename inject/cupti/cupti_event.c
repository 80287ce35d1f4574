#include "inject/cupti/cupti_event.h"

#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_resource.h"

/* Variants of the calls whose default stream is the thread's own (_ptsz). */
static bool default_is_own(int domain, uint32_t cbid)
{
	return domain == DOMAIN_RUNTIME ? cbid == 242 || cbid == 371 || cbid == 247 : cbid == 441 || cbid == 588 || cbid == 436;
}

struct stream_key {
	uint32_t context, stream;
};

/*
 * Context and stream id of a stream handle.  CUPTI refuses a stream of another context than the given one; the program may use such
 * streams, so ask again without a context.
 */
static struct stream_key place_of(int domain, uint32_t cbid, const struct cupti_call_data *d, void *handle)
{
	struct stream_key p = { d->context_id, STREAM_NONE };

	if (!tracer.fn.GetStreamIdEx || tracer.fn.GetStreamIdEx(d->context, handle, default_is_own(domain, cbid), &p.stream) == RESULT_OK)
		return p;
	if (!handle || tracer.fn.GetStreamIdEx(NULL, handle, 0, &p.stream) != RESULT_OK)
		return (struct stream_key){ d->context_id, STREAM_NONE };
	p.context = cupti_resource_context_of(handle);
	return p;
}

void cupti_event_recorded(struct stream *s, int domain, uint32_t cbid, const struct cupti_call_data *d, int64_t start)
{
	const struct cupti_record_params *p = d->params;
	struct event_record_row *row;
	struct stream_key at;

	if (!p)
		return;
	at = place_of(domain, cbid, d, p->stream);
	row = stream_reserve(s, ROW_event_record, sizeof *row);
	if (!row)
		return;
	*row = (struct event_record_row){
		.start = start,
		.event = (uint64_t)(uintptr_t)p->event,
		.corr = d->corr,
		.thread = s->thread,
		.context = at.context,
		.stream = at.stream,
	};
	stream_publish(s, row);
}

static void put_wait(struct stream *s, const struct cupti_call_data *d, int64_t start, const void *event, struct stream_key at)
{
	struct event_wait_row *row = stream_reserve(s, ROW_event_wait, sizeof *row);

	if (!row)
		return;
	*row = (struct event_wait_row){
		.start = start,
		.event = (uint64_t)(uintptr_t)event,
		.corr = d->corr,
		.thread = s->thread,
		.context = at.context,
		.stream = at.stream,
	};
	stream_publish(s, row);
}

void cupti_event_ordered(struct stream *s, int domain, uint32_t cbid, const struct cupti_call_data *d, int64_t start)
{
	const struct cupti_wait_params *p = d->params;

	if (p)
		put_wait(s, d, start, p->event, place_of(domain, cbid, d, p->stream));
}

void cupti_event_awaited(struct stream *s, const struct cupti_call_data *d, int64_t start)
{
	const struct cupti_await_params *p = d->params;

	if (p)
		put_wait(s, d, start, p->event, (struct stream_key){ d->context_id, STREAM_NONE });
}

void cupti_event_elapsed(struct stream *s, const struct cupti_call_data *d, int64_t start)
{
	const struct cupti_elapsed_params *p = d->params;
	struct event_elapsed_row *row;

	if (!p || !p->ms)
		return;
	row = stream_reserve(s, ROW_event_elapsed, sizeof *row);
	if (!row)
		return;
	*row = (struct event_elapsed_row){
		.start = start,
		.first = (uint64_t)(uintptr_t)p->start,
		.second = (uint64_t)(uintptr_t)p->end,
		.elapsed = (int64_t)((double)*p->ms * 1e6 + (*p->ms < 0 ? -0.5 : 0.5)),
		.corr = d->corr,
		.thread = s->thread,
	};
	stream_publish(s, row);
}
