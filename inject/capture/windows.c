#include "inject/capture/windows.h"

#include <string.h>

#include "inject/capture/keep_intervals.h"
#include "inject/capture/open_slots.h"
#include "inject/capture/unstepped.h"
#include "inject/capture/watch.h"
#include "inject/core/lock.h"

enum window_cause { CAUSE_ORDER = 1, CAUSE_PROFILER, CAUSE_NVTX, CAUSE_SCHEDULE };

/* protects all of the state below; outside the struct, because begin() clears the struct under the lock */
static uint32_t lock;

/* Of one process: a forked child has another epoch. */
static struct {
	uint32_t epoch;
	struct capture machine;
	struct watched_kind kinds[CAPTURE_KINDS];
	uint64_t steps[CAPTURE_KINDS];  /* begun so far */
	unsigned n_kinds;
	uint32_t tracers;               /* ORDER_ bits of the last order */
	uint32_t orders;                /* number of the last order that was followed */
	uint32_t order_window;          /* number that the last order gives to the window it opens */
	bool watching;                  /* NVTX names are looked up */
	int auto_kind;                  /* kind of steps that nothing marks; -1: none */
	int torch_kind;                 /* kind of PyTorch's steps; -1: none */
	uint32_t torch_corr;            /* first call of the first of several batches fetched in a row; 0: none, or one batch */
	bool first_order;
	bool wake_due;
} w;

/* Not cleared for a new process: a child that was forked before CUDA starts anew, and sets it again. */
static void (*wake)(void);

/* The cause of a change. */
struct because {
	uint32_t cause, name;           /* of the window that it opens */
	int64_t time, real;             /* clock_now(); REALTIME ns */
};

static struct because now_because(uint32_t cause, uint32_t name)
{
	return (struct because){ cause, name, clock_now(), clock_ns(CLOCK_REALTIME) };
}

/* ---- the gate ---- */

static void set_gate(void)
{
	uint32_t gate = GATE_KNOWN;

	if (w.machine.state == STATE_RECORD)
		gate |= (w.tracers & ORDER_CUDA ? GATE_CUDA : 0) | (w.tracers & ORDER_NVTX ? GATE_NVTX : 0) | GATE_SAMPLE;
	if (w.watching)
		gate |= GATE_WATCH;
	if (open_slots_edge())
		gate |= GATE_EDGE;
	if (w.auto_kind >= 0 && w.machine.state != STATE_OFF)
		gate |= GATE_LAUNCHES;
	if ((w.auto_kind >= 0 || w.torch_kind >= 0) && w.machine.state != STATE_OFF)
		gate |= GATE_TORCH;
	__atomic_store_n(&guest->gate, gate, __ATOMIC_RELEASE);
}

/* ---- windows ---- */

static void open_window(struct stream *s, const struct because *b, bool whole)
{
	struct open_window *o = open_slots_window(s);
	struct arena *a = guest->arena;
	uint32_t number = a->n_windows + 1;

	/* Windows that outside orders open have one number in all processes. */
	if (b->cause == CAUSE_ORDER && number < w.order_window)
		number = w.order_window;
	__atomic_store_n(&a->n_windows, number, __ATOMIC_RELAXED);
	unstepped_opened(!whole && (b->cause == CAUSE_ORDER || b->cause == CAUSE_SCHEDULE));
	o->row = (struct window_row){ .start = b->time, .number = number, .first_corr = whole, .cause = b->cause, .name = b->name };
	__atomic_store_n(&o->state, OPEN_USED | OPEN_RUNNING | (whole ? OPEN_WHOLE : OPEN_FIRST) |
			 (capture_is_cut_by_exit(&w.machine.plan) ? OPEN_CUT : 0), __ATOMIC_RELEASE);
}

static void close_window(const struct because *b)
{
	struct arena *a = guest->arena;

	for (unsigned i = 0; i < MAX_OPEN_WINDOWS; i++) {
		struct open_window *o = &a->windows[i];

		if (!(o->state & OPEN_RUNNING))
			continue;
		o->row.duration = b->time - o->row.start;
		__atomic_store_n(&o->state, (o->state & ~(OPEN_RUNNING | OPEN_WHOLE)) | OPEN_END, __ATOMIC_RELEASE);
	}
	unstepped_closed(a->n_windows);
	__atomic_add_fetch(&a->n_closed, 1, __ATOMIC_RELEASE);
	if (!guest->watcher)      /* without a context CUPTI has nothing to flush yet */
		__atomic_store_n(&a->n_flushed, a->n_closed, __ATOMIC_RELEASE);
}

static bool keeps_cuda(void)
{
	return w.machine.state == STATE_RECORD && w.tracers & ORDER_CUDA;
}

