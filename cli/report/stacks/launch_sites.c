/* launch_sites: GPU time of kernels by the line that launched them. */
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/sort.h"
#include "cli/report/parts/stats.h"
#include "cli/report/parts/why.h"
#include "cli/report/stacks/stack_sites.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "gpu_pct", COLUMN_KEY }, { "gpu_ns", COLUMN_KEY }, { "kernels", 0 }, { "mean_ns", COLUMN_RARE }, { "launches", 0 },
	{ "names", COLUMN_RARE }, { "file", COLUMN_TEXT | COLUMN_KEY | COLUMN_PATH }, { "line", COLUMN_ID | COLUMN_KEY }, { "function", COLUMN_TEXT },
	{ "kernel", COLUMN_TEXT },
};

struct launch_sites_report {
	struct model *m;
	struct sites sites;             /* key: place << 32 | string id of the kernel's name */
	uint64_t without, untimed;      /* number of GPU rows without a place; without a time */
	uint32_t graph;                 /* string id of the name printed for a whole graph */
};

static int add_event(const struct stack_event *e, void *arg)
{
	struct launch_sites_report *w = arg;
	uint32_t place = stack_site(w->m, e->stack), name = w->graph;
	struct site *at;

	if (!e->whole_graph)
		name = model_name(w->m, e->name, NAME_PLAIN);
	at = sites_get(&w->sites, (uint64_t)place << 32 | name);
	if (!at)
		return -1;
	site_add(w->m, at, e);
	at->kernels += e->whole_graph;
	w->without += place == NO_PLACE;
	w->untimed += e->ns < 0;
	return 0;
}

/* Groups sites by place; in a place, the kernel with the most GPU time comes first. */
static int by_place(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->key >> 32 != y->key >> 32)
		return x->key >> 32 < y->key >> 32 ? -1 : 1;
	if (x->gpu_ns != y->gpu_ns)
		return x->gpu_ns > y->gpu_ns ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static int dearest_first(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->gpu_ns != y->gpu_ns)
		return x->gpu_ns > y->gpu_ns ? -1 : 1;
	if (x->kernels != y->kernels)
		return x->kernels > y->kernels ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

/*
 * Merges the sites of a place into one, unless `each`.  It keeps the key of the kernel with the most GPU time; its `calls` become the
 * number of kernel names.  Kernels without a place are not merged: they may come from different lines.
 */
static void fold(struct sites *s, bool each)
{
	size_t n = 0;

	if (s->n)
		qsort(s->list, s->n, sizeof *s->list, by_place);
	for (size_t i = 0; i < s->n; i++) {
		struct site *last = n ? &s->list[n - 1] : NULL;

		if (each || !last || last->key >> 32 != s->list[i].key >> 32 || s->list[i].key >> 32 == NO_PLACE) {
			s->list[n] = s->list[i];
			s->list[n++].calls = 1;
			continue;
		}
		last->gpu_ns = time_add(last->gpu_ns, s->list[i].gpu_ns);
		last->kernels += s->list[i].kernels;
		last->launches += s->list[i].launches;
		last->untimed += s->list[i].untimed;
		last->uncalled += s->list[i].uncalled;
		last->calls++;
	}
	s->n = n;
	if (n)
		qsort(s->list, n, sizeof *s->list, dearest_first);
}

static void put_sites(struct launch_sites_report *w, struct table *t)
{
	const struct stacks *all = model_stacks(w->m);
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < w->sites.n; i++)
		sum += (uint64_t)w->sites.list[i].gpu_ns;
	for (size_t i = 0; i < w->sites.n; i++) {
		const struct site *s = &w->sites.list[i];
		uint32_t at = (uint32_t)(s->key >> 32);
		const struct place *p = at == NO_PLACE ? NULL : &all->places[at];
		uint64_t timed = s->kernels - s->untimed;

		table_row(t, (const struct cell[]){
			timed ? FIXED(share((uint64_t)s->gpu_ns, sum), 1) : UNKNOWN, timed ? NUMBER(s->gpu_ns) : UNKNOWN,
			NUMBER(s->kernels), timed ? NUMBER(s->gpu_ns / (int64_t)timed) : UNKNOWN,
			s->launches || !s->uncalled ? NUMBER(s->launches) : UNKNOWN,
			NUMBER(s->calls), p && p->file != STRING_NONE ? TEXT(file_short(w->m, p->file)) : UNKNOWN,
			p && p->line ? NUMBER(p->line) : UNKNOWN,
			p ? TEXT(model_string(w->m, all->functions[p->function].name)) : UNKNOWN,
			TEXT(model_string(w->m, (uint32_t)s->key)) });
	}
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct launch_sites_report w = { .m = m, .graph = model_intern(m, "CUDA graph") };
	int rc = w.graph == MAP_NONE ? -1 : model_stack_events(m, EVENT_KERNEL, add_event, &w);

	if (rc == 0) {
		fold(&w.sites, variant != NULL);
		put_sites(&w, t);
		if (!t->n_rows)
			why_no_gpu(m, t, "kernels");
		else
			note_stacks(m, t, w.without, "kernels whose call is");
		if (w.untimed)
			table_note(t, "rows without a time, because CUPTI gave none: %llu; they count as rows, but in no time",
				   (unsigned long long)w.untimed);
	}
	sites_release(&w.sites);
	return rc;
}

const struct report report_launch_sites = {
	.name = "launch_sites",
	.share = "gpu_pct: share of the GPU time of all rows",
	.title = "Kernels by the Line That Launched Them",
	.help = "Which lines of the program launch the GPU work? (:kernels adds each kernel of a line)",
	.needs = NEED_STACKS,
	.variants = "kernels",
	.adds = { ROW_kernel, ROW_memcpy },
	COLUMNS(columns),
	.run = run,
};
