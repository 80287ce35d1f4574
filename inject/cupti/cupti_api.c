#include "inject/cupti/cupti_api.h"

#include <errno.h>

#include "inject/capture/auto_steps.h"
#include "inject/capture/windows.h"
#include "inject/client/cupti_client.h"
#include "inject/core/intern.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_event.h"
#include "inject/cupti/cupti_flush.h"
#include "inject/cupti/cupti_graph.h"
#include "inject/cupti/cupti_primary.h"
#include "inject/python/python.h"
#include "inject/stacks/stacks.h"

#define MAX_CBID 1024u          /* 13.0 has 523 runtime and 807 driver callbacks; names of higher ids are looked up at each call */

enum call_class {
	CLASS_NONE, CLASS_LAUNCH, CLASS_GRAPH, CLASS_BUILD, CLASS_SYNC, CLASS_EVENT, CLASS_COPY, CLASS_SET, CLASS_ALLOC, CLASS_HOST,
	CLASS_LOAD, CLASS_RECORD, CLASS_ELAPSED, CLASS_WAIT, CLASS_AWAIT,
	/* from here on: handled even while nothing is recorded */
	CLASS_INSTANTIATE, CLASS_CLONE, CLASS_START, CLASS_STOP, CLASS_TEARDOWN, CLASS_RETAIN, CLASS_RELEASE,
};

/* Indexed by domain (1 driver, 2 runtime), then callback id. */
static const uint8_t classes[3][MAX_CBID] = {
#define CUPTI_CALL(domain, cbid, class, name) [DOMAIN_##domain][cbid] = CLASS_##class,
#include "inject/cupti/cupti_calls.def"
#undef CUPTI_CALL
};

/* The class of thresholds from which a call counts as slow and gets a call stack. */
static const uint8_t stack_classes[] = {
	[CLASS_NONE] = STACKS_OTHER, [CLASS_LAUNCH] = STACKS_KERNEL, [CLASS_GRAPH] = STACKS_KERNEL, [CLASS_BUILD] = STACKS_OTHER,
	[CLASS_SYNC] = STACKS_SYNC, [CLASS_EVENT] = STACKS_SYNC, [CLASS_COPY] = STACKS_MEMORY, [CLASS_SET] = STACKS_MEMORY,
	[CLASS_ALLOC] = STACKS_MEMORY, [CLASS_HOST] = STACKS_KERNEL, [CLASS_LOAD] = STACKS_OTHER, [CLASS_RECORD] = STACKS_OTHER,
	[CLASS_ELAPSED] = STACKS_OTHER, [CLASS_INSTANTIATE] = STACKS_OTHER, [CLASS_START] = STACKS_OTHER, [CLASS_STOP] = STACKS_OTHER,
	[CLASS_TEARDOWN] = STACKS_OTHER, [CLASS_CLONE] = STACKS_OTHER, [CLASS_RETAIN] = STACKS_OTHER, [CLASS_RELEASE] = STACKS_OTHER,
	[CLASS_WAIT] = STACKS_SYNC, [CLASS_AWAIT] = STACKS_SYNC,
};

static uint32_t names[3][MAX_CBID];     /* string ids; 0: not yet interned */

void cupti_api_enable(void)
{
	for (int domain = DOMAIN_DRIVER; domain <= DOMAIN_RUNTIME; domain++)
		for (uint32_t cbid = 0; cbid < MAX_CBID; cbid++)
			if (classes[domain][cbid])      /* an id unknown to this version is refused */
				cupti_want(domain, cbid);
}

void cupti_api_forget(void)
{
	__builtin_memset(names, 0, sizeof names);
	cupti_primary_forget();
}

static uint32_t name_of(struct stream *s, int domain, uint32_t cbid, const char *function)
{
	uint32_t *place = cbid < MAX_CBID ? &names[domain][cbid] : NULL;
	const char *name = NULL;
	uint32_t id = place ? __atomic_load_n(place, __ATOMIC_RELAXED) : 0;
	int saved;

	if (likely(id != 0))
		return id;
	saved = errno;
	if (tracer.fn.GetCallbackName(domain, cbid, &name) != RESULT_OK || !name)
		name = function;
	id = intern_text(s, name);
	if (place)
		__atomic_store_n(place, id, __ATOMIC_RELAXED);
	errno = saved;
	return id;
}

/*
 * A runtime call makes driver calls: callbacks come for both, on one thread, with one correlation id.  stream.scratch describes the
 * outermost call: its id << 32 | CLONES | its domain << 16 | UNWANTED | depth.  If a call is left without its exit callback (longjmp), the
 * entry stays until the next outermost call.
 */
