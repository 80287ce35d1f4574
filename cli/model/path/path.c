#include "cli/model/path/path_inside.h"

#include <stdlib.h>

#include "trace/buf.h"

/* The moment at which the work ended that a thread waited for. */
struct arrival {
	int64_t at;
	uint32_t thread;
	uint32_t row;                   /* the GPU row; PATH_NONE: work of a thread */
	uint32_t of;                    /* that thread */
	int64_t begun;                  /* begin of its work */
};

struct path_walk {
	struct path_in *in;
	struct path_host host;
	struct path_gpu gpu;
	struct arrival *arrivals;       /* by thread and time */
	size_t *left;                   /* by thread: end of the arrivals not used yet */
	size_t *first;                  /* by thread: its first arrival */
	size_t n_arrivals;
	uint32_t *turns;                /* arrivals of threads' work, by working thread and time */
	size_t n_turns;
	struct buf out;                 /* struct path_segment, last segment first */
	/* current position */
	int64_t at;
	uint32_t thread, row;           /* row: PATH_NONE while on the thread */
	int64_t floor;                  /* on a thread other than the span's: begin of its work for another thread */
	uint32_t back;                  /* that other thread */
};

/* ---- ends of waits ---- */

static int by_thread(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Fills *a for a wait; false: the work is unknown or ended before the wait began. */
static bool arrival_of(const struct path_walk *w, const struct path_wait *wait, struct arrival *a)
{
	*a = (struct arrival){ .thread = wait->thread, .row = PATH_NONE, .of = wait->of, .begun = wait->begun };
	if (wait->what == FOR_THREAD) {
		a->at = wait->done;
	} else {
		a->row = path_awaited(&w->gpu, wait);
		if (a->row == PATH_NONE)
			return false;
		a->at = w->in->rows[a->row].end;
	}
	if (a->at > wait->end)
		a->at = wait->end;
	return a->at > wait->start;
}

static void add_full(uint32_t row, uint32_t ended, void *arg)
{
	const struct path_row *r;
	struct path_walk *w = arg;

	r = &w->in->rows[row];
	if (w->in->rows[ended].end > r->launched)
		w->arrivals[w->n_arrivals++] = (struct arrival){ .at = w->in->rows[ended].end, .thread = r->thread, .row = ended };
}

static int by_worker(const void *a, const void *b, void *arg)
{
	const struct arrival *list = arg, *x = &list[*(const uint32_t *)a], *y = &list[*(const uint32_t *)b];

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static int arrivals_make(struct path_walk *w)
{
	const struct path_in *in = w->in;
	size_t i = 0;

	w->arrivals = malloc((in->n_waits + in->n_rows + 1) * sizeof *w->arrivals);
	w->left = malloc((in->n_threads + 1) * sizeof *w->left);
	w->first = malloc((in->n_threads + 1) * sizeof *w->first);
	w->turns = malloc((in->n_waits + 1) * sizeof *w->turns);
	if (!w->arrivals || !w->left || !w->first || !w->turns)
		return -1;
	for (size_t k = 0; k < in->n_waits; k++)
		w->n_arrivals += arrival_of(w, &in->waits[k], &w->arrivals[w->n_arrivals]);
	path_full(&w->gpu, add_full, w);
	if (w->n_arrivals)
		qsort(w->arrivals, w->n_arrivals, sizeof *w->arrivals, by_thread);
	for (uint32_t t = 0; t < in->n_threads; t++) {
		w->first[t] = i;
		while (i < w->n_arrivals && w->arrivals[i].thread == t)
			i++;
		w->left[t] = i;
	}
	for (i = 0; i < w->n_arrivals; i++)
		if (w->arrivals[i].row == PATH_NONE)
			w->turns[w->n_turns++] = (uint32_t)i;
	if (w->n_turns)
		qsort_r(w->turns, w->n_turns, sizeof *w->turns, by_worker, w->arrivals);
	return 0;
}

/* Takes the thread's last unused arrival in (floor, until]; NULL: none. */
static const struct arrival *take_arrival(struct path_walk *w, uint32_t thread, int64_t floor, int64_t until)
{
	size_t i = w->left[thread];

	while (i > w->first[thread] && w->arrivals[i - 1].at > until)
		i--;
	w->left[thread] = i;
	if (i == w->first[thread] || w->arrivals[i - 1].at <= floor)
		return NULL;
	w->left[thread] = i - 1;
	return &w->arrivals[i - 1];
}

/* The first work of thread `of` for another thread that began before a time and ended at that time or later; NULL: none. */
static const struct arrival *turn_at(const struct path_walk *w, uint32_t of, int64_t time)
{
	size_t low = 0, high = w->n_turns;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct arrival *a = &w->arrivals[w->turns[mid]];

		if (a->of < of || (a->of == of && a->at < time))
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < w->n_turns && w->arrivals[w->turns[low]].of == of; low++)
		if (w->arrivals[w->turns[low]].begun < time)
			return &w->arrivals[w->turns[low]];
	return NULL;
}

/* ---- segments ---- */

/* Adds a segment from a time to the current position, and moves the position to its begin. */
static void put_piece(struct path_walk *w, int64_t from, enum path_kind kind, uint32_t of, uint32_t on)
{
	struct path_segment *last = w->out.len ? (struct path_segment *)(w->out.data + w->out.len) - 1 : NULL;

	if (from < w->in->start)
		from = w->in->start;
	if (from >= w->at)
		return;
	if (last && last->kind == kind && last->of == of && last->on == on) {
		last->start = from;
	} else {
		const struct path_segment s = { from, w->at, kind, of, on };

		buf_put(&w->out, &s, sizeof s);
	}
	w->at = from;
}

/* Adds the thread's activities from a time to the current position. */
static void put_host(struct path_walk *w, uint32_t thread, int64_t from)
{
	while (w->at > from && !w->out.oom) {
		size_t i = path_tile_before(&w->host, thread, w->at);
		const struct path_tile *t = i == PATH_NONE ? NULL : &w->host.tiles[i];

		if (!t)
			put_piece(w, from, PATH_HOST, PATH_NONE, thread);
		else if (t->end < w->at)
			put_piece(w, t->end > from ? t->end : from, PATH_HOST, PATH_NONE, thread);
		else
			put_piece(w, t->start > from ? t->start : from, PATH_HOST, t->act, thread);
		if (w->at <= w->in->start)
			return;
	}
}

/* ---- the walk ---- */

/* Continues on a thread at the current time. */
static void go_to_thread(struct path_walk *w, uint32_t thread)
{
	w->row = PATH_NONE;
	w->thread = thread;
	w->back = w->in->thread;
	w->floor = thread == w->in->thread ? w->in->start : path_busy_since(&w->host, thread, w->at);
}

/* Continues on the thread that launched a row; if it worked for a waiting thread then, until the begin of that work. */
static void go_to_launcher(struct path_walk *w, uint32_t thread)
{
	const struct arrival *a = thread == w->in->thread ? NULL : turn_at(w, thread, w->at);

	go_to_thread(w, thread);
	if (!a)
		return;
	w->floor = a->begun;
	w->back = a->thread;
}

static void from_thread(struct path_walk *w)
{
	const struct arrival *a = take_arrival(w, w->thread, w->floor, w->at);
	uint32_t waiting = w->thread;

	if (!a) {
		put_host(w, w->thread, w->floor);
		if (w->at > w->in->start)
			go_to_thread(w, w->back);
		return;
	}
	put_host(w, w->thread, a->at);
	if (a->row != PATH_NONE) {
		w->row = a->row;
		return;
	}
	go_to_thread(w, a->of);
	w->floor = a->begun;
	w->back = waiting;
}

static void from_row(struct path_walk *w)
{
	const struct path_row *rows = w->in->rows, *r = &rows[w->row];
	uint32_t row = w->row, before;
	int64_t launch;

	put_piece(w, r->start, PATH_GPU, row, r->queue);
	if (w->at <= w->in->start)
		return;
	before = path_before(&w->gpu, row);
	/* A row that began before its call returned was launched at an unknown time during the call. */
	launch = r->launched == PATH_NEVER || r->returned <= r->start ? r->returned : r->launched;
	if (before != PATH_NONE && (r->launched == PATH_NEVER || rows[before].end >= launch)) {
		put_piece(w, rows[before].end, PATH_ORDER, row, r->queue);
		w->row = before;
		return;
	}
	if (r->launched == PATH_NEVER) {
		go_to_thread(w, w->in->thread);
		return;
	}
	if (r->returned < w->at)
		put_piece(w, r->returned, PATH_LAUNCH, row, r->queue);
	if (w->at > w->in->start)
		go_to_launcher(w, r->thread);
}

static void walk(struct path_walk *w)
{
	/* Limit of iterations: each arrival, and each row with a duration, is met once; a damaged file must not loop. */
	size_t most = 4 * (w->in->n_rows + w->in->n_acts + w->in->n_waits) + 64;

	w->at = w->in->end;
	go_to_thread(w, w->in->thread);
	for (; w->at > w->in->start && most && !w->out.oom; most--)
		(w->row == PATH_NONE ? from_thread : from_row)(w);
	put_piece(w, w->in->start, PATH_HOST, PATH_NONE, w->in->thread);
}

static void turn_round(struct path_segment *list, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct path_segment s = list[i];

		list[i] = list[n - 1 - i];
		list[n - 1 - i] = s;
	}
}

struct path_segment *path_find(struct path_in *in, size_t *n)
{
	struct path_walk w = { .in = in, .row = PATH_NONE };
	struct path_segment none = { 0 };

	*n = 0;
	if (path_host_make(&w.host, in) < 0 || path_gpu_make(&w.gpu, in) < 0 || arrivals_make(&w) < 0)
		w.out.oom = true;
	else
		walk(&w);
	path_host_release(&w.host);
	path_gpu_release(&w.gpu);
	free(w.arrivals);
	free(w.left);
	free(w.first);
	free(w.turns);
	if (w.out.oom) {
		buf_free(&w.out);
		return NULL;
	}
	if (!w.out.len)
		buf_put(&w.out, &none, sizeof none);
	else
		*n = w.out.len / sizeof none;
	turn_round((struct path_segment *)w.out.data, *n);
	return (struct path_segment *)w.out.data;
}
