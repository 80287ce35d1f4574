#include "inject/cupti_api.h"

#include <errno.h>

#include "inject/auto_steps.h"
#include "inject/cupti.h"
#include "inject/cupti_client.h"
#include "inject/cupti_event.h"
#include "inject/cupti_flush.h"
#include "inject/cupti_graph.h"
#include "inject/intern.h"
#include "inject/python.h"
#include "inject/stacks.h"
#include "inject/windows.h"

#define MAX_CBID 1024u          /* 13.0 has 523 runtime and 807 driver callbacks; names beyond are looked up at each call */

enum call_class {
	CLASS_NONE, CLASS_LAUNCH, CLASS_GRAPH, CLASS_BUILD, CLASS_SYNC, CLASS_EVENT, CLASS_COPY, CLASS_SET, CLASS_ALLOC, CLASS_HOST,
	CLASS_LOAD, CLASS_RECORD, CLASS_ELAPSED, CLASS_INSTANTIATE, CLASS_WAIT, CLASS_AWAIT,
	/* from here on: looked at even while nothing is recorded */
	CLASS_START, CLASS_STOP, CLASS_TEARDOWN,
};

/* Indexed by domain (1 driver, 2 runtime), then callback id. */
static const uint8_t classes[3][MAX_CBID] = {
#define CUPTI_CALL(domain, cbid, class, name) [DOMAIN_##domain][cbid] = CLASS_##class,
#include "inject/cupti_calls.def"
#undef CUPTI_CALL
};

/* Whose threshold says whether a call was slow enough for its stack. */
static const uint8_t stack_classes[] = {
	[CLASS_NONE] = STACKS_OTHER, [CLASS_LAUNCH] = STACKS_KERNEL, [CLASS_GRAPH] = STACKS_KERNEL, [CLASS_BUILD] = STACKS_OTHER,
	[CLASS_SYNC] = STACKS_SYNC, [CLASS_EVENT] = STACKS_SYNC, [CLASS_COPY] = STACKS_MEMORY, [CLASS_SET] = STACKS_MEMORY,
	[CLASS_ALLOC] = STACKS_MEMORY, [CLASS_HOST] = STACKS_KERNEL, [CLASS_LOAD] = STACKS_OTHER, [CLASS_RECORD] = STACKS_OTHER,
	[CLASS_ELAPSED] = STACKS_OTHER, [CLASS_INSTANTIATE] = STACKS_OTHER, [CLASS_START] = STACKS_OTHER, [CLASS_STOP] = STACKS_OTHER,
	[CLASS_TEARDOWN] = STACKS_OTHER, [CLASS_WAIT] = STACKS_SYNC, [CLASS_AWAIT] = STACKS_SYNC,
};

static uint32_t names[3][MAX_CBID];     /* string ids; 0: not yet interned */

void cupti_api_enable(void)
{
	for (int domain = DOMAIN_DRIVER; domain <= DOMAIN_RUNTIME; domain++)
		for (uint32_t cbid = 0; cbid < MAX_CBID; cbid++)
			if (classes[domain][cbid])      /* one that this version does not know is refused, and never called */
				cupti_want(domain, cbid);
}

