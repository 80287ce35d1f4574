#include "cli/model/gpu/gpu_span.h"

#include "cli/model/gpu/gpu_lanes.h"
#include "cli/model/inside.h"
#include "cli/model/steps/steps.h"

/* ---- GPU work ---- */

static int add_copy(struct spans *to, const struct spans *from)
{
	struct spans copy = { .list = malloc((from->n + 1) * sizeof *copy.list), .n = from->n, .cap = from->n + 1 };
	int rc;

	if (!copy.list)
		return -1;
	if (from->n)
		memcpy(copy.list, from->list, from->n * sizeof *copy.list);
	rc = spans_merge(to, &copy);
	spans_release(&copy);
	return rc;
}

static void count_lane(struct gpu_rows *r, const struct gpu_lane *l)
{
	r->rows += l->rows;
	r->untimed += l->untimed;
	if (l->first && (!r->first || l->first < r->first))
		r->first = l->first;
	if (l->last > r->last)
		r->last = l->last;
}

static int by_process(const void *a, const void *b)
{
	const struct gpu_lane *x = a, *y = b;

	return (x->process > y->process) - (x->process < y->process);
}

/* Merges the sets of one kind of n lanes into the first lane's, pairwise, so that each set is copied only log2(n) times. */
static int merge_lanes(struct gpu_lane *l, size_t n, enum gpu_work work)
{
	for (size_t far = 1; far < n; far *= 2)
		for (size_t i = 0; i + far < n; i += 2 * far)
			if (spans_merge(&l[i].work[work], &l[i + far].work[work]) < 0)
				return -1;
	return 0;
}

/* Adds the lanes of one process to its GPU work. */
static int add_lanes(struct gpu_rows *r, struct gpu_lane *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		count_lane(r, &l[i]);
	for (enum gpu_work k = 0; k < GPU_WORKS; k++) {
		if (merge_lanes(l, n, k) < 0)
			return -1;
		r->work[k] = l->work[k];
		l->work[k] = (struct spans){ 0 };
		if (add_copy(&r->busy, &r->work[k]) < 0)
			return -1;
	}
	return 0;
}

struct gpu_rows *model_gpu_rows(struct model *m)
{
	struct gpu_rows *rows = calloc(m->n_processes + 1, sizeof *rows);
	struct gpu_lanes lanes = { 0 };
	int rc = rows ? gpu_lanes_read(m, true, &lanes) : -1;

	if (lanes.n)
		qsort(lanes.list, lanes.n, sizeof *lanes.list, by_process);
	for (size_t i = 0, to; i < lanes.n && rc == 0; i = to) {
		for (to = i; to < lanes.n && lanes.list[to].process == lanes.list[i].process; to++)
			;
		rc = add_lanes(&rows[lanes.list[i].process], &lanes.list[i], to - i);
	}
	gpu_lanes_release(&lanes);
	if (rc == 0)
		return rows;
	gpu_rows_free(m, rows);
	return NULL;
}

void gpu_rows_free(struct model *m, struct gpu_rows *rows)
{
	for (uint32_t p = 0; rows && p < m->n_processes; p++) {
		spans_release(&rows[p].busy);
		for (size_t k = 0; k < GPU_WORKS; k++)
			spans_release(&rows[p].work[k]);
	}
	free(rows);
}

static int clip(struct spans *set, const struct spans *span)
{
	struct spans inside = { 0 };

	if (spans_intersect(set, span, &inside) < 0) {
		spans_release(&inside);
		return -1;
	}
	spans_release(set);
	*set = inside;
	return 0;
}

int gpu_rows_clip(struct gpu_rows *rows, const struct spans *span)
{
	int rc = clip(&rows->busy, span);

	for (size_t k = 0; k < GPU_WORKS && rc == 0; k++)
		rc = clip(&rows->work[k], span);
	return rc;
}

/* ---- the span ---- */

/* Steps outside all windows, without kept rows, are not part of a span. */
int model_selected_steps(struct model *m, uint32_t process, struct spans *out)
{
	const struct steps *s = model_steps(m);

	for (size_t i = 0; s && i < s->n; i++) {
		const struct step *step = &s->list[i];

		if (step->process == process && step->selected && step_was_kept(s, step))
			spans_add(out, step->start, step->end);
	}
	return s && spans_union(out) >= 0 ? 0 : -1;
}

/* Adds for each window the time from its first to its last row, on any device. */
static int add_windows(struct model *m, struct spans *spans)
{
	struct window_edges edges = { 0 };
	size_t n;
	const struct window *windows = model_windows(m, &n);
	struct timed *ends = windows ? malloc((n + 1) * sizeof *ends) : NULL;
	int rc = ends ? window_edges_read(m, &edges) : -1;

	for (size_t w = 0; w < n && rc == 0; w++)
		ends[w] = (struct timed){ .time = INT64_MAX, .end = INT64_MIN };
	for (size_t i = 0; i < edges.n && rc == 0; i++) {
		const struct window_edge *e = &edges.list[i];
		struct timed *window = &ends[e->window];

		window->time = e->first < window->time ? e->first : window->time;
		window->end = e->last > window->end ? e->last : window->end;
	}
	for (size_t w = 0; w < n && rc == 0; w++)
		spans_add(&spans[windows[w].process], ends[w].time, ends[w].end);
	free(edges.list);
	free(ends);
	return rc;
}

bool model_counts_whole(struct model *m, uint32_t process)
{
	size_t n;
	const struct window *windows = model_windows(m, &n);

	for (size_t w = 0; windows && w < n; w++)
		if (windows[w].process == process)
			return false;
	return m->chosen.window <= 1;
}

static int span_of(struct model *m, const struct gpu_rows *rows, uint32_t process, struct spans *span)
{
	if (m->chosen.steps && rows->first && model_selected_steps(m, process, span) < 0)
		return -1;
	if (!m->chosen.steps && model_counts_whole(m, process))
		spans_add(span, rows->first, rows->last);
	return spans_union(span) < 0 ? -1 : 0;
}

struct spans *model_gpu_spans(struct model *m, const struct gpu_rows *rows)
{
	struct spans *spans = calloc(m->n_processes + 1, sizeof *spans);
	int rc = spans ? 0 : -1;

	if (rc == 0 && !m->chosen.steps)
		rc = add_windows(m, spans);
	for (uint32_t p = 0; p < m->n_processes && rc == 0; p++)
		rc = span_of(m, &rows[p], p, &spans[p]);
	if (rc == 0)
		return spans;
	gpu_spans_free(m, spans);
	return NULL;
}

void gpu_spans_free(struct model *m, struct spans *spans)
{
	for (uint32_t p = 0; spans && p < m->n_processes; p++)
		spans_release(&spans[p]);
	free(spans);
}

struct gpu_rows *model_gpu_rows_in_span(struct model *m, struct spans **spans)
{
	struct gpu_rows *rows = model_gpu_rows(m);
	int rc;

	*spans = rows ? model_gpu_spans(m, rows) : NULL;
	rc = *spans ? 0 : -1;
	for (uint32_t p = 0; p < m->n_processes && rc == 0; p++)
		rc = gpu_rows_clip(&rows[p], &(*spans)[p]);
	if (rc == 0)
		return rows;
	gpu_rows_free(m, rows);
	gpu_spans_free(m, *spans);
	*spans = NULL;
	return NULL;
}
