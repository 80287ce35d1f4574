/*
 * call_sites: CUDA calls by function and call site; also printed by `report -r cuda_api_sum --stacks`.  range_sites: NVTX ranges by
 * message and the call site that starts them; also printed by `report -r nvtx_sum --stacks`.
 */
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/sort.h"
#include "cli/report/parts/choice.h"
#include "cli/report/parts/stats.h"
#include "cli/report/parts/why.h"
#include "cli/report/stacks/stack_sites.h"

#include <stdio.h>
#include <stdlib.h>

#define TOP_SITES 10u           /* rows of one name; further sites are summed up in one row */

static const struct heading columns[] = {
	{ "name", COLUMN_TEXT }, { "total_ns", 0 }, { "name_pct", 0 }, { "calls", 0 }, { "mean_ns", 0 }, { "max_ns", 0 },
	{ "call_site", COLUMN_TEXT },
};

static const struct heading range_columns[] = {
	{ "range", COLUMN_TEXT }, { "total_ns", 0 }, { "range_pct", 0 }, { "instances", 0 }, { "mean_ns", 0 }, { "max_ns", 0 },
	{ "begun_at", COLUMN_TEXT },
};

struct call_sites_report {
	struct model *m;
	const struct report_choice *choice;
	const uint32_t *domain;         /* by range row; NULL in call_sites */
	struct stack_text text;
	struct sites sites;             /* key: name << 32 | string id of the site's text */
	struct sites sums;              /* key: name */
	uint32_t *text_of;              /* by stack: string id of its text; MAP_NONE: not made yet */
	uint64_t without;               /* number of events without a stack */
};

/* With --group-by-stack N: the N innermost frames of the kind that --by names.  Without: the innermost line. */
static const char *site_text(struct call_sites_report *w, uint32_t stack)
{
	const char *text;

	if (w->choice && w->choice->group)
		return stack_text(&w->text, stack, w->choice->by, w->choice->group);
	text = stack_text(&w->text, stack, VIEW_LINE, 1);

	return *text ? text : stack_text(&w->text, stack, VIEW_MIXED, 1);
}

/* Ranges are named as in nsys: "domain:message", ":message" for the default domain. */
static uint32_t name_of(struct call_sites_report *w, const struct stack_event *e)
{
	const char *domain;
	char text[512];

	if (!w->domain)
		return model_name(w->m, e->name, NAME_API_NSYS);
	domain = model_string(w->m, model_domain(w->m, e->process, w->domain[e->row]));
	snprintf(text, sizeof text, "%s:%s", domain, model_string(w->m, e->name));
	return model_intern(w->m, text);
}

static int add_event(const struct stack_event *e, void *arg)
{
	struct call_sites_report *w = arg;
	uint32_t name = name_of(w, e), text = STRING_NONE;
	struct site *at;

	if (e->stack != NO_STACK) {
		uint32_t *known = &w->text_of[e->stack];

		if (*known == MAP_NONE)
			*known = model_intern(w->m, site_text(w, e->stack));
		text = *known;
	}
	if (name == MAP_NONE || text == MAP_NONE || !(at = sites_get(&w->sums, name)))
		return -1;
	site_add(w->m, at, e);
	at = sites_get(&w->sites, (uint64_t)name << 32 | text);
	if (!at)
		return -1;
	site_add(w->m, at, e);
	w->without += e->stack == NO_STACK;
	return 0;
}

static struct site *sum_of(struct call_sites_report *w, uint64_t key)
{
	return sites_get(&w->sums, key >> 32);
}

/* A site has calls or ranges, never both. */
static int64_t ns_of(const struct site *s)
{
	return time_add(s->call_ns, s->range_ns);
}

static uint64_t count_of(const struct site *s)
{
	return s->calls + s->ranges;
}