/* True if recording begins with the process, and is bounded neither by a range nor by a schedule: a window row only if an order ends it. */
static bool is_whole(const struct because *b)
{
	return w.first_order && b->cause == CAUSE_ORDER && w.order_window <= 1 && w.machine.plan.range == RANGE_NONE &&
	       !w.machine.plan.scheduled;
}

static bool needs_cuda(void)
{
	return w.machine.state >= STATE_WARMUP && w.tracers & ORDER_CUDA;
}

static void feed(struct stream *s, enum capture_event event, unsigned kind, const struct because *b, uint32_t tracers)
{
	struct arena *a = guest->arena;
	bool kept = keeps_cuda(), needed = needs_cuda();
	unsigned said = capture_feed(&w.machine, event, kind);

	w.tracers = tracers;
	w.wake_due |= !needed && needs_cuda();
	if (said & CAPTURE_CLOSED)
		close_window(b);
	if (said & CAPTURE_OPENED)
		open_window(s, b, is_whole(b));
	if (!kept && keeps_cuda())
		keep_intervals_begin(b->real, is_whole(b));
	else if (kept && !keeps_cuda())
		keep_intervals_end(b->real);
	if (said & CAPTURE_READY)
		__atomic_fetch_add(&a->n_ready, 1, __ATOMIC_RELEASE);
	if (said & CAPTURE_SHUTDOWN)
		__atomic_store_n(&a->shutdown, 1, __ATOMIC_RELEASE);
	if (said & (CAPTURE_READY | CAPTURE_SHUTDOWN))
		session_ring();
}

/* Releases the lock, then wakes CUPTI if that is due.  The caller waits for this, so that its next launch is recorded. */
static void let_go(void)
{
	bool due = w.wake_due;
	void (*fn)(void) = __atomic_load_n(&wake, __ATOMIC_ACQUIRE);

	w.wake_due = false;
	lock_give(&lock);
	if (unlikely(due && fn))
		fn();
}

void windows_sleeper(void (*fn)(void))
{
	__atomic_store_n(&wake, fn, __ATOMIC_RELEASE);
}

void windows_unwatched(void)
{
	lock_take(&lock);
	guest->watcher = 0;
	if (guest->arena)
		__atomic_store_n(&guest->arena->n_flushed, guest->arena->n_closed, __ATOMIC_RELEASE);
	lock_give(&lock);
}

bool windows_want_cuda(void)
{
	gate_now();
	return w.epoch == guest->epoch && needs_cuda();
}

bool windows_over(void)
{
	return w.epoch == guest->epoch && w.machine.state == STATE_OFF;
}

/* ---- steps ---- */

static uint32_t window_of_now(void)
{
	return w.machine.state == STATE_RECORD ? guest->arena->n_windows : 0;
}

struct step_at windows_step_at(unsigned kind)
{
	return (struct step_at){ .window = window_of_now(),
				 .warms = w.machine.state == STATE_WARMUP && capture_warms(&w.machine, kind) };
}

/* Returns the open step of this kind that the thread began, with thread 0 the process's; NULL: none. */
static struct open_step *open_step_of(unsigned kind, uint32_t thread)
{
	struct open_step *all = guest->arena->steps;

	for (unsigned i = 0; i < MAX_OPEN_STEPS; i++)
		if (all[i].state & OPEN_RUNNING && all[i].kind == kind && all[i].row.thread == thread)
			return &all[i];
	return NULL;
}

static void end_row(struct open_step *o, const struct because *b)
{
	o->row.duration = b->time - o->row.start;
	__atomic_store_n(&o->state, (o->state & ~OPEN_RUNNING) | OPEN_END, __ATOMIC_RELEASE);
}

static void end_step(struct stream *s, struct open_step *o, const struct because *b, bool abandoned)
{
	uint32_t kind = o->kind;

	o->row.flags |= abandoned ? STEP_INCOMPLETE : 0;
	end_row(o, b);
	feed(s, EVENT_STEP_END, kind, b, w.tracers);
}

static void fill_row(struct open_step *o, unsigned kind, const struct because *b, struct step_row row)
{
	row.start = b->time;
	row.number = (uint32_t)w.steps[kind]++;
	row.kind = w.kinds[kind].name;
	row.name = b->name;
	row.window = window_of_now();
	row.confidence = 100;
	row.flags |= windows_step_at(kind).warms ? STEP_WARMUP : 0;
	o->kind = kind;
	o->row = row;
	__atomic_store_n(&o->state, OPEN_USED | OPEN_RUNNING | OPEN_FIRST, __ATOMIC_RELEASE);
}

