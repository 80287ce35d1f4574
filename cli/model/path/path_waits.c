/* Collects calls that wait for the GPU, and calls that let a stream wait. */
#include "cli/model/path/path_rows.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"

enum call { CALL_OTHER, CALL_STREAM, CALL_CONTEXT, CALL_EVENT, CALL_ORDER, CALL_COPY };

/* Classifies a call by a part of its name: CUDA's runtime and driver, HIP. */
static enum call call_of_name(const char *name)
{
	static const struct { const char *part; enum call call; } all[] = {
		{ "StreamSynchronize", CALL_STREAM },  { "DeviceSynchronize", CALL_CONTEXT }, { "CtxSynchronize", CALL_CONTEXT },
		{ "ThreadSynchronize", CALL_CONTEXT }, { "EventSynchronize", CALL_EVENT },    { "WaitEvent", CALL_ORDER },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strstr(name, all[i].part))
			return all[i].call;
	return strstr(name, "Memcpy") && !strstr(name, "Async") ? CALL_COPY : CALL_OTHER;
}

struct wait_calls {
	const int64_t *start, *duration;
	const uint32_t *thread, *name, *corr, *process;
	struct map of_name;             /* string id -> enum call */
	bool oom;
};

static enum call call_of(struct path_rows *p, struct wait_calls *c, size_t row)
{
	bool new;
	uint32_t *at = map_put(&c->of_name, c->name[row], CALL_OTHER, &new);

	if (!at) {
		c->oom = true;
		return CALL_OTHER;
	}
	if (new)
		*at = call_of_name(model_string(p->m, c->name[row])) + 1;
	return *at - 1;
}

static bool calls_read(struct model *m, struct wait_calls *c)
{
	return (c->start = MODEL_I64(m, api, start)) && (c->duration = MODEL_I64(m, api, duration)) &&
	       (c->thread = MODEL_U32(m, api, thread)) && (c->name = MODEL_U32(m, api, name)) && (c->corr = MODEL_U32(m, api, corr)) &&
	       (c->process = model_row_process(m, ROW_api));
}

static const struct path_event *event_of(const struct path_rows *p, uint32_t corr)
{
	uint32_t at = corr ? map_get(&p->call_event, corr) : MAP_NONE;

	return at == MAP_NONE ? NULL : PATH_LIST(p->events, struct path_event) + at;
}

/* ---- waits of the host ---- */

/* Sets in *w what a call waited for.  False: for nothing that runs in the span. */
static bool for_what(struct path_rows *p, enum call call, uint32_t corr, struct path_wait *w)
{
	uint32_t sync = corr ? map_get(&p->sync_of, corr) : MAP_NONE;
	const struct path_event *e = call == CALL_EVENT ? event_of(p, corr) : NULL;
	uint32_t context = sync == MAP_NONE ? 0 : MODEL_U32(p->m, sync, context)[sync];
	uint32_t stream = sync == MAP_NONE ? STREAM_NONE : MODEL_U32(p->m, sync, stream)[sync];
	bool several = true;

	w->what = call == CALL_EVENT ? FOR_ANY_ROW : FOR_ANY_QUEUE;
	w->of = PATH_NONE;
	if (e) {
		w->of = path_queue_known(p, e->context, e->stream, &several);
		w->recorded = e->recorded;
	} else if (call == CALL_STREAM && stream != STREAM_NONE) {
		w->of = path_queue_known(p, context, stream, &several);
	} else if (call == CALL_CONTEXT) {
		if (sync != MAP_NONE && map_get(&p->contexts, context) != MAP_NONE) {
			w->what = FOR_CONTEXT;
			w->of = context;
		}
		return true;            /* unknown context: waits for FOR_ANY_QUEUE */
	}
	if (w->of != PATH_NONE)
		w->what = FOR_QUEUE;
	else
		p->guessed_waits += several;
	return w->of != PATH_NONE || several;
}

static void put_wait(struct path_rows *p, const struct wait_calls *c, size_t row, enum call call)
{
	int64_t start = c->start[row], end = time_add(start, c->duration[row]);
	struct path_wait w = { .start = start, .end = end, .recorded = start };

	if (start >= p->in.end || end <= p->in.start || !for_what(p, call, c->corr[row], &w))
		return;
	w.thread = path_thread_of(p, p->process, c->thread[row]);
	buf_put(&p->waits, &w, sizeof w);
}

