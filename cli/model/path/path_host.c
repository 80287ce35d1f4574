#include "cli/model/path/path_inside.h"

#include <stdlib.h>

static int by_place(const void *a, const void *b)
{
	const struct path_act *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

/* State of building the tiles of one thread in order of time. */
struct tiling {
	struct path_in *in;
	struct path_tile *tiles;
	size_t n, begin;                /* begin: the thread's first tile */
	uint32_t *open;                 /* stack of open acts, outermost first */
	size_t depth;
	int64_t at;                     /* end of the last tile */
};

static void tile_until(struct tiling *t, int64_t until, uint32_t act)
{
	struct path_tile *last = t->n > t->begin ? &t->tiles[t->n - 1] : NULL;
	uint32_t busy = last && last->act != PATH_NONE ? last->busy : (uint32_t)t->n;

	if (until <= t->at)
		return;
	if (last && last->act == act)
		last->end = until;
	else
		t->tiles[t->n++] = (struct path_tile){ t->at, until, act, busy };
	t->at = until;
}

/* Closes all acts that end up to a time, innermost first. */
static void close_until(struct tiling *t, int64_t until)
{
	while (t->depth) {
		uint32_t act = t->open[t->depth - 1];
		int64_t end = t->in->acts[act].end;

		tile_until(t, end < until ? end : until, act);
		if (end > until)
			return;
		t->depth--;
	}
	tile_until(t, until, PATH_NONE);
}

static void tile_thread(struct tiling *t, size_t from, size_t to)
{
	int64_t last = t->in->acts[from].start;

	t->begin = t->n;
	t->depth = 0;
	t->at = last;
	for (size_t i = from; i < to; i++) {
		close_until(t, t->in->acts[i].start);
		t->open[t->depth++] = (uint32_t)i;
		last = t->in->acts[i].end > last ? t->in->acts[i].end : last;
	}
	close_until(t, last);
}

int path_host_make(struct path_host *h, struct path_in *in)
{
	struct tiling t = { .in = in };
	size_t to;

	h->first = calloc(in->n_threads + 2, sizeof *h->first);
	h->tiles = malloc((3 * in->n_acts + 1) * sizeof *h->tiles);
	t.open = malloc((in->n_acts + 1) * sizeof *t.open);
	if (!h->first || !h->tiles || !t.open) {
		free(t.open);
		return -1;
	}
	t.tiles = h->tiles;
	if (in->n_acts)
		qsort(in->acts, in->n_acts, sizeof *in->acts, by_place);
	for (size_t i = 0, thread = 0; i < in->n_acts || thread <= in->n_threads; i = to, thread++) {
		h->first[thread] = t.n;
		for (to = i; to < in->n_acts && in->acts[to].thread == thread; to++)
			;
		if (to > i)
			tile_thread(&t, i, to);
	}
	free(t.open);
	return 0;
}

void path_host_release(struct path_host *h)
{
	free(h->tiles);
	free(h->first);
	*h = (struct path_host){ 0 };
}

size_t path_tile_before(const struct path_host *h, uint32_t thread, int64_t time)
{
	size_t low = h->first[thread], high = h->first[thread + 1];

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (h->tiles[mid].start < time)
			low = mid + 1;
		else
			high = mid;
	}
	return low > h->first[thread] ? low - 1 : PATH_NONE;
}

int64_t path_busy_since(const struct path_host *h, uint32_t thread, int64_t time)
{
	size_t i = path_tile_before(h, thread, time);

	if (i == PATH_NONE || h->tiles[i].end < time || h->tiles[i].act == PATH_NONE)
		return time;
	return h->tiles[h->tiles[i].busy].start;
}