/* Opens a step that the schedule does not count. */
static void open_row(struct stream *s, unsigned kind, const struct because *b, struct step_row row)
{
	struct open_step *o = open_slots_step(s);

	if (o)
		fill_row(o, kind, b, row);
}

/* Begins a step.  Returns its slot + 1; 0: none is free. */
static uint32_t begin_step(struct stream *s, unsigned kind, const struct because *b, uint32_t thread, uint64_t range, uint32_t flags)
{
	struct because scheduled = *b;
	struct open_step *o;

	scheduled.cause = w.machine.plan.scheduled ? CAUSE_SCHEDULE : b->cause;
	o = open_slots_step(s);
	if (!o)                 /* Table full: do not start the step in the schedule either, its end could not be reported. */
		return 0;
	feed(s, EVENT_STEP_BEGIN, kind, &scheduled, w.tracers);
	fill_row(o, kind, b, (struct step_row){ .range = range, .thread = thread, .flags = flags });
	return (uint32_t)(o - guest->arena->steps) + 1;
}

uint32_t windows_range_begin(struct stream *s, uint32_t watched, uint32_t name, uint64_t range, bool started)
{
	struct because b = now_because(CAUSE_NVTX, name);
	uint32_t tag = 0;

	lock_take(&lock);
	if (watched & WATCHED_CAPTURE) {
		feed(s, EVENT_RANGE_BEGIN, 0, &b, w.tracers);
		tag |= TAG_CAPTURE;
	}
	/* A range starts at most one step; nested ranges of the same kind are ignored. */
	for (unsigned kind = 0; kind < w.n_kinds; kind++) {
		if (!(watched & 1u << kind) || (!started && open_step_of(kind, s->thread)))
			continue;
		tag |= begin_step(s, kind, &b, s->thread, range, started ? STEP_LOOSE : 0);
		break;
	}
	set_gate();
	let_go();
	return tag;
}

void windows_range_end(struct stream *s, uint32_t tag, bool abandoned)
{
	struct because b = now_because(CAUSE_NVTX, 0);
	uint32_t place = TAG_STEP(tag);

	lock_take(&lock);
	if (place && place <= MAX_OPEN_STEPS && guest->arena->steps[place - 1].state & OPEN_RUNNING)
		end_step(s, &guest->arena->steps[place - 1], &b, abandoned);
	if (tag & TAG_CAPTURE)
		feed(s, EVENT_RANGE_END, 0, &b, w.tracers);
	set_gate();
	let_go();
}

/* Ends the open step and begins the next one. */
static void next_step(struct stream *s, unsigned kind, const struct because *b, uint32_t thread, uint32_t flags)
{
	struct open_step *o = open_step_of(kind, thread);

	if (o)
		end_step(s, o, b, false);
	begin_step(s, kind, b, thread, 0, flags);
}

void windows_mark(struct stream *s, uint32_t watched, uint32_t name)
{
	struct because b = now_because(CAUSE_NVTX, name);

	lock_take(&lock);
	for (unsigned kind = 0; kind < w.n_kinds; kind++)
		if (watched & 1u << kind)
			next_step(s, kind, &b, s->thread, STEP_LOOSE);
	set_gate();
	let_go();
}

void windows_profiler(struct stream *s, bool start)
{
	struct because b = now_because(CAUSE_PROFILER, 0);
	struct open_step *o;

	gate_now();             /* this may be the first hook of the process */
	lock_take(&lock);
	if (start && w.machine.plan.range == RANGE_PROFILER)
		feed(s, EVENT_RANGE_BEGIN, 0, &b, w.tracers);
	for (unsigned kind = 0; kind < w.n_kinds; kind++) {
		if (w.kinds[kind].source != STEPS_PROFILER)
			continue;
		o = open_step_of(kind, 0);
		if (start && !o)
			begin_step(s, kind, &b, 0, 0, 0);
		else if (!start && o)
			end_step(s, o, &b, false);
	}
	if (!start && w.machine.plan.range == RANGE_PROFILER)
		feed(s, EVENT_RANGE_END, 0, &b, w.tracers);
	set_gate();
	let_go();
}

int windows_auto_kind(void)
{
	return w.epoch == guest->epoch ? w.auto_kind : -1;
}

