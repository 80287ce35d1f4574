#include "inject/capture/auto_steps.h"

#include <string.h>

#include "inject/capture/windows.h"
#include "inject/core/intern.h"
#include "inject/core/lock.h"
#include "inject/core/memory.h"
#include "inject/core/scratch.h"
#include "trace/rules/period.h"

#define SEEN    PERIOD_RING     /* launches whose call is remembered: the detector reports no older ones */

struct seen_call {
	int64_t time;                   /* clock_now() */
	uint32_t corr, name;            /* string id; 0: none */
};

/* One per process, about 2.3 MB, allocated only with --step=auto and never freed.  A forked child allocates another. */
struct step_finder {
	struct period period;
	uint64_t n;                     /* launches fed */
	uint64_t steps;                 /* reported so far */
	uint64_t boundary;              /* number of the launch that should begin the next step; 0: unknown */
	struct step_at now;             /* what the schedule does with the running step */
	bool reported;                  /* a step was already reported during this launch: further ones get STEP_LATE */
	struct seen_call seen[SEEN];
	uint8_t flags[4096];            /* PERIOD_ flags of a kernel, by its string id modulo 4096; flags_of[]: the full id */
	uint32_t flags_of[4096];
};

static struct step_finder *finder;
static uint32_t lock, epoch;

static struct step_finder *of_this_process(void)
{
	struct step_finder *f;

	if (epoch == guest->epoch)
		return finder;
	lock_take(&lock);
	if (epoch != guest->epoch) {
		f = memory_take(sizeof *f);
		if (f)
			period_init_with(&f->period, (struct period_room){ scratch_push, scratch_pop });
		else
			health_note(HEALTH_step_memory, "cannot allocate %zu bytes", sizeof *f);
		finder = f;
		__atomic_store_n(&epoch, guest->epoch, __ATOMIC_RELEASE);
	}
	lock_give(&lock);
	return finder;
}

/* ---- identity of a launch ---- */

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

/* Hash of what is launched: the kernel's name if known (equal for all pointers to it), else the function pointer, else the API call. */
static uint64_t identity_of(int domain, uint32_t cbid, const struct cupti_call_data *d, uint32_t name)
{
	uint64_t function = 0;

	if (!name && d->params && has_function(domain, cbid))
		memcpy(&function, d->params, sizeof(void *));
	return name ? mix(1, name) : function ? mix(2, function) : mix(3, (uint64_t)domain << 32 | cbid);
}

/* Hash of grid.x, .y, .z and block.x, .y, .z; 0 for calls whose parameters do not begin with function, grid and block. */
static uint64_t config_of(int domain, uint32_t cbid, const void *params)
{
	uint64_t size[3];

	if (!params || !has_function(domain, cbid))
		return 0;
	memcpy(size, (const char *)params + sizeof(void *), sizeof size);
	return mix(mix(size[0], size[1]), size[2]);
}

static uint32_t flags_of(struct step_finder *f, uint32_t name, const char *symbol)
{
	uint32_t i = name % 4096;

	if (f->flags_of[i] != name) {
		f->flags_of[i] = name;
		f->flags[i] = (uint8_t)period_kernel_flags(symbol);
	}
	return f->flags[i];
}

/* ---- reported steps ---- */

static const struct seen_call *seen(const struct step_finder *f, uint64_t number)
{
	return &f->seen[number % SEEN];
}

static void tell(struct stream *s, struct step_finder *f, unsigned kind, const struct period_step *step)
{
	const struct period_model *m = &f->period.model;
	const struct seen_call *first = seen(f, step->first), *last = seen(f, step->last), *anchor = seen(f, step->first + m->anchor_offset);
	struct step_row row = {
		.start = first->time,
		.duration = last->time - first->time,   /* provisional: corrected when the next step is reported */
		.number = (uint32_t)f->steps++,
		.anchor = anchor->name,
		.first_corr = first->corr,
		.end_corr = last->corr + 1,
		.confidence = (uint32_t)(m->confidence * 100),
		.flags = STEP_AUTO | (f->reported ? STEP_LATE : 0),
	};

	if (f->reported || f->boundary)         /* the schedule has not yet seen the begin of this step */
		f->now = windows_next_step(s, kind);
	row.window = f->now.window;
	row.flags |= f->now.warms ? STEP_WARMUP : 0;
	windows_found_step(s, kind, &row);
	f->boundary = step->first + m->launches;
	f->reported = true;
}

/* Starts the next step in the schedule when launch number `boundary` has come. */
static void pass_boundary(struct stream *s, struct step_finder *f, unsigned kind)
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
	struct step_finder *f = of_this_process();
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
	f->seen[f->n++ % SEEN] = (struct seen_call){ clock_now(), d->corr, name };
	f->reported = false;
	period_launch(&f->period, &l);
	while (period_take(&f->period, &step))
		tell(s, f, (unsigned)kind, &step);
	if (f->n > f->boundary)                 /* a step found late: its boundary has passed already */
		pass_boundary(s, f, (unsigned)kind);
	lock_give(&lock);
	windows_wake();
}

void auto_steps_waited(void)
{
	struct step_finder *f = epoch == guest->epoch ? finder : NULL;

	if (!f)
		return;
	lock_take(&lock);
	period_call(&f->period, clock_ns(CLOCK_MONOTONIC));
	lock_give(&lock);
}
