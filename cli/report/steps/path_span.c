#include "cli/report/steps/path_span.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"
#include "cli/model/torch/torch.h"

#include <stdlib.h>

/* Whether a step can be chosen: selected, complete, not warm-up, and recorded. */
static bool counts(const struct steps *s, const struct step *step)
{
	return step->selected && !(step->flags & (STEP_INCOMPLETE | STEP_WARMUP)) && step->end > step->start &&
	       (step->window || steps_recorded_whole(s, step->process));
}

/* ---- the step ---- */

static size_t steps_of(const struct steps *s, uint32_t process, uint32_t kind)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->list[i].process == process && s->list[i].kind == kind && counts(s, &s->list[i]);
	return n;
}

/* The process and kind with most steps, of several the first.  The list is sorted by kind, then by process. */
static size_t most_steps(const struct model *m, const struct steps *s, uint32_t *process, uint32_t *kind)
{
	size_t most = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct step *step = &s->list[i];
		size_t n;

		if (!model_process_selected(m, step->process) ||
		    (i && step[-1].process == step->process && step[-1].kind == step->kind))
			continue;
		n = steps_of(s, step->process, step->kind);
		if (n > most) {
			most = n;
			*process = step->process;
			*kind = step->kind;
		}
	}
	return most;
}

static const struct step *numbered(const struct steps *s, uint32_t process, uint32_t kind, uint32_t number)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].process == process && s->list[i].kind == kind && s->list[i].number == number && counts(s, &s->list[i]))
			return &s->list[i];
	return NULL;
}

/* The step number ceil(n/2) by wall time; of steps with equal wall time the first. */
static int median(struct path_span *span, uint32_t process, uint32_t kind)
{
	const struct steps *s = span->steps;
	struct timed *walls = malloc((span->n + 1) * sizeof *walls);
	size_t n = 0;

	if (!walls)
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].process == process && s->list[i].kind == kind && counts(s, &s->list[i]))
			walls[n++] = (struct timed){ .time = time_sub(s->list[i].end, s->list[i].start), .row = (uint32_t)i };
	if (timed_sort(walls, n) < 0) {
		free(walls);
		return -1;
	}
	n = (n + 1) / 2 - 1;
	while (n && walls[n - 1].time == walls[n].time)
		n--;
	span->step = &s->list[walls[n].row];
	span->median = true;
	free(walls);
	return 0;
}

/* ---- the thread ---- */

struct busy_thread {
	uint32_t process, thread;
	uint64_t rows;
	int64_t first, last;
};

struct busy_threads {
	struct busy_thread *list;
	size_t n;
};

/* Counts, for each thread, the rows of a kind that start in from .. to, with their first start and last end. */
static int count_rows(struct model *m, struct busy_threads *b, unsigned kind, const unsigned fields[3], int64_t from, int64_t to)
{
	const int64_t *start = model_column(m, kind, fields[0]), *duration = model_column(m, kind, fields[1]);
	const uint32_t *thread = model_column(m, kind, fields[2]), *process = model_row_process(m, kind);
	struct busy_thread *t = NULL;

	if (!start || !duration || !thread || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, kind); i < n; i++) {
		int64_t end = time_add(start[i], duration[i]);

		if (start[i] < from || start[i] >= to)
			continue;
		if (!t || t->process != process[i] || t->thread != thread[i])
			for (t = b->list; t < b->list + b->n && (t->process != process[i] || t->thread != thread[i]); t++)
				;
		if (t == b->list + b->n) {
			t = NULL;
			continue;
		}
		t->first = !t->rows || start[i] < t->first ? start[i] : t->first;
		t->last = !t->rows || end > t->last ? end : t->last;
		t->rows++;
	}
	return 0;
}

static int threads_make(struct model *m, struct busy_threads *b, int64_t from, int64_t to)
{
	static const unsigned calls[] = { COL_api_start, COL_api_duration, COL_api_thread },
			      ranges[] = { COL_range_start, COL_range_duration, COL_range_thread };
	const struct thread *threads = model_threads(m, &b->n);

	b->list = calloc(b->n + 1, sizeof *b->list);
	if (!b->list)
		return -1;
	for (size_t i = 0; i < b->n; i++) {
		b->list[i].process = threads[i].process;
		b->list[i].thread = threads[i].row.id;
	}
	return count_rows(m, b, ROW_api, calls, from, to) < 0 || count_rows(m, b, ROW_range, ranges, from, to) < 0 ? -1 : 0;
}

/* The thread with most rows; process NULL: of all processes. */
static const struct busy_thread *busiest(const struct busy_threads *b, const uint32_t *process)
{
	const struct busy_thread *best = NULL;

	for (size_t i = 0; i < b->n; i++)
		if (b->list[i].rows && (!process || b->list[i].process == *process) && (!best || b->list[i].rows > best->rows))
			best = &b->list[i];
	return best;
}

static int find_thread(struct model *m, struct path_span *span)
{
	const struct phases *phases = model_has_torch(m) ? model_phases(m) : NULL;
	struct busy_threads b = { .list = NULL };
	const struct busy_thread *t;
	int rc;

	if (span->step && span->step->thread)
		span->thread = span->step->thread;
	else if (span->step && phases && phases[span->process].n)
		span->thread = phases[span->process].thread;
	if (span->thread)
		return 0;
	rc = threads_make(m, &b, span->step ? span->start : INT64_MIN, span->step ? span->end : INT64_MAX);
	t = rc == 0 ? busiest(&b, span->step ? &span->process : NULL) : NULL;
	if (t) {
		span->process = t->process;
		span->thread = t->thread;
	}
	if (t && !span->step) {
		span->start = t->first;
		span->end = t->last;
	}
	free(b.list);
	return rc;
}

int path_span_of(struct model *m, const char *number, struct path_span *span)
{
	uint32_t process = 0, kind = 0;

	*span = (struct path_span){ .steps = model_steps(m) };
	if (!span->steps)
		return -1;
	span->n = most_steps(m, span->steps, &process, &kind);
	if (number)
		span->step = numbered(span->steps, process, kind, (uint32_t)strtoul(number, NULL, 10));
	else if (span->n && median(span, process, kind) < 0)
		return -1;
	if (number && !span->step)
		return 0;
	if (span->step) {
		span->process = span->step->process;
		span->start = span->step->start;
		span->end = span->step->end;
	}
	return find_thread(m, span) < 0 ? -1 : 1;
}
