/* Collects the activities of a process's threads in a span of time, and the work of other threads that the span's thread waited for. */
#include "cli/model/path/path_rows.h"

#include "cli/model/inside.h"
#include "cli/model/process.h"
#include "cli/model/torch/torch.h"

static void put_act(struct path_rows *p, uint32_t process, uint32_t thread, int64_t start, int64_t end, uint32_t what)
{
	struct path_act a = { start, end, 0, what };

	if (start >= p->in.end || end <= p->in.start)
		return;
	a.thread = path_thread_of(p, process, thread);
	buf_put(&p->acts, &a, sizeof a);
}

static int add_calls(struct path_rows *p)
{
	const int64_t *start = MODEL_I64(p->m, api, start), *duration = MODEL_I64(p->m, api, duration);
	const uint32_t *thread = MODEL_U32(p->m, api, thread), *process = model_row_process(p->m, ROW_api);

	if (!start || !duration || !thread || !process)
		return -1;
	for (size_t i = 0, n = model_rows(p->m, ROW_api); i < n; i++)
		if (process[i] == p->process)
			put_act(p, p->process, thread[i], start[i], time_add(start[i], duration[i]), PATH_CALL | (uint32_t)i);
	return 0;
}

/* Whether a process may be a DataLoader worker: a child of this process without GPU rows. */
static bool is_worker(const struct path_rows *p, const struct process *list, uint32_t process)
{
	return process && process != p->process && list[process].parent && list[process].parent == list[p->process].number &&
	       !model_process_rows(p->m, ROW_kernel, process);
}

static int add_ranges(struct path_rows *p)
{
	const int64_t *start = MODEL_I64(p->m, range, start), *duration = MODEL_I64(p->m, range, duration);
	const uint32_t *thread = MODEL_U32(p->m, range, thread), *flags = MODEL_U32(p->m, range, flags),
		       *process = model_row_process(p->m, ROW_range);
	const struct process *list;
	uint32_t n_processes, last = UINT32_MAX;
	bool wanted = false;

	list = model_processes(p->m, &n_processes);
	if (!start || !duration || !thread || !flags || !process)
		return -1;
	for (size_t i = 0, n = model_rows(p->m, ROW_range); i < n; i++) {
		if (process[i] != last)
			wanted = process[i] == p->process || is_worker(p, list, process[i]);
		last = process[i];
		if (wanted && !(flags[i] & RANGE_STARTEND) && duration[i] >= 0)
			put_act(p, process[i], thread[i], start[i], time_add(start[i], duration[i]), (uint32_t)i);
	}
	return 0;
}

/* ---- backward on threads of the autograd engine ---- */

/* Sorted begins and ends of all activities of the span's thread. */
static struct timed *boundaries(const struct path_rows *p, size_t *n)
{
	const struct path_act *acts = PATH_LIST(p->acts, struct path_act);
	size_t n_acts = PATH_COUNT(p->acts, struct path_act);
	struct timed *list = malloc((2 * n_acts + 2) * sizeof *list);

	*n = 0;
	if (!list)
		return NULL;
	list[(*n)++] = (struct timed){ .time = p->in.start };
	list[(*n)++] = (struct timed){ .time = p->in.end };
	for (size_t i = 0; i < n_acts; i++) {
		if (acts[i].thread != p->in.thread)
			continue;
		list[(*n)++] = (struct timed){ .time = acts[i].start };
		list[(*n)++] = (struct timed){ .time = acts[i].end };
	}
	if (timed_sort(list, *n) == 0)
		return list;
	free(list);
	return NULL;
}

static bool is_node(struct path_rows *p, const struct torch_range *r)
{
	const char *name;

	if (r->scope == TORCH_BACKWARD)
		return true;
	name = model_string(p->m, r->name);
	return strncmp(name, TORCH_EVALUATE, sizeof TORCH_EVALUATE - 1) == 0 || strcmp(name, "torch::autograd::AccumulateGrad") == 0;
}

struct turns {
	struct timed *list;             /* boundaries() */
	size_t n;
	size_t first;                   /* first wait of the current pause */
	struct map of;                  /* thread -> the last wait for it */
};

/* If a range of another thread lies in a pause of the span's thread, the span's thread waited for it. */
static void put_turn(struct path_rows *p, struct turns *t, const struct torch_range *r)
{
	const struct timed *list = t->list;
	size_t low = 0, high = t->n, n_waits = PATH_COUNT(p->waits, struct path_wait);
	struct path_wait *waits;
	uint32_t *at;
	bool new;
	struct path_wait w = { .what = FOR_THREAD, .thread = p->in.thread, .begun = r->start, .done = r->end };

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list[mid].time <= r->start)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || low == t->n || r->end > list[low].time)
		return;
	w.start = list[low - 1].time;
	w.end = list[low].time;
	w.of = path_thread_of(p, r->process, r->thread);
	waits = PATH_LIST(p->waits, struct path_wait);
	if (!n_waits || waits[n_waits - 1].start != w.start)
		t->first = n_waits;
	at = map_put(&t->of, w.of, (uint32_t)n_waits, &new);
	if (!at) {
		p->oom = true;
		return;
	}
	if (!new && *at - 1 >= t->first) {
		waits[*at - 1].done = r->end > waits[*at - 1].done ? r->end : waits[*at - 1].done;
		return;
	}
	*at = (uint32_t)n_waits + 1;
	buf_put(&p->waits, &w, sizeof w);
}