#define UNWANTED 0x8000u        /* no row, only nesting is tracked */
#define CLONES   0x80000000u    /* the call makes graphs from others */
#define DOMAIN(scratch) ((scratch) >> 16 & 0xf)

bool cupti_api_clones(void)
{
	return stream_self.scratch & CLONES;
}

static bool is_nested(uint64_t scratch, int domain, uint32_t corr)
{
	return scratch && ((uint32_t)(scratch >> 32) == corr || (domain == DOMAIN_DRIVER && DOMAIN(scratch) == DOMAIN_RUNTIME));
}

static uint8_t class_of(int domain, uint32_t cbid)
{
	return cbid < MAX_CBID ? classes[domain][cbid] : CLASS_NONE;
}

/* Called outside stream_enter(). */
static void profiler_called(bool start)
{
	struct stream *s = stream_enter();

	if (!s)
		return;
	windows_profiler(s, start);
	stream_leave(s);
}

static void edge(uint32_t corr)
{
	struct stream *s = stream_enter();

	if (!s)
		return;
	windows_call(s, corr);
	stream_leave(s);
}

/*
 * Before a call that ends a window or a context: ends the window and flushes CUPTI.  No flush at the process's end: the runtime releases
 * its contexts in its exit handlers, when CUPTI may not answer any more.
 */
static void before_call(uint8_t class, const struct cupti_call_data *d)
{
	if (class == CLASS_STOP)
		profiler_called(false);
	if (tracer.ending)
		return;
	if (class == CLASS_STOP && guest->config.flush_on_stop)
		cupti_flush_window();
	if (class == CLASS_TEARDOWN || (class == CLASS_RELEASE && cupti_primary_ends(d->params)))
		cupti_flush_wait(0);
}

/* Passes launches, copies and sets to the step detector, before the gate is read: one that begins a step may open a window. */
static void looked_at(int domain, uint32_t cbid, uint8_t class, const struct cupti_call_data *d)
{
	bool watched = class == CLASS_LAUNCH || class == CLASS_GRAPH || class == CLASS_COPY || class == CLASS_SET;
	struct stream *s = watched ? stream_enter() : NULL;

	if (!s)
		return;
	auto_steps_launch(s, domain, cbid, d, class == CLASS_GRAPH, class == CLASS_COPY);
	stream_leave(s);
}

/* The gate.  If a signal handler calls CUDA inside a hook, which may have reserved a row, new orders have to wait. */
static uint32_t gate_of_call(void)
{
	return unlikely(stream_self.busy) ? __atomic_load_n(&guest->gate, __ATOMIC_RELAXED) : gate_now();
}

/* stream_enter() fails if the call came from a signal handler inside a hook. */
static void waited(void)
{
	struct stream *s = stream_enter();

	if (!s)
		return;
	auto_steps_waited();
	stream_leave(s);
}

static void enter(int domain, uint32_t cbid, const struct cupti_call_data *d)
{
	struct stream *s = &stream_self;
	uint8_t class = class_of(domain, cbid);
	uint32_t gate;

	if (is_nested(s->scratch, domain, d->corr)) {
		s->scratch++;
		return;
	}
	s->scratch = 0;
	if (unlikely(class == CLASS_STOP || class == CLASS_TEARDOWN || class == CLASS_RELEASE))
		before_call(class, d);
	if (unlikely(gate_of_call() & GATE_LAUNCHES))
		looked_at(domain, cbid, class, d);
	gate = gate_of_call();
	if (unlikely(gate & GATE_EDGE))
		edge(d->corr);
	/* Whether the call gets a row is decided at its begin, as GPU rows are by their launch. */
	if (!(gate & GATE_CUDA) && (class < CLASS_INSTANTIATE || class > CLASS_STOP))
		return;
	s->scratch = (uint64_t)d->corr << 32 | (uint64_t)domain << 16 | (gate & GATE_CUDA ? 0 : UNWANTED) | 1;
	if (unlikely(class == CLASS_INSTANTIATE || class == CLASS_CLONE))
		s->scratch |= CLONES;
	*d->data = (uint64_t)clock_now();
}

/* Calls that start GPU work: their rows get the line of Python that made the call. */
#define SITE_CLASSES (1u << CLASS_LAUNCH | 1u << CLASS_GRAPH | 1u << CLASS_COPY | 1u << CLASS_SET)

static uint32_t site_of(struct stream *s, uint8_t class)
{
	return SITE_CLASSES >> class & 1 && guest->config.python_launch_site ? python_site(s) : 0;
}