void cupti_api_forget(void)
{
	__builtin_memset(names, 0, sizeof names);
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
 * A runtime call calls the driver: both are told, on one thread, with one correlation id.  stream.scratch remembers the outermost:
 * its id << 32 | its domain << 16 | UNWANTED | depth.  A call that was left without its exit callback (longjmp) stays there until
 * another outermost one comes.
 */
#define UNWANTED 0x8000u        /* no row: only its nesting is followed */

static bool is_nested(uint64_t scratch, int domain, uint32_t corr)
{
	return scratch && ((uint32_t)(scratch >> 32) == corr || (domain == DOMAIN_DRIVER && (scratch >> 16 & 0xffff) == DOMAIN_RUNTIME));
}

static uint8_t class_of(int domain, uint32_t cbid)
{
	return cbid < MAX_CBID ? classes[domain][cbid] : CLASS_NONE;
}

/* Outside a stream, which these need. */
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
 * A window ends before the call that ends it, and what the GPU did in it is fetched.  Not at the process's end: the runtime gives its
 * contexts back in its own exit handlers, when CUPTI may no longer answer.
 */
static void before_call(uint8_t class)
{
	if (class == CLASS_STOP)
		profiler_called(false);
	if (tracer.ending)
		return;
	if (class == CLASS_STOP && guest->config.flush_on_stop)
		cupti_flush_window();
	if (class == CLASS_TEARDOWN)
		cupti_flush_wait(0);
}

/* Steps are found in what is launched, and what is launched first in a step may open a window. */
static void looked_at(int domain, uint32_t cbid, uint8_t class, const struct cupti_call_data *d)
{
	struct stream *s = class == CLASS_LAUNCH || class == CLASS_GRAPH || class == CLASS_COPY || class == CLASS_SET ? stream_enter() : NULL;

	if (!s)
		return;
	auto_steps_launch(s, domain, cbid, d, class == CLASS_GRAPH, class == CLASS_COPY);
	stream_leave(s);
}

/* A signal handler may call CUDA in the middle of a hook, which may have reserved a row: orders have to wait then. */
static uint32_t gate_of_call(void)
{
	return unlikely(stream_self.busy) ? __atomic_load_n(&guest->gate, __ATOMIC_RELAXED) : gate_now();
}

/* The wait may have been in a signal handler, too. */
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
	if (unlikely(class == CLASS_STOP || class == CLASS_TEARDOWN))
		before_call(class);
	if (unlikely(gate_of_call() & GATE_LAUNCHES))
		looked_at(domain, cbid, class, d);
	gate = gate_of_call();
	if (unlikely(gate & GATE_EDGE))
		edge(d->corr);
	/* Wanted is decided here, as for GPU rows by their launch. */
	if (!(gate & GATE_CUDA) && class != CLASS_START && class != CLASS_STOP)
		return;
	s->scratch = (uint64_t)d->corr << 32 | (uint64_t)domain << 16 | (gate & GATE_CUDA ? 0 : UNWANTED) | 1;
	*d->data = (uint64_t)clock_now();
}

/* Calls that have the GPU do something, which a line of Python can be named for. */
#define SITE_CLASSES (1u << CLASS_LAUNCH | 1u << CLASS_GRAPH | 1u << CLASS_COPY | 1u << CLASS_SET)

static uint32_t site_of(struct stream *s, uint8_t class)
{
	return SITE_CLASSES >> class & 1 && guest->config.python_launch_site ? python_site(s) : 0;
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
	name = name_of(s, domain, cbid, d->function);   /* before the reserve: it may write a row of its own */
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

/* CUPTI's hooks live on in a forked child, where nothing of ours is. */
static void note_forked(void)
{
	if (tracer.parent_had_cuda && __atomic_exchange_n(&tracer.called, 1, __ATOMIC_RELAXED) == 0)
		health_note(HEALTH_forked_used_cuda, "process %d", session_real_pid());
}

/*
 * The way of a call while nothing is recorded: it cannot change that, and it did not begin while something was.  A forked child's gate
 * is 0.
 */
static inline bool passes_by(int domain, uint32_t cbid, const struct cupti_call_data *d)
{
	const struct guest *g = guest;
	uint32_t gate = __atomic_load_n(&g->gate, __ATOMIC_RELAXED) & (GATE_KNOWN | GATE_CUDA | GATE_EDGE | GATE_LAUNCHES);

	if (gate != GATE_KNOWN || stream_self.scratch)
		return false;
	return d->site != SITE_ENTER || (cbid < MAX_CBID && classes[domain][cbid] < CLASS_START &&
					 __atomic_load_n(&g->arena->n_orders, __ATOMIC_RELAXED) == g->orders);
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