/* By the total time of the name, then by the time of the site, both descending. */
static int dearest_first(const void *a, const void *b, void *arg)
{
	const struct site *x = a, *y = b;
	int64_t of_x = ns_of(sum_of(arg, x->key)), of_y = ns_of(sum_of(arg, y->key));

	if (x->key >> 32 != y->key >> 32)
		return of_x != of_y ? (of_x > of_y ? -1 : 1) : x->key >> 32 < y->key >> 32 ? -1 : 1;
	if (ns_of(x) != ns_of(y))
		return ns_of(x) > ns_of(y) ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static void put_row(struct call_sites_report *w, struct table *t, const struct site *s, const char *site)
{
	table_row(t, (const struct cell[]){
		TEXT(model_string(w->m, (uint32_t)(s->key >> 32))), NUMBER(ns_of(s)),
		FIXED(share((uint64_t)ns_of(s), (uint64_t)ns_of(sum_of(w, s->key))), 1), NUMBER(count_of(s)),
		NUMBER(ns_of(s) / (int64_t)count_of(s)), NUMBER(s->longest_ns), *site ? TEXT(site) : UNKNOWN });
}

static void put_sites(struct call_sites_report *w, struct table *t)
{
	struct site *list = w->sites.list;

	if (w->sites.n)
		qsort_r(list, w->sites.n, sizeof *list, dearest_first, w);
	for (size_t i = 0, of_name; i < w->sites.n; i += of_name) {
		struct site rest = { .key = list[i].key };

		for (of_name = 0; i + of_name < w->sites.n && list[i + of_name].key >> 32 == rest.key >> 32; of_name++)
			;
		for (size_t j = i; j < i + of_name; j++) {
			if (j - i < TOP_SITES || of_name == TOP_SITES + 1) {
				put_row(w, t, &list[j], model_string(w->m, (uint32_t)list[j].key));
				continue;
			}
			rest.calls += count_of(&list[j]);
			rest.call_ns = time_add(rest.call_ns, ns_of(&list[j]));
			if (list[j].longest_ns > rest.longest_ns)
				rest.longest_ns = list[j].longest_ns;
		}
		if (rest.calls)
			put_row(w, t, &rest, table_keep(t, "(%zu more)", of_name - TOP_SITES));
	}
}

static int fill(struct call_sites_report *w, struct table *t, unsigned kinds)
{
	const struct stacks *s = model_stacks(w->m);

	if (!s || stack_text_begin(&w->text, w->m) < 0 || !(w->text_of = malloc((s->n + 1) * sizeof *w->text_of)))
		return -1;
	for (size_t i = 0; i < s->n; i++)
		w->text_of[i] = MAP_NONE;
	if (model_stack_events(w->m, kinds, add_event, w) < 0)
		return -1;
	put_sites(w, t);
	return 0;
}

static void release(struct call_sites_report *w)
{
	free(w->text_of);
	stack_text_end(&w->text);
	sites_release(&w->sites);
	sites_release(&w->sums);
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct call_sites_report w = { .m = m, .choice = choice };
	int rc = fill(&w, t, EVENT_CALL);

	if (rc == 0 && !t->n_rows)
		why_no_gpu(m, t, "CUDA calls");
	else if (rc == 0)
		note_stacks(m, t, w.without, "calls");
	release(&w);
	return rc;
}

static int run_ranges(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct call_sites_report w = { .m = m, .choice = choice, .domain = MODEL_U32(m, range, domain) };
	int rc = w.domain ? fill(&w, t, EVENT_RANGE) : -1;
	uint64_t ranges = model_rows(m, ROW_range), with = 0;

	for (size_t i = 0; i < w.sums.n; i++)
		with += w.sums.list[i].ranges;
	if (rc == 0 && !model_has_range_stacks(m))
		table_note(t, "no NVTX range has a stack: %s", why_lacks(m, "gprof-run --nvtx-backtrace records them", NULL));
	else if (rc == 0 && with < ranges)
		table_note(t, "ranges without a stack: %llu", (unsigned long long)(ranges - with));
	release(&w);
	return rc;
}

const struct report report_call_sites = {
	.name = "call_sites",
	.share = "name_pct: share of the time of all calls of the function",
	.title = "CUDA Calls by Call Site",
	.help = "Which call sites of each CUDA function are the most expensive?",
	.needs = NEED_STACKS,
	.adds = { ROW_api },
	COLUMNS(columns),
	.run_chosen = run,
};

const struct report report_range_sites = {
	.name = "range_sites",
	.share = "range_pct: share of the time of all ranges of the name that have a stack",
	.title = "NVTX Ranges by Call Site",
	.help = "Which call sites start each NVTX range?",
	.needs = NEED_RANGE_STACKS,
	.adds = { ROW_range },
	COLUMNS(range_columns),
	.run_chosen = run_ranges,
};