/* Ends the step that was held back where this one begins, and writes it.  Holds this one. */
static void hold_step(struct stream *s, unsigned kind, const struct step_row *row)
{
	struct open_step *all = guest->arena->steps, *o;

	for (unsigned i = 0; i < MAX_OPEN_STEPS; i++) {
		if (!(all[i].state & OPEN_HELD) || all[i].kind != kind)
			continue;
		all[i].row.duration = row->start - all[i].row.start;
		all[i].row.end_corr = row->first_corr;
		open_slots_write_step(s, &all[i]);
	}
	o = open_slots_step(s);
	if (!o)
		return;
	o->kind = kind;
	o->row = *row;
	o->row.kind = w.kinds[kind].name;
	__atomic_store_n(&o->state, OPEN_USED | OPEN_HELD, __ATOMIC_RELEASE);
}

void windows_found_step(struct stream *s, unsigned kind, const struct step_row *row)
{
	lock_take(&lock);
	hold_step(s, kind, row);
	lock_give(&lock);
}

struct step_at windows_next_step(struct stream *s, unsigned kind)
{
	struct because b = now_because(w.machine.plan.scheduled ? CAUSE_SCHEDULE : CAUSE_ORDER, 0);
	struct step_at next;

	lock_take(&lock);
	if (!w.machine.kinds[kind].open)        /* the first step was found when it had already begun */
		feed(s, EVENT_STEP_BEGIN, kind, &b, w.tracers);
	feed(s, EVENT_STEP_END, kind, &b, w.tracers);
	feed(s, EVENT_STEP_BEGIN, kind, &b, w.tracers);
	next = windows_step_at(kind);
	set_gate();
	lock_give(&lock);
	return next;
}

/*
 * If steps are not marked, uses PyTorch's as soon as PyTorch certainly ends one, unless steps were found in launches before.  Returns the
 * kind; -1: none.
 */
static int torch_kind(struct stream *s, const struct torchsteps_answer *a, int64_t before)
{
	struct because b = now_because(CAUSE_SCHEDULE, 0);

	if (w.torch_kind >= 0 || w.auto_kind < 0 || a->what != TORCHSTEPS_NEXT || !a->sure || w.machine.kinds[w.auto_kind].open)
		return w.torch_kind;
	w.torch_kind = w.auto_kind;
	w.auto_kind = -1;
	b.time = before;
	begin_step(s, (unsigned)w.torch_kind, &b, 0, 0, STEP_LATE | (a->batch ? STEP_BATCH : 0));
	return w.torch_kind;
}

static void torch_next(struct stream *s, struct open_step *o, const struct torchsteps_answer *a, const struct because *b)
{
	unsigned kind = (unsigned)w.torch_kind;
	uint32_t flags = a->batch ? STEP_BATCH : 0;

	/* If batches were fetched in a row, the first of them may turn out to begin the step. */
	if (!a->ahead)
		w.torch_corr = 0;
	else if (o && !w.torch_corr && !(o->state & OPEN_FIRST))
		w.torch_corr = o->row.first_corr;
	if (o)
		o->row.number = a->number - 1;
	w.steps[kind] = a->number;
	if (a->sure || !o) {
		next_step(s, kind, b, 0, flags);
		return;
	}
	/* The schedule counts a batch once it is known to be a step. */
	end_row(o, b);
	open_row(s, kind, b, (struct step_row){ .flags = flags });
}

/* Nothing before this was a step: the schedule starts again, with this step. */
static void torch_trains(struct stream *s, struct open_step *o, const struct torchsteps_answer *a, const struct because *b)
{
	unsigned kind = (unsigned)w.torch_kind;

	o->row.start = a->time;
	o->row.number = 0;
	o->row.flags &= ~STEP_BATCH;
	w.steps[kind] = 1;
	if (w.torch_corr) {
		o->row.first_corr = w.torch_corr;
		__atomic_store_n(&o->state, o->state & ~OPEN_FIRST, __ATOMIC_RELEASE);
	}
	feed(s, EVENT_STEP_FIRST, kind, b, w.tracers);
	o->row.window = window_of_now();
	o->row.flags = (o->row.flags & ~STEP_WARMUP) | (windows_step_at(kind).warms ? STEP_WARMUP : 0);
}

static void torch_moved(struct open_step *o, const struct because *b)
{
	struct open_step *before = open_slots_step_before(o);

	if (before)
		before->row.duration = b->time - before->row.start;
	o->row.start = b->time;
	__atomic_store_n(&o->state, o->state | OPEN_FIRST, __ATOMIC_RELEASE);
}

void windows_torch_step(struct stream *s, const struct torchsteps_answer *a, int64_t before)
{
	struct because b = now_because(CAUSE_SCHEDULE, 0);
	struct open_step *o;
	int kind;

	lock_take(&lock);
	kind = torch_kind(s, a, before);
	o = kind >= 0 ? open_step_of((unsigned)kind, 0) : NULL;
	if (a->what != TORCHSTEPS_TRAINS)
		b.time = a->time;
	if (o && a->what == TORCHSTEPS_MOVED)
		torch_moved(o, &b);
	else if (o && a->what == TORCHSTEPS_TRAINS)
		torch_trains(s, o, a, &b);
	else if (kind >= 0)
		torch_next(s, o, a, &b);
	set_gate();
	let_go();
}

