/*
 * Edges of the critical path from and to GPU rows: launches, the row before on the stream, CUDA events, synchronising calls
 * (hta/analyzers/critical_path_analysis.py).
 */
#include "cli/compat/hta/hta_derived.h"
#include "cli/compat/hta/hta_graph.h"

#include <stdlib.h>

/* ns (HTA: 1500 us): after a longer gap on a stream, the later row is not taken to have waited for the earlier one. */
#define LONGEST_GAP 1500000

struct stream_launch {
	int64_t pid, tid, stream, ts;   /* search key; pid and tid: of the GPU row in by_stream, of the calling thread in by_thread */
	uint32_t call, order;           /* position of the call; order of collecting */
};

struct waits {
	struct hta_graph *g;
	struct stream_launch *by_stream, *by_thread;
	size_t n;
	struct map last_launch;         /* corr of a cudaEventRecord -> call of the last launch before it */
	struct map next_launch;         /* index of a cudaStreamWaitEvent -> call of the next launch after it */
	struct map waits_for;           /* index of a GPU row -> position of the GPU row that it waits for; MAP_NONE - 2: done */
	int32_t *length;                /* by index: queue length after that row; -1: not a change */
	struct { int64_t stream; uint32_t end; } *streams;      /* node of the last end on each stream, in order of first use */
	size_t n_streams, last_stream;
	struct map stream_at;
	uint64_t context_edges;         /* edges made for waits for a whole context */
};

