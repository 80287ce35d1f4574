#include "collector/account.h"

#include <string.h>

#include "trace/health.h"

static void put_health(struct staging *s, unsigned reason, uint64_t count, int64_t first, int64_t last,
		       const char *detail)
{
	struct health_row row = { .first = first, .last = last, .count = count, .reason = reason,
		.bytes = (uint32_t)strlen(detail) };

	staging_put(s, record_by_kind(ROW_health), &row, detail, row.bytes);
}

void account_session(struct health_counts *t, struct staging *s)
{
	for (size_t i = 0; i < t->n; i++) {
		struct health_count *one = &t->list[i];

		if (one->count == one->written)
			continue;
		one->written = one->count;
		put_health(s, one->reason, one->count, one->first, one->last, one->detail);
	}
}

/* The guest and the collector may both count a reason: one row has the sum. */
static void health_of(struct tree_process *p, unsigned reason)
{
	struct connected_guest *g = p->guest;
	const struct health_cell *c = &g->view.a->health[reason];
	struct health_count *ours = health_counts_find(&p->health_counts, reason);
	uint64_t count = __atomic_load_n(&c->count, __ATOMIC_RELAXED);
	int64_t first = count ? c->first : INT64_MAX, last = count ? c->last : 0;
	char detail[sizeof ours->detail] = "";

	if (__atomic_load_n(&c->has_detail, __ATOMIC_ACQUIRE) == 2)
		memcpy(detail, c->detail, strnlen(c->detail, sizeof c->detail));
	if (ours) {
		count += ours->count;
		first = ours->first < first ? ours->first : first;
		last = ours->last > last ? ours->last : last;
		if (!detail[0])
			strcpy(detail, ours->detail);
	}
	if (count == g->health_written[reason])
		return;
	g->health_written[reason] = count;
	put_health(&g->staging, reason, count, first, last, detail);
}

static void drops_of(struct connected_guest *g, unsigned kind)
{
	const struct drop_cell *c = &g->view.a->drops[kind];
	struct drop_row row = { .first = c->first, .last = c->last, .count = c->count, .kind = kind };

	if (row.count == g->drops_written[kind])
		return;
	g->drops_written[kind] = row.count;
	staging_put(&g->staging, record_by_kind(ROW_drop), &row, NULL, 0);
}

static void cost_of(struct connected_guest *g, unsigned place)
{
	const struct cost_cell *c = &g->view.a->costs[place];
	struct cost_row row = { .total = c->total, .count = c->count, .place = place };

	if (row.count == g->costs_written[place])
		return;
	g->costs_written[place] = row.count;
	staging_put(&g->staging, record_by_kind(ROW_cost), &row, NULL, 0);
}

/* Without a guest there is no staging of the process: health rows name their process by their chunk alone. */
static void account_stranger(struct tree_process *p, struct output *out)
{
	struct staging s;

	if (staging_init(&s, out, p->number, p->clock) < 0)
		return;
	account_session(&p->health_counts, &s);
	staging_write(&s);
	staging_release(&s);
}

void account_process(struct tree_process *p, struct output *out)
{
	struct connected_guest *g = p->guest;

	if (!g) {
		if (p->health_counts.n)
			account_stranger(p, out);
		return;
	}
	for (unsigned reason = 1; reason < sizeof g->health_written / sizeof *g->health_written; reason++)
		health_of(p, reason);
	for (unsigned kind = 1; kind < sizeof g->drops_written / sizeof *g->drops_written; kind++)
		drops_of(g, kind);
	for (unsigned place = 1; place < N_COSTS; place++)
		cost_of(g, place);
}
