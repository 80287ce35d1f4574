/*
 * Converts samples to slices: a function on a thread's stack in consecutive samples becomes one slice.  A sample lasts until the next
 * sample of its thread; if that is far away (a waiting thread is not sampled), for the median distance of samples.  The slices have
 * their own track, because they overlap the thread's calls and ranges partly.
 */
#include "cli/export/export.h"
#include "cli/model/sort.h"
#include "cli/model/stacks/stacks.h"

#include <stdlib.h>

struct stack_level {
	uint32_t function;
	int64_t start;
	uint64_t id, parent;            /* Python frames: see frame_slice; 0: none */
};

struct on_track {
	struct stack_level *levels;
	size_t n;
	int64_t end;                    /* end of the last sample */
};

struct sample_export {
	struct export *x;
	const struct stacks *s;
	struct timed *order;            /* rows by time */
	uint32_t *track;                /* by row */
	int64_t *next;                  /* by row: the next sample of its track; INT64_MAX: none */
	struct on_track *tracks;
	uint32_t *frames;
	uint64_t ids;
	int64_t usual;
};

static void close_levels(struct sample_export *w, uint32_t track, size_t keep, int64_t end)
{
	struct on_track *t = &w->tracks[track];

	while (t->n > keep) {
		const struct stack_level *l = &t->levels[--t->n];
		const struct frame_slice slice = { track, l->start, time_sub(end, l->start), l->function, l->id, l->parent };

		w->x->format->frame(w->x, &slice);
		w->x->events++;
	}
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sets the median distance between two samples of a track. */
static int find_usual(struct sample_export *w, size_t n)
{
	int64_t *gaps = malloc((n + 1) * sizeof *gaps);
	const int64_t *start = MODEL_I64(w->x->m, sample, start);
	size_t found = 0;

	for (size_t i = 0; gaps && i < n; i++)
		if (w->next[i] != INT64_MAX && w->next[i] > start[i])
			gaps[found++] = time_sub(w->next[i], start[i]);
	if (found)
		qsort(gaps, found, sizeof *gaps, by_value);
	w->usual = found ? gaps[found / 2] : 1000000;
	free(gaps);
	return gaps ? 0 : -1;
}

static int find_tracks(struct sample_export *w, size_t n)
{
	const int64_t *start = MODEL_I64(w->x->m, sample, start);
	const uint32_t *thread = MODEL_U32(w->x->m, sample, thread), *tid = MODEL_U32(w->x->m, sample, tid),
		       *process = model_row_process(w->x->m, ROW_sample);

	if (!start || !thread || !tid || !process)
		return -1;
	for (size_t i = 0; i < n; i++) {
		w->order[i] = (struct timed){ .time = start[i], .row = (uint32_t)i };
		w->track[i] = UINT32_MAX;
		if (!w->x->takes || w->x->takes[process[i]])
			w->track[i] = track_of_samples(w->x, process[i], thread[i], tid[i]);
	}
	w->tracks = calloc(w->x->n_tracks + 1, sizeof *w->tracks);
	if (w->x->oom || !w->tracks || timed_sort(w->order, n) < 0)
		return -1;
	for (size_t i = 0; i < w->x->n_tracks; i++)
		w->tracks[i].end = INT64_MAX;
	for (size_t i = n; i-- > 0;) {
		uint32_t row = w->order[i].row;

		w->next[row] = w->track[row] == UINT32_MAX ? INT64_MAX : w->tracks[w->track[row]].end;
		if (w->track[row] != UINT32_MAX)
			w->tracks[w->track[row]].end = start[row];
	}
	for (size_t i = 0; i < w->x->n_tracks; i++)
		w->tracks[i].end = INT64_MIN;
	return find_usual(w, n);
}

static int put_sample(struct sample_export *w, size_t row, int64_t start, uint32_t stack)
{
	struct on_track *t = &w->tracks[w->track[row]];
	size_t n = stack_frames(w->x->m, stack, VIEW_MIXED, SIZE_MAX, w->frames), same = 0;
	uint64_t parent = 0;

	if (!t->levels && !(t->levels = malloc((stacks_deepest(w->s) + 1) * sizeof *t->levels)))
		return -1;
	if (t->end == start)
		while (same < n && same < t->n && t->levels[same].function == w->s->places[w->frames[n - 1 - same]].function)
			same++;
	close_levels(w, w->track[row], same, t->end);
	for (size_t i = 0; i < same; i++)
		parent = t->levels[i].id ? t->levels[i].id : parent;
	for (; t->n < n; t->n++) {
		uint32_t function = w->s->places[w->frames[n - 1 - t->n]].function;
		bool python = w->s->functions[function].python;

		t->levels[t->n] = (struct stack_level){ function, start, python ? ++w->ids : 0, parent };
		parent = python ? w->ids : parent;
	}
	t->end = w->next[row];
	if (time_sub(t->end, start) > 2 * w->usual)
		t->end = time_add(start, w->usual);
	return 0;
}

static int put_all(struct sample_export *w, size_t n)
{
	const int64_t *start = MODEL_I64(w->x->m, sample, start);
	const uint32_t *stack = MODEL_U32(w->x->m, sample, stack), *process = model_row_process(w->x->m, ROW_sample);

	if (!start || !stack || !process)
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = w->order[i].row;

		if (w->track[row] != UINT32_MAX &&
		    put_sample(w, row, start[row], model_stack(w->x->m, process[row], stack[row])) < 0)
			return -1;
	}
	for (uint32_t i = 0; i < w->x->n_tracks; i++)
		close_levels(w, i, 0, w->tracks[i].end);
	return 0;
}

int export_samples(struct export *x)
{
	size_t n = model_rows(x->m, ROW_sample);
	struct sample_export w = { .x = x };
	int rc = -1;

	if (!n)
		return 0;
	w.s = model_stacks(x->m);
	w.order = malloc(n * sizeof *w.order);
	w.track = malloc(n * sizeof *w.track);
	w.next = malloc(n * sizeof *w.next);
	w.frames = w.s ? malloc((stacks_deepest(w.s) + 1) * sizeof *w.frames) : NULL;
	if (w.order && w.track && w.next && w.frames && find_tracks(&w, n) == 0)
		rc = put_all(&w, n);
	for (size_t i = 0; w.tracks && i < x->n_tracks; i++)
		free(w.tracks[i].levels);
	free(w.tracks);
	free(w.order);
	free(w.track);
	free(w.next);
	free(w.frames);
	return rc;
}