static int by_launch(const void *a, const void *b)
{
	const struct stream_launch *x = a, *y = b;
	const int64_t keys[][2] = { { x->pid, y->pid }, { x->tid, y->tid }, { x->stream, y->stream }, { x->ts, y->ts },
				    { x->order, y->order } };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

/* Number of elements that are <= key (bisect_right). */
static size_t behind(const struct stream_launch *list, size_t n, const struct stream_launch *key)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (by_launch(&list[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The GPU row linked to a call, or NULL. */
static const struct hta_row *launched(const struct hta_rank *r, const struct hta_row *call)
{
	const struct hta_row *gpu = call->partner > 0 ? hta_at(r, call->partner) : NULL;

	return gpu && hta_on_stream(gpu) && gpu->partner > 0 ? gpu : NULL;
}

static int collect_launches(struct waits *w)
{
	const struct hta_rank *r = w->g->r;

	w->by_stream = malloc((r->n + 1) * sizeof *w->by_stream);
	w->by_thread = malloc((r->n + 1) * sizeof *w->by_thread);
	if (!w->by_stream || !w->by_thread)
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *call = hta_row(r, i), *gpu;
		const struct hta_place *on, *from;

		if (!(w->g->h->names[call->name].flags & HTA_QUEUES) || !(gpu = launched(r, call)))
			continue;
		on = hta_place(r, gpu);
		from = hta_place(r, call);
		w->by_stream[w->n] =
			(struct stream_launch){ on->pid, 0, on->stream, call->ts, (uint32_t)i, (uint32_t)w->n };
		w->by_thread[w->n] =
			(struct stream_launch){ from->pid, from->tid, on->stream, call->ts, (uint32_t)i, (uint32_t)w->n };
		w->n++;
	}
	qsort(w->by_stream, w->n, sizeof *w->by_stream, by_launch);
	qsort(w->by_thread, w->n, sizeof *w->by_thread, by_launch);
	return 0;
}

/* Fills last_launch: for each event that a row waits for, the last launch on its stream before it was recorded. */
static int find_last_launches(struct waits *w)
{
	const struct hta_rank *r = w->g->r;
	struct map waiting = { 0 };     /* corr of the record -> first row that waits for it */
	bool new;
	int rc = 0;

	for (size_t i = 0; i < r->n && rc == 0; i++)
		if (hta_row(r, i)->category == HTA_SYNC && hta_extra(r, hta_row(r, i))->wait_stream != UINT32_MAX &&
		    !map_put(&waiting, hta_extra(r, hta_row(r, i))->wait_corr, (uint32_t)i, &new))
			rc = -1;
	for (size_t i = 0; i < r->n && rc == 0; i++) {
		const struct hta_row *record = hta_row(r, i), *wait;
		struct stream_launch key;
		uint32_t at;
		size_t place;

		if (!(w->g->h->names[record->name].flags & HTA_RECORD_CALL))
			continue;
		at = map_get(&waiting, (uint32_t)record->corr);
		if (at == MAP_NONE)
			continue;
		wait = hta_row(r, at);
		key = (struct stream_launch){ hta_place(r, wait)->pid, 0, hta_extra(r, wait)->wait_stream, record->ts, 0, UINT32_MAX };
		place = behind(w->by_stream, w->n, &key);
		if (place && w->by_stream[place - 1].pid == key.pid && w->by_stream[place - 1].stream == key.stream)
			rc = map_set(&w->last_launch, (uint64_t)record->corr, w->by_stream[place - 1].call) ? 0 : -1;
	}
	map_release(&waiting);
	return rc;
}

/* Fills next_launch: for each cudaStreamWaitEvent, the next launch of its thread on that stream. */
static int find_next_launches(struct waits *w)
{
	const struct hta_rank *r = w->g->r;

	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *wait = hta_row(r, i), *gpu;
		struct stream_launch key;
		size_t place;

		if (!(w->g->h->names[wait->name].flags & HTA_WAIT_CALL) || !(gpu = launched(r, wait)))
			continue;
		key = (struct stream_launch){ hta_place(r, wait)->pid, hta_place(r, wait)->tid, hta_stream(r, gpu), wait->ts - 1, 0, UINT32_MAX };
		place = behind(w->by_thread, w->n, &key);
		if (place < w->n && w->by_thread[place].pid == key.pid && w->by_thread[place].tid == key.tid &&
		    w->by_thread[place].stream == key.stream &&
		    !map_set(&w->next_launch, wait->index, w->by_thread[place].call))
			return -1;
	}
	return 0;
}

/* Fills length, from the queues of the whole trace: also when the path is of a part of it. */
static int find_lengths(struct waits *w)
{
	const struct hta_rank *r = w->g->r;
	const struct queue_point *points;
	size_t n;

	w->length = malloc((r->n_at + 1) * sizeof *w->length);
	points = w->length ? hta_queue(w->g->h, r, &n) : NULL;
	if (!points)
		return -1;
	for (size_t i = 0; i <= r->n_at; i++)
		w->length[i] = -1;
	for (size_t i = 0; i < n; i++)
		w->length[hta_row(r, points[i].row)->index] = points[i].length;
	return 0;
}

static uint32_t last_end(const struct waits *w, int64_t stream)
{
	uint32_t at = map_get(&w->stream_at, (uint64_t)stream);

	return at == MAP_NONE ? NO_NODE : w->streams[at].end;
}

static void set_last_end(struct waits *w, int64_t stream, uint32_t node)
{
	bool new = false;
	uint32_t *at = map_put(&w->stream_at, (uint64_t)stream, (uint32_t)w->n_streams, &new);

	if (!at) {
		w->g->oom = true;
		return;
	}
	if (new)
		w->streams[w->n_streams++].stream = stream;
	w->streams[*at - 1].end = node;
	w->last_stream = *at - 1;
}

/* Edges of a wait for a whole context, one from each stream.  If these get too many, only from the stream used last. */
static void wait_for_all(struct waits *w, uint32_t host)
{
	bool all = !hta_too_many_pairs(w->g->r, w->context_edges + w->n_streams);

	w->g->context_waits += !all;
	w->context_edges += all ? w->n_streams : 0;
	for (size_t i = all ? 0 : w->last_stream; i < (all ? w->n_streams : w->last_stream + 1); i++)
		hta_depend(w->g, w->streams[i].end, host, EDGE_SYNC, false);
}

/* Edges of a HTA_SYNC row. */
static void wait_edges(struct waits *w, const struct hta_row *row)
{
	struct hta_graph *g = w->g;
	const char *name = g->h->names[row->name].text;
	uint32_t call = hta_position(g->r, row->partner), host = call != HTA_NOWHERE ? g->end_of[call] : NO_NODE, from, to;

	if (strcmp(name, "Stream Wait Event") == 0 || strcmp(name, "Event Sync") == 0) {
		uint32_t awaited = hta_extra(g->r, row)->wait_corr, before;
		const struct hta_row *behind_it;

		from = awaited == UINT32_MAX ? MAP_NONE : map_get(&w->last_launch, awaited);
		if (from == MAP_NONE)
			return;
		before = hta_position(g->r, hta_row(g->r, from)->partner);
		if (before == HTA_NOWHERE)
			return;
		if (*name == 'E') {
			from = g->end_of[before];
			if (from != NO_NODE && host != NO_NODE)
				hta_depend(g, from, host, EDGE_SYNC, false);
			return;
		}
		to = row->partner < 0 ? MAP_NONE : map_get(&w->next_launch, (uint64_t)row->partner);
		behind_it = to == MAP_NONE ? NULL : hta_at(g->r, hta_row(g->r, to)->partner);
		if (behind_it && !map_set(&w->waits_for, behind_it->index, before))
			g->oom = true;
		return;
	}
	if (host == NO_NODE)
		return;
	if (strcmp(name, "Context Sync") == 0) {
		wait_for_all(w, host);
		return;
	}
	from = last_end(w, hta_stream(g->r, row));
	if (from != NO_NODE)
		hta_depend(g, from, host, EDGE_SYNC, false);
}

/* Edges of a GPU row that ran: from its launch, from the row before on its stream, or from the row that it waited for. */
static void run_edges(struct waits *w, uint32_t at)
{
	struct hta_graph *g = w->g;
	const struct hta_row *row = hta_row(g->r, at);
	uint32_t start = g->start_of[at], end = g->end_of[at], call = hta_position(g->r, row->partner);
	int64_t stream = hta_stream(g->r, row), called = 0;
	uint32_t awaited = map_get(&w->waits_for, row->index), last, awaited_end = NO_NODE, launch;
	int32_t length = -1;

	if (start == NO_NODE)
		return;
	hta_attribute(g, hta_depend(g, start, end, EDGE_OPERATOR, false), NO_NODE);
	if (awaited != MAP_NONE && awaited != MAP_NONE - 2)
		awaited_end = g->end_of[awaited];
	if (awaited_end != NO_NODE)
		hta_depend(g, awaited_end, start, EDGE_SYNC, false);
	if (awaited != MAP_NONE && !map_set(&w->waits_for, row->index, MAP_NONE - 2))
		g->oom = true;
	last = last_end(w, stream);
	launch = NO_NODE;
	if (call != HTA_NOWHERE) {
		launch = g->start_of[call];
		length = w->length[row->partner];
		called = hta_row(g->r, call)->ts;
	}
	if (length == 1 && w->length[row->index] == 0 && launch != NO_NODE &&
	    (last == NO_NODE || g->nodes[last].ts < called) &&
	    (awaited_end == NO_NODE || g->nodes[awaited_end].ts < called))
		hta_depend(g, launch, start, EDGE_LAUNCH_DELAY, false);
	else if (last != NO_NODE && time_sub(g->nodes[start].ts, g->nodes[last].ts) < LONGEST_GAP &&
		 (awaited_end == NO_NODE || g->nodes[awaited_end].ts < g->nodes[last].ts))
		hta_attribute(g, hta_depend(g, last, start, EDGE_KERNEL_DELAY, false), NO_NODE);
	set_last_end(w, stream, end);
}

static int walk(struct waits *w, const uint32_t *rows, size_t n)
{
	const struct hta_rank *r = w->g->r;
	struct timed *order = malloc((n + 1) * sizeof *order);
	size_t found = 0;

	w->streams = malloc((n + 1) * sizeof *w->streams);
	if (!order || !w->streams) {
		free(order);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct hta_row *row = hta_row(r, rows[i]);

		if ((hta_on_stream(row) || w->g->h->names[row->name].flags & HTA_HOST_WAIT) && row->partner >= 0)
			order[found++] = (struct timed){ .time = row->category == HTA_SYNC ? hta_end(row) : row->ts,
							 .row = rows[i] };
	}
	if (timed_sort(order, found) < 0) {
		free(order);
		return -1;
	}
	for (size_t i = 0; i < found && !w->g->oom; i++) {
		const struct hta_row *row = hta_row(r, order[i].row);

		if (row->category == HTA_SYNC)
			wait_edges(w, row);
		else
			run_edges(w, order[i].row);
	}
	free(order);
	return w->g->oom ? -1 : 0;
}

int hta_gpu_edges(struct hta_graph *g, const uint32_t *rows, size_t n)
{
	struct waits w = { .g = g };
	int rc = collect_launches(&w);

	if (rc == 0 && (find_last_launches(&w) < 0 || find_next_launches(&w) < 0 || find_lengths(&w) < 0))
		rc = -1;
	if (rc == 0)
		rc = walk(&w, rows, n);
	free(w.by_stream);
	free(w.by_thread);
	free(w.length);
	free(w.streams);
	map_release(&w.last_launch);
	map_release(&w.next_launch);
	map_release(&w.waits_for);
	map_release(&w.stream_at);
	return rc;
}
