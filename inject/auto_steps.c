#include "inject/auto_steps.h"

#include <string.h>

#include "inject/intern.h"
#include "inject/lock.h"
#include "inject/memory.h"
#include "inject/windows.h"
#include "trace/period.h"

#define SEEN    PERIOD_RING     /* launches whose call is remembered; the detector tells of none before */

struct seen {
	int64_t time;                   /* own clock */
	uint32_t corr, name;            /* string id; 0: none */
};

/* Of one process; the memory is never given back, and a child has its own.  About 2.3 MB, only where --step=auto asks for it. */
struct finder {
	struct period period;
	uint64_t n;                     /* launches fed */
	uint64_t steps;                 /* told so far */
	uint64_t boundary;              /* launch that begins the next step, as far as can be told; 0: not known */
	struct step_at now;             /* what the schedule does with the step that runs */
	bool told;                      /* in this launch, a step already: that one, and this, were known late */
	struct seen seen[SEEN];
	uint8_t flags[4096];            /* 1 + PERIOD_ flags of a kernel, by the low bits of its string id */
	uint32_t flags_of[4096];
};

static struct finder *finder;
static uint32_t lock, epoch;

static struct finder *of_this_process(void)
{
	struct finder *f;

	if (epoch == guest->epoch)
		return finder;
	lock_take(&lock);
	if (epoch != guest->epoch) {
		f = memory_take(sizeof *f);
		if (f)
			period_init(&f->period);
		else
			health_note(HEALTH_step_memory, "%zu bytes", sizeof *f);
		finder = f;
		__atomic_store_n(&epoch, guest->epoch, __ATOMIC_RELEASE);
	}
	lock_give(&lock);
	return finder;
}

/* ---- what a launch is ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;

	h = (h ^ h >> 31 ^ b) * 0x94d049bb133111ebull;
	return h ^ h >> 29;
}

static bool has_function(int domain, uint32_t cbid)
{
	return domain == DOMAIN_RUNTIME ? cbid == 211 || cbid == 214 || cbid == 505 || cbid == 506 : cbid == 307 || cbid == 442;
}

/* The kernel: by its name, which is one for all its pointers, else by the pointer; else the call. */
static uint64_t identity_of(int domain, uint32_t cbid, const struct cupti_call_data *d, uint32_t name)
{
	uint64_t function = 0;

	if (!name && d->params && has_function(domain, cbid))
		memcpy(&function, d->params, sizeof(void *));
	return name ? mix(1, name) : function ? mix(2, function) : mix(3, (uint64_t)domain << 32 | cbid);
}

/* Grid and block of the calls whose parameters begin with the function and them: the runtime's and the driver's usual launches. */
static uint64_t config_of(int domain, uint32_t cbid, const void *params)
{
	uint64_t size[3];

	if (!params || !has_function(domain, cbid))
		return 0;
	memcpy(size, (const char *)params + sizeof(void *), sizeof size);
	return mix(mix(size[0], size[1]), size[2]);
}

static uint32_t flags_of(struct finder *f, uint32_t name, const char *symbol)
{
	uint32_t i = name % 4096;

	if (f->flags_of[i] != name) {
		f->flags_of[i] = name;
		f->flags[i] = (uint8_t)period_kernel_flags(symbol);
	}
	return f->flags[i];
}

/* ---- steps that were found ---- */

static const struct seen *seen(const struct finder *f, uint64_t number)
{
	return &f->seen[number % SEEN];
}

static void tell(struct stream *s, struct finder *f, unsigned kind, const struct period_step *step)
{
	const struct period_model *m = &f->period.model;
	const struct seen *first = seen(f, step->first), *last = seen(f, step->last), *anchor = seen(f, step->first + m->anchor_offset);
	struct step_row row = {
		.start = first->time,
		.duration = last->time - first->time,   /* until the next step says more */
		.number = (uint32_t)f->steps++,
		.anchor = anchor->name,
		.first_corr = first->corr,
		.end_corr = last->corr + 1,
		.confidence = (uint32_t)(m->confidence * 100),
		.flags = STEP_AUTO | (f->told ? STEP_LATE : 0),
	};

	if (f->told || f->boundary)             /* that of the step before, which is overdue */
		f->now = windows_next_step(s, kind);
	row.window = f->now.window;
	row.flags |= f->now.warms ? STEP_WARMUP : 0;
	windows_found_step(s, kind, &row);
	f->boundary = step->first + m->launches;
	f->told = true;
}

/* The step that was told is complete before its last launches come: the next begins with the launch behind them. */
static void pass_boundary(struct stream *s, struct finder *f, unsigned kind)
{
	if (!f->boundary || f->n < f->boundary)
		return;
	f->boundary = 0;
	f->now = windows_next_step(s, kind);
}

void auto_steps_launch(struct stream *s, int domain, uint32_t cbid, const struct cupti_call_data *d, bool graph, bool copy)
{
	uint32_t name = d->symbol && !graph && !copy ? intern_text(s, d->symbol) : 0;
	struct period_launch l = {
		.name = identity_of(domain, cbid, d, name),
		.config = config_of(domain, cbid, d->params),
		.start = clock_ns(CLOCK_MONOTONIC),
		.thread = s->thread,
		.flags = graph ? PERIOD_GRAPH : copy ? PERIOD_COPY_IN : 0,
	};
	struct finder *f = of_this_process();
	struct period_step step;
	int kind = windows_auto_kind();

	if (!f || kind < 0)
		return;
	lock_take(&lock);
	if (name)
		l.flags |= flags_of(f, name, d->symbol);
	if (!f->n)
		f->now = windows_step_at((unsigned)kind);
	pass_boundary(s, f, (unsigned)kind);
	f->seen[f->n++ % SEEN] = (struct seen){ clock_now(), d->corr, name };
	f->told = false;
	period_launch(&f->period, &l);
	while (period_take(&f->period, &step))
		tell(s, f, (unsigned)kind, &step);
	if (f->n > f->boundary)                 /* it was known late, and is past */
		pass_boundary(s, f, (unsigned)kind);
	lock_give(&lock);
	windows_wake();
}

void auto_steps_waited(void)
{
	struct finder *f = epoch == guest->epoch ? finder : NULL;

	if (!f)
		return;
	lock_take(&lock);
	period_call(&f->period, clock_ns(CLOCK_MONOTONIC));
	lock_give(&lock);
}