void windows_torch_over(void)
{
	struct open_step *o;
	bool ours;

	lock_take(&lock);
	ours = w.epoch == guest->epoch;
	o = ours && w.torch_kind >= 0 ? open_step_of((unsigned)w.torch_kind, 0) : NULL;
	if (o)
		__atomic_store_n(&o->state, 0, __ATOMIC_RELEASE);
	if (ours && w.machine.state == STATE_RECORD)
		unstepped_closed(guest->arena->n_windows);
	else if (ours && w.machine.plan.scheduled && (w.torch_kind >= 0 || w.auto_kind >= 0) && !guest->arena->n_windows)
		unstepped_waited();
	lock_give(&lock);
}

void windows_wake(void)
{
	if (likely(!__atomic_load_n(&w.wake_due, __ATOMIC_RELAXED)))
		return;
	lock_take(&lock);
	let_go();
}

void windows_call(struct stream *s, uint32_t corr)
{
	lock_take(&lock);
	if (w.epoch == guest->epoch) {
		open_slots_call(s, corr);
		set_gate();
	}
	lock_give(&lock);
}

/* ---- orders ---- */

static void follow(struct stream *s, const struct order *o)
{
	struct because b = { .cause = CAUSE_ORDER, .time = o->time, .real = o->real };
	enum capture_event event = o->over ? EVENT_ORDER_OVER : o->mask ? EVENT_ORDER_ON : EVENT_ORDER_OFF;

	w.order_window = o->window;
	feed(s, event, 0, &b, o->mask);
}

/*
 * More orders came than are kept, with no call in between.  A lost one ended what was recorded.  The oldest order that is kept may be
 * overwritten during the read.
 */
static void skip_orders(struct stream *s, uint32_t n)
{
	struct order off = guest->arena->orders[(n - (ORDERS - 1)) % ORDERS];

	w.orders = n - (ORDERS - 1);
	off.mask = off.over = 0;
	follow(s, &off);
}

static void follow_orders(struct stream *s)
{
	struct arena *a = guest->arena;
	uint32_t n = __atomic_load_n(&a->n_orders, __ATOMIC_ACQUIRE);

	/* A new process only needs the last order. */
	if (!w.orders)
		w.orders = n - 1;
	if (n - w.orders >= ORDERS)
		skip_orders(s, n);
	for (; w.orders != n; w.orders++) {
		w.first_order = w.first_order && !w.machine.ordered;
		follow(s, &a->orders[w.orders % ORDERS]);
		w.first_order = false;
	}
	__atomic_store_n(&a->orders_seen, n, __ATOMIC_RELEASE);
	guest->orders = n;
}

static void begin(struct stream *s)
{
	struct capture_plan plan = capture_plan_of(&guest->config);

	memset(&w, 0, sizeof w);
	keep_intervals_clear();
	unstepped_clear();
	w.first_order = true;
	capture_init(&w.machine, &plan);
	w.n_kinds = watch_init(s, w.kinds, &w.watching);
	w.auto_kind = w.torch_kind = -1;
	for (unsigned i = 0; i < w.n_kinds; i++) {
		if (w.kinds[i].source == STEPS_AUTO)
			w.auto_kind = (int)i;
		else if (w.kinds[i].source == STEPS_TORCH)
			w.torch_kind = (int)i;
	}
	w.epoch = guest->epoch;
}

uint32_t windows_look(void)
{
	/* A caller that is inside stream_enter() has no row reserved. */
	struct stream *s = &stream_self;
	bool entered = !s->busy;
	uint32_t gate = __atomic_load_n(&guest->gate, __ATOMIC_RELAXED);

	if (unlikely(gate && guest->watcher && !s->tool && __atomic_load_n(&wake, __ATOMIC_RELAXED)))
		return gate;
	if (entered && !(s = stream_enter()))
		return 0;
	lock_take(&lock);
	if (w.epoch != guest->epoch)
		begin(s);
	follow_orders(s);
	set_gate();
	let_go();
	if (entered)
		stream_leave(s);
	return __atomic_load_n(&guest->gate, __ATOMIC_RELAXED);
}

uint32_t windows_gate_now(void)
{
	return __atomic_load_n(&wake, __ATOMIC_RELAXED) ? __atomic_load_n(&guest->gate, __ATOMIC_RELAXED) : gate_now();
}
