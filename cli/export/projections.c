/*
 * PyTorch's user scopes on the GPU, as in torch.profiler: for each stream, from the first to the last GPU row launched inside the scope.
 * Drawn on the stream's track if the slice overlaps no other partly, else on an extra track.
 */
#include "cli/export/projections.h"

#include "cli/model/join.h"
#include "cli/model/sort.h"
#include "trace/grow.h"

#include <stdlib.h>
#include <string.h>

struct projection {
	uint32_t at;                    /* position in model_torch()'s list */
	uint32_t track;                 /* the stream's first */
	int64_t start, end;
};

struct stream_work {                    /* slices of a track, by start */
	struct timed *slices;
	size_t n, cap;
};

int projections_begin(struct projections *p, struct export *x)
{
	*p = (struct projections){ .x = x };
	/* An imported trace has recorded ones (gpu_range). */
	if (!x->format->projection || !model_has_torch(x->m) || model_rows(x->m, ROW_gpu_range))
		return 0;
	p->torch = model_torch(x->m);
	return p->torch ? 0 : -1;
}

static void widen(struct projections *p, uint32_t at, const struct gpu_slice *s, uint32_t track)
{
	const struct projection first = { at, track, s->start, time_add(s->start, s->duration) };
	bool new;
	uint32_t *place = map_put(&p->index, (uint64_t)at << 32 | track, (uint32_t)p->n, &new);
	struct projection *known;

	p->oom |= !place;
	if (p->oom)
		return;
	if (new) {
		p->oom |= !GROW(p->list, p->n + 1, p->cap);
		if (!p->oom)
			p->list[p->n++] = first;
		return;
	}
	known = &p->list[*place - 1];
	if (first.start < known->start)
		known->start = first.start;
	if (first.end > known->end)
		known->end = first.end;
}

void projections_see(struct projections *p, const struct gpu_slice *s, uint32_t process, uint64_t range)
{
	const struct torch_ranges *t = p->torch;
	const struct track *track = &p->x->tracks[s->track];
	const struct timed slice = { .time = s->start, .end = time_add(s->start, s->duration) };
	struct stream_work *w;
	size_t row;

	if (!t || s->kind == ROW_sync)
		return;
	p->oom |= !GROW(p->streams, (size_t)s->track + 1, p->cap_streams);
	if (p->oom)
		return;
	while (p->n_streams <= s->track)
		p->streams[p->n_streams++] = (struct stream_work){ .n = 0 };
	w = &p->streams[s->track];
	if (!track->lane) {
		p->oom |= !GROW(w->slices, w->n + 1, w->cap);
		if (p->oom)
			return;
		w->slices[w->n++] = slice;
	}
	row = model_range_of(p->x->m, process, range);
	for (uint32_t at = row == NO_ROW ? NO_TORCH : torch_around(t, row); at != NO_TORCH; at = t->list[at].parent)
		if (t->list[at].scope == TORCH_USER)
			widen(p, at, s, track->first);
}

/* Whether a time lies strictly inside a slice of a track. */
static bool cuts(const struct stream_work *w, int64_t time)
{
	size_t low = 0, high = w->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->slices[mid].end <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low < w->n && w->slices[low].time < time;
}

/* By track and start; of equal starts, longer slices first, then outer scopes. */
static int by_place(const void *a, const void *b)
{
	const struct projection *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void put_projection(struct projections *p, const struct projection *q, uint32_t track)
{
	const struct gpu_slice s = {
		.kind = ROW_range, .row = p->torch->list[q->at].row, .track = track, .start = q->start,
		.duration = time_sub(q->end, q->start), .external = p->torch->list[q->at].row + 1ull,
	};

	p->x->format->projection(p->x, &s);
	p->x->events++;
}

static void put_all(struct projections *p)
{
	const struct projection *q = p->list;
	int64_t *open = malloc(p->n * sizeof *open + 1);       /* ends of the slices around the next one */
	size_t depth = 0;

	p->oom |= !open;
	for (size_t i = 0; i < p->n && !p->oom && !p->x->oom; i++, q++) {
		const struct stream_work *w = &p->streams[q->track];
		const struct track t = p->x->tracks[q->track];
		uint32_t track = q->track;

		if (i && q[-1].track != q->track)
			depth = 0;
		while (depth && open[depth - 1] <= q->start)
			depth--;
		if (cuts(w, q->start) || cuts(w, q->end) || (depth && open[depth - 1] < q->end))
			track = track_of_stream(p->x, TRACK_RANGES, t.process, t.device, t.id, q->start, q->end);
		else
			open[depth++] = q->end;
		if (!p->x->oom)
			put_projection(p, q, track);
	}
	free(open);
}

int projections_end(struct projections *p)
{
	if (!p->oom && p->n) {
		qsort(p->list, p->n, sizeof *p->list, by_place);
		put_all(p);
	}
	for (size_t i = 0; i < p->n_streams; i++)
		free(p->streams[i].slices);
	free(p->streams);
	free(p->list);
	map_release(&p->index);
	return p->oom || p->x->oom ? -1 : 0;
}
