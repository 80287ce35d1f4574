/* The calls of each step: from the first call in the step to, exclusively, the first call after it, as in recorded traces. */
#include <stdlib.h>

#include "cli/import/rows/kineto.h"

/* The start or the end of a step. */
struct step_bound {
	int64_t at;
	size_t of;                      /* 2 * the step's index, + 1 for its end */
	int64_t start;                  /* start of the first call between this bound and the next */
	uint32_t call;                  /* correlation id of that call; 0: none */
};

static int by_time(const void *a, const void *b)
{
	const struct step_bound *p = a, *q = b;

	return p->at != q->at ? p->at > q->at ? 1 : -1 : (p->of > q->of) - (p->of < q->of);
}

/* The last bound at or before a time; NULL: none. */
static struct step_bound *bound_before(struct step_bound *bounds, size_t n, int64_t time)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (bounds[mid].at <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &bounds[low - 1] : NULL;
}

/* Sets start and call of each bound.  Returns an id larger than that of every call. */
static uint32_t find_calls(struct step_bound *bounds, size_t n, const struct api_row *calls, size_t n_calls)
{
	struct step_bound *b = NULL;
	uint32_t beyond = 0;

	for (size_t i = 0; i < n_calls; i++) {
		const struct api_row *c = &calls[i];

		if (!c->corr)
			continue;
		if (c->corr >= beyond)
			beyond = c->corr + 1;
		if (!b || c->start < b->at || (b + 1 < bounds + n && c->start >= b[1].at))      /* not the previous call's bound */
			b = bound_before(bounds, n, c->start);
		if (b && (!b->call || c->start < b->start || (c->start == b->start && c->corr < b->call))) {
			b->start = c->start;
			b->call = c->corr;
		}
	}
	return beyond;
}

int kineto_bound_steps(struct host *h)
{
	size_t n_steps = h->step.len / sizeof(struct step_row), n = 2 * n_steps;
	struct step_row *steps = (struct step_row *)h->step.data;
	struct step_bound *bounds;
	uint32_t call, beyond;

	if (!n)
		return 0;
	bounds = malloc(n * sizeof *bounds);
	if (!bounds)
		return -1;
	for (size_t i = 0; i < n; i++)
		bounds[i] = (struct step_bound){ .at = steps[i / 2].start + (i % 2 ? steps[i / 2].duration : 0), .of = i };
	qsort(bounds, n, sizeof *bounds, by_time);
	beyond = find_calls(bounds, n, (const struct api_row *)h->api.data, h->api.len / sizeof(struct api_row));
	call = 0;
	for (struct step_bound *b = bounds + n; b-- > bounds;) {
		struct step_row *s = &steps[b->of / 2];

		call = b->call ? b->call : call;
		if (b->of % 2)
			s->end_corr = call ? call : beyond;
		else
			s->first_corr = call;
	}
	for (struct step_row *s = steps; s < steps + n_steps; s++) {
		if (!s->first_corr || s->first_corr == s->end_corr)
			s->first_corr = s->end_corr = 0;
		s->range = ((const struct range_row *)h->range.data)[s->range].id;
	}
	free(bounds);
	return 0;
}
