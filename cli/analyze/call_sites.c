/* call_sites: who makes the CUDA calls; what `report -r cuda_api_sum --stacks` prints below the sum. */
#include "cli/analyze/stack_sites.h"
#include "cli/analyze/stats.h"
#include "cli/analyze/why.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/sort.h"

#include <stdlib.h>

#define TOP_SITES 10u           /* of one function; the others are one row */

static const struct heading columns[] = {
	{ "name", COLUMN_TEXT }, { "total_ns", 0 }, { "name_pct", 0 }, { "calls", 0 }, { "avg_ns", 0 }, { "max_ns", 0 },
	{ "call_site", COLUMN_TEXT },
};

struct work {
	struct model *m;
	struct stack_text text;
	struct sites sites;             /* by name << 32 | string id of the site's text */
	struct sites sums;
	uint32_t *text_of;              /* by stack */
	uint64_t without;
};

static const char *site_text(struct work *w, uint32_t stack)
{
	const char *text = stack_text(&w->text, stack, VIEW_LINE, 1);

	return *text ? text : stack_text(&w->text, stack, VIEW_MIXED, 1);
}

static int add(const struct stack_event *e, void *arg)
{
	struct work *w = arg;
	uint32_t name = model_name(w->m, e->name, NAME_API_NSYS), text = STRING_NONE;
	struct site *at;

	if (e->stack != NO_STACK) {
		uint32_t *known = &w->text_of[e->stack];

		if (*known == MAP_NONE)
			*known = model_intern(w->m, site_text(w, e->stack));
		text = *known;
	}
	if (text == MAP_NONE || !(at = sites_get(&w->sums, name)))
		return -1;
	site_add(w->m, at, e);
	at = sites_get(&w->sites, (uint64_t)name << 32 | text);
	if (!at)
		return -1;
	site_add(w->m, at, e);
	w->without += e->stack == NO_STACK;
	return 0;
}

static struct site *sum_of(struct work *w, uint64_t key)
{
	return sites_get(&w->sums, key >> 32);
}

/* By what the whole function took, then by what the site did. */
static int dearest_first(const void *a, const void *b, void *arg)
{
	const struct site *x = a, *y = b;
	int64_t of_x = sum_of(arg, x->key)->call_ns, of_y = sum_of(arg, y->key)->call_ns;

	if (x->key >> 32 != y->key >> 32)
		return of_x != of_y ? (of_x > of_y ? -1 : 1) : x->key >> 32 < y->key >> 32 ? -1 : 1;
	if (x->call_ns != y->call_ns)
		return x->call_ns > y->call_ns ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static void put_row(struct work *w, struct table *t, const struct site *s, const char *site)
{
	table_row(t, (const struct cell[]){
		TEXT(model_string(w->m, (uint32_t)(s->key >> 32))), NUMBER(s->call_ns),
		FIXED(share((uint64_t)s->call_ns, (uint64_t)sum_of(w, s->key)->call_ns), 1), NUMBER(s->calls),
		NUMBER(s->call_ns / (int64_t)s->calls), NUMBER(s->longest_ns), *site ? TEXT(site) : UNKNOWN });
}

static void put(struct work *w, struct table *t)
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
			rest.calls += list[j].calls;
			rest.call_ns = time_add(rest.call_ns, list[j].call_ns);
			if (list[j].longest_ns > rest.longest_ns)
				rest.longest_ns = list[j].longest_ns;
		}
		if (rest.calls)
			put_row(w, t, &rest, table_keep(t, "(%zu more)", of_name - TOP_SITES));
	}
}

static int run(struct model *m, struct table *t, const char *variant)
{
	const struct stacks *s = model_stacks(m);
	struct work w = { .m = m };
	int rc = s ? stack_text_begin(&w.text, m) : -1;

	(void)variant;
	if (rc == 0 && !(w.text_of = malloc((s->n + 1) * sizeof *w.text_of)))
		rc = -1;
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		w.text_of[i] = MAP_NONE;
	if (rc == 0)
		rc = model_stack_events(m, EVENT_CALL, add, &w);
	if (rc == 0) {
		put(&w, t);
		if (!t->n_rows)
			why_no_gpu(m, t, "CUDA calls");
		else
			note_stacks(m, t, w.without, "calls");
	}
	free(w.text_of);
	stack_text_end(&w.text);
	sites_release(&w.sites);
	sites_release(&w.sums);
	return rc;
}

const struct report report_call_sites = {
	.name = "call_sites",
	.title = "CUDA Calls by Call Site",
	.help = "who makes the CUDA calls: the dearest call sites of each function; cuda_api_sum --stacks prints it too",
	COLUMNS(columns),
	.run = run,
};