/* References to primary contexts, also those that driver calls inside runtime calls take or release. */
static void held(uint8_t class, const struct cupti_call_data *d)
{
	if (d->result && *(const int *)d->result != RESULT_OK)
		return;
	if (class == CLASS_RETAIN)
		cupti_primary_retained(d->params);
	else
		cupti_primary_released(d->params);
}

static void leave(int domain, uint32_t cbid, const struct cupti_call_data *d)
{
	uint8_t class = class_of(domain, cbid);
	struct stream *s = &stream_self;
	int64_t start, end;
	bool wanted;
	struct api_row *row;
	uint32_t name, stack = 0;
	int result;

	if (unlikely(class == CLASS_SYNC || class == CLASS_AWAIT) && gate_of_call() & GATE_LAUNCHES)
		waited();
	if (unlikely(class >= CLASS_RETAIN))
		held(class, d);
	if (!s->scratch)
		return;
	if ((s->scratch & (UNWANTED - 1)) > 1) {
		s->scratch--;
		return;
	}
	wanted = !(s->scratch & UNWANTED);
	s->scratch = 0;
	start = (int64_t)*d->data;
	end = clock_now();
	result = d->result ? *(const int *)d->result : 0;
	if (unlikely(class == CLASS_START) && result == RESULT_OK)
		profiler_called(true);
	if (!wanted)
		return;
	s = stream_enter();
	if (!s)
		return;
	name = name_of(s, domain, cbid, d->function);   /* before stream_reserve(): it may write a row */
	if (unlikely(end - start >= stacks_slow[stack_classes[class]]))
		stack = stacks_capture(s, &(struct stack_want){ 0 });
	if (!stack)
		stack = site_of(s, class);
	row = stream_reserve(s, ROW_api, sizeof *row);
	if (row) {
		*row = (struct api_row){
			.start = start,
			.duration = end - start,
			.range = stream_range(s),
			.corr = d->corr,
			.thread = s->thread,
			.name = name,
			.cbid = (uint32_t)domain << 16 | cbid,
			.result = result,
			.step = -1,
			.stack = stack,
		};
		stream_publish(s, row);
	}
	if (unlikely(class == CLASS_RECORD) && result == RESULT_OK)
		cupti_event_recorded(s, domain, cbid, d, start);
	if (unlikely(class == CLASS_ELAPSED) && result == RESULT_OK)
		cupti_event_elapsed(s, d, start);
	if (unlikely(class == CLASS_WAIT) && result == RESULT_OK)
		cupti_event_ordered(s, domain, cbid, d, start);
	if (unlikely(class == CLASS_AWAIT) && result == RESULT_OK)
		cupti_event_awaited(s, d, start);
	if (unlikely(class == CLASS_INSTANTIATE) && result == RESULT_OK)
		cupti_graph_instantiated(domain, cbid, d);
	stream_leave(s);
}

/* CUPTI's callbacks still come in a forked child, where the tracer is off: reports the first CUDA call there. */
static void note_forked(void)
{
	if (tracer.parent_had_cuda && __atomic_exchange_n(&tracer.called, 1, __ATOMIC_RELAXED) == 0)
		health_note(HEALTH_forked_used_cuda, "process %d", session_real_pid());
}

/*
 * Fast path: true if nothing is recorded, the call cannot change that, and it did not begin while something was recorded.  A forked
 * child's gate is 0.
 */
static inline bool passes_by(int domain, uint32_t cbid, const struct cupti_call_data *d)
{
	const struct guest *g = guest;
	uint32_t gate = __atomic_load_n(&g->gate, __ATOMIC_RELAXED) & (GATE_KNOWN | GATE_CUDA | GATE_EDGE | GATE_LAUNCHES);

	if (gate != GATE_KNOWN || stream_self.scratch)
		return false;
	if (d->site != SITE_ENTER)
		return class_of(domain, cbid) < CLASS_RETAIN;
	return cbid < MAX_CBID && classes[domain][cbid] < CLASS_INSTANTIATE &&
	       __atomic_load_n(&g->arena->n_orders, __ATOMIC_RELAXED) == g->orders;
}

void cupti_api_call(int domain, uint32_t cbid, const struct cupti_call_data *d)
{
	if (passes_by(domain, cbid, d))
		return;
	if (unlikely(!guest->arena || tracer.state != TRACER_UP)) {
		note_forked();
		return;
	}
	if (!__atomic_load_n(&tracer.called, __ATOMIC_RELAXED))
		__atomic_store_n(&tracer.called, 1, __ATOMIC_RELAXED);
	if (d->site == SITE_ENTER)
		enter(domain, cbid, d);
	else
		leave(domain, cbid, d);
}