/* ---- waits of streams ---- */

static void put_order(struct path_rows *p, const struct wait_calls *c, size_t row)
{
	const struct path_event *e = event_of(p, c->corr[row]);
	struct path_order o = { .when = c->start[row] };
	struct path_guess guess = { .when = c->start[row] };
	bool several = false;

	if (c->start[row] >= p->in.end)
		return;
	if (e && e->waits_stream != STREAM_NONE) {
		o.recorded = e->recorded;
		o.queue = path_queue_known(p, e->waits_context, e->waits_stream, &several);
		o.on = path_queue_known(p, e->context, e->stream, &several);
		if (o.queue != PATH_NONE && o.on != PATH_NONE)
			buf_put(&p->orders, &o, sizeof o);
		return;
	}
	p->guessed_orders += c->start[row] >= p->in.start;
	guess.thread = path_thread_of(p, p->process, c->thread[row]);
	buf_put(&p->guesses, &guess, sizeof guess);
}

/* ---- copies that their calls wait for ---- */

#define PAGEABLE 1u             /* CUPTI's kind of memory */
#define DTOH     2u             /* CUPTI's kind of copy */

/* Adds waits for copies.  A copy to pageable host memory is always synchronous, also if the call's name says Async. */
static int add_copies(struct path_rows *p, struct wait_calls *c)
{
	const struct path_gpu_row *gpu = PATH_LIST(p->gpu, struct path_gpu_row);
	const uint32_t *corr = MODEL_U32(p->m, memcpy, corr), *kind = MODEL_U32(p->m, memcpy, kind),
		       *to = MODEL_U32(p->m, memcpy, dst_kind);

	if (!corr || !kind || !to)
		return -1;
	for (uint32_t i = 0; i < PATH_COUNT(p->gpu, struct path_gpu_row); i++) {
		uint32_t row = gpu[i].row;
		size_t call = gpu[i].kind == ROW_memcpy ? model_api_of(p->m, p->process, corr[row]) : NO_ROW;
		struct path_wait w = { .what = FOR_ROW, .of = i };

		if (call == NO_ROW || (call_of(p, c, call) != CALL_COPY && (kind[row] != DTOH || to[row] != PAGEABLE)))
			continue;
		w.start = w.recorded = c->start[call];
		w.end = time_add(w.start, c->duration[call]);
		w.thread = path_thread_of(p, p->process, c->thread[call]);
		buf_put(&p->waits, &w, sizeof w);
	}
	return 0;
}

#define STREAM_WAITS 2u         /* sync.type of a stream wait; the host does not wait */

static int find_syncs(struct path_rows *p)
{
	const uint32_t *corr = MODEL_U32(p->m, sync, corr), *type = MODEL_U32(p->m, sync, type),
		       *process = model_row_process(p->m, ROW_sync);

	if (!corr || !type || !process || !MODEL_U32(p->m, sync, context) || !MODEL_U32(p->m, sync, stream))
		return -1;
	for (size_t i = 0, n = model_rows(p->m, ROW_sync); i < n; i++)
		if (process[i] == p->process && corr[i] && type[i] != STREAM_WAITS && !map_set(&p->sync_of, corr[i], (uint32_t)i))
			return -1;
	return 0;
}

int path_add_waits(struct path_rows *p)
{
	struct wait_calls c = { .start = NULL };
	int rc = calls_read(p->m, &c) ? find_syncs(p) : -1;

	for (size_t i = 0, n = model_rows(p->m, ROW_api); i < n && rc == 0; i++) {
		enum call call = c.process[i] == p->process ? call_of(p, &c, i) : CALL_OTHER;

		if (call == CALL_ORDER)
			put_order(p, &c, i);
		else if (call != CALL_OTHER && call != CALL_COPY)
			put_wait(p, &c, i, call);
	}
	if (rc == 0)
		rc = add_copies(p, &c);
	map_release(&c.of_name);
	return c.oom || p->oom ? -1 : rc;
}