static int add_turns(struct path_rows *p)
{
	uint32_t thread = PATH_LIST(p->threads, struct path_thread)[p->in.thread].thread;
	const struct torch_ranges *t;
	struct turns turns = { .list = NULL };

	if (!model_has_torch(p->m))
		return 0;
	t = model_torch(p->m);
	turns.list = t ? boundaries(p, &turns.n) : NULL;
	if (!turns.list)
		return -1;
	for (size_t i = 0; i < t->n; i++) {
		const struct torch_range *r = &t->list[i];

		if (r->process == p->process && r->thread != thread && r->start >= p->in.start && r->end <= p->in.end && is_node(p, r))
			put_turn(p, &turns, r);
	}
	free(turns.list);
	map_release(&turns.of);
	return 0;
}

/* ---- batches of other processes ---- */

#define LOADER "enumerate(DataLoader)#_MultiProcessing"

static int add_loaders(struct path_rows *p)
{
	const struct path_act *acts = PATH_LIST(p->acts, struct path_act);
	const uint32_t *name = MODEL_U32(p->m, range, name);

	if (!name)
		return -1;
	for (size_t i = 0; i < PATH_COUNT(p->acts, struct path_act); i++) {
		const struct path_loader l = { acts[i].start, acts[i].end };

		if (acts[i].thread == p->in.thread && !(acts[i].what & PATH_CALL) &&
		    strncmp(model_string(p->m, name[acts[i].what]), LOADER, sizeof LOADER - 1) == 0) {
			buf_put(&p->batches, &l, sizeof l);
			spans_add(&p->loaders, l.start, l.end);
		}
	}
	return p->batches.oom || spans_union(&p->loaders) < 0 ? -1 : 0;
}

/* Assumes that a batch was made by the worker with the last activity before the fetch ended; the real worker is not recorded. */
static void put_batch(struct path_rows *p, const struct timed *ends, size_t n_ends, const struct path_loader *l)
{
	const struct path_thread *threads = PATH_LIST(p->threads, struct path_thread);
	struct path_wait w = { .what = FOR_THREAD, .thread = p->in.thread, .start = l->start, .end = l->end };
	const struct path_act *last;
	const struct process *list;
	size_t low = 0, high = n_ends;
	uint32_t n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ends[mid].time <= l->end)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return;
	last = &PATH_LIST(p->acts, struct path_act)[ends[low - 1].row];
	list = model_processes(p->m, &n);
	w.of = last->thread;
	w.done = last->end;
	w.begun = list[threads[last->thread].process].start;
	buf_put(&p->waits, &w, sizeof w);
}

/* Sorts the workers' activities by end (of equal ends only the first is kept) and adds a wait for each fetch. */
static int add_batches(struct path_rows *p)
{
	const struct path_act *acts = PATH_LIST(p->acts, struct path_act);
	const struct path_thread *threads = PATH_LIST(p->threads, struct path_thread);
	size_t n_acts = PATH_COUNT(p->acts, struct path_act), n = 0, kept = 0;
	struct timed *ends = malloc((n_acts + 1) * sizeof *ends);

	for (size_t i = 0; ends && i < n_acts; i++)
		if (threads[acts[i].thread].process != p->process)
			ends[n++] = (struct timed){ .time = acts[i].end, .row = (uint32_t)i };
	if (!ends || timed_sort(ends, n) < 0) {
		free(ends);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (!kept || ends[kept - 1].time != ends[i].time)
			ends[kept++] = ends[i];
	for (size_t i = 0; i < PATH_COUNT(p->batches, struct path_loader); i++)
		put_batch(p, ends, kept, &PATH_LIST(p->batches, struct path_loader)[i]);
	free(ends);
	return 0;
}

int path_add_host(struct path_rows *p)
{
	if (add_calls(p) < 0 || add_ranges(p) < 0 || p->oom || p->acts.oom || add_turns(p) < 0 || add_loaders(p) < 0)
		return -1;
	for (size_t i = 0; i < PATH_COUNT(p->threads, struct path_thread); i++)
		p->n_workers += PATH_LIST(p->threads, struct path_thread)[i].process != p->process;
	if (p->n_workers && add_batches(p) < 0)
		return -1;
	return p->oom || p->waits.oom ? -1 : 0;
}
