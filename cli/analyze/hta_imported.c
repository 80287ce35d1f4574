/*
 * Imported Kineto files event by event, as HTA read them: what imported rows tell of each, and its own row, and of its
 * arguments those that have no place in that row.
 */
#include "cli/analyze/hta.h"
#include "cli/model/model.h"
#include "cli/model/process.h"

#include <stdlib.h>

/* The kinds that events became, and their columns; NULL where a kind has none. */
enum { RANGE, API, KERNEL, COPY, SET, WAIT, OVERHEAD, GPU_RANGE, KINDS };

struct kind_columns {
	unsigned kind;
	size_t n, next, first;          /* rows of all; the next of this process; of the process after it */
	const int64_t *start, *duration;
	const uint32_t *thread, *corr, *device, *stream, *context;
};

/* What arguments are to HTA. */
enum arg_use { ARG_UNKNOWN, ARG_NONE, ARG_BANDWIDTH, ARG_STREAM, ARG_CORRELATION, ARG_WAIT_STREAM, ARG_WAIT_EVENT, ARG_DURATION,
	ARG_TID, ARG_PID };

#define NEAR 64u

struct file {
	struct hta *h;
	struct model *m;
	struct hta_rank *rank;
	struct kind_columns kinds[KINDS];
	uint8_t kind_at[ROW_KINDS];     /* record kind -> position + 1 */
	const uint64_t *index, *arg_index, *arg_bits;
	const uint32_t *name, *category, *kind, *flags, *process;
	const uint32_t *arg_key, *arg_type, *arg_text, *arg_process;
	size_t n_args, arg;             /* arg: the next one */
	struct map arg_uses;            /* string id -> enum arg_use */
	struct map categories;          /* string id -> enum hta_category */
	struct { uint32_t string; uint8_t value; } near_uses[NEAR], near_categories[NEAR];      /* the last of each slot */
	const struct thread *thread;    /* the last one met, and whose it was */
	uint32_t thread_process, thread_id;
	int64_t base;                   /* added to all times of the file */
	uint32_t pid;
};

static bool kind_read(struct file *f, unsigned at, unsigned kind, const int *fields)
{
	struct kind_columns *c = &f->kinds[at];
	const uint32_t **optional[] = { &c->thread, &c->corr, &c->device, &c->stream, &c->context };

	c->kind = kind;
	f->kind_at[kind] = (uint8_t)(at + 1);
	c->start = model_column(f->m, kind, (unsigned)fields[0]);
	c->duration = model_column(f->m, kind, (unsigned)fields[1]);
	for (unsigned i = 0; i < 5; i++)
		if (fields[2 + i] >= 0 && !(*optional[i] = model_column(f->m, kind, (unsigned)fields[2 + i])))
			return false;
	c->n = model_rows(f->m, kind);
	return c->start && c->duration;
}

#define HAS(rec, member) COL_##rec##_##member
#define KIND(at, rec, thread, corr, device, stream, context)                                                            \
	kind_read(f, at, ROW_##rec, (const int[]){ HAS(rec, start), HAS(rec, duration), thread, corr, device, stream, context })

static bool columns_read(struct file *f)
{
	struct model *m = f->m;

	return KIND(RANGE, range, HAS(range, thread), -1, -1, -1, -1) &&
	       KIND(API, api, HAS(api, thread), HAS(api, corr), -1, -1, -1) &&
	       KIND(KERNEL, kernel, -1, HAS(kernel, corr), HAS(kernel, device), HAS(kernel, stream), -1) &&
	       KIND(COPY, memcpy, -1, HAS(memcpy, corr), HAS(memcpy, device), HAS(memcpy, stream), -1) &&
	       KIND(SET, memset, -1, HAS(memset, corr), HAS(memset, device), HAS(memset, stream), -1) &&
	       KIND(WAIT, sync, -1, HAS(sync, corr), -1, HAS(sync, stream), HAS(sync, context)) &&
	       KIND(OVERHEAD, overhead, -1, -1, -1, -1, -1) &&
	       KIND(GPU_RANGE, gpu_range, -1, -1, HAS(gpu_range, device), HAS(gpu_range, stream), -1) &&
	       (f->index = MODEL_U64(m, imported, index)) && (f->name = MODEL_U32(m, imported, name)) &&
	       (f->category = MODEL_U32(m, imported, category)) && (f->kind = MODEL_U32(m, imported, kind)) &&
	       (f->flags = MODEL_U32(m, imported, flags)) && (f->process = model_row_process(m, ROW_imported)) &&
	       (f->arg_index = MODEL_U64(m, imported_arg, index)) && (f->arg_bits = MODEL_U64(m, imported_arg, bits)) &&
	       (f->arg_key = MODEL_U32(m, imported_arg, key)) && (f->arg_text = MODEL_U32(m, imported_arg, text)) && (f->arg_type = MODEL_U32(m, imported_arg, type)) &&
	       (f->arg_process = model_row_process(m, ROW_imported_arg));
}

/* ---- arguments ---- */

static enum arg_use use_of_word(const char *key)
{
	static const struct { const char *key; enum arg_use use; } all[] = {
		{ "memory bandwidth (GB/s)", ARG_BANDWIDTH }, { "stream", ARG_STREAM }, { "correlation", ARG_CORRELATION },
		{ "wait_on_stream", ARG_WAIT_STREAM }, { "wait_on_cuda_event_record_corr_id", ARG_WAIT_EVENT },
		{ "dur", ARG_DURATION }, { "tid", ARG_TID }, { "pid", ARG_PID },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(key, all[i].key) == 0)
			return all[i].use;
	return ARG_NONE;
}

static enum arg_use use_of(struct file *f, uint32_t key)
{
	bool new = false;
	uint32_t *at;

	if (f->near_uses[key % NEAR].string == key && f->near_uses[key % NEAR].value)
		return f->near_uses[key % NEAR].value;
	at = map_put(&f->arg_uses, key, ARG_UNKNOWN, &new);
	if (!at) {
		f->h->oom = true;
		return ARG_NONE;
	}
	if (new)
		*at = use_of_word(model_string(f->m, key)) + 1;
	f->near_uses[key % NEAR].string = key;
	f->near_uses[key % NEAR].value = (uint8_t)(*at - 1);
	return *at - 1;
}

static void take_arg(struct file *f, struct hta_row *r, size_t i)
{
	bool whole = f->arg_type[i] == ARG_WHOLE;
	int64_t value = (int64_t)f->arg_bits[i];
	double real;

	memcpy(&real, &f->arg_bits[i], sizeof real);
	if (f->arg_type[i] == ARG_TEXT && use_of(f, f->arg_key[i]) == ARG_TID)
		r->tid_text = hta_name_of(f->h, f->m, f->arg_text[i]);
	if (!whole && f->arg_type[i] != ARG_DOUBLE)
		return;
	switch (use_of(f, f->arg_key[i])) {
	case ARG_BANDWIDTH:
		if (r->category != HTA_SYNC)
			r->bandwidth = whole ? (double)value : real;
		break;
	case ARG_STREAM:
		r->stream = whole ? value : (int64_t)real;
		break;
	case ARG_CORRELATION:
		r->corr = whole ? value : (int64_t)real;
		break;
	case ARG_WAIT_STREAM:
		if (r->category == HTA_SYNC && whole)
			r->wait_stream = (uint32_t)value;
		break;
	case ARG_WAIT_EVENT:
		if (r->category == HTA_SYNC && whole)
			r->wait_corr = (uint32_t)value;
		break;
	case ARG_PID:
		r->pid = whole ? value : r->pid;
		break;
	case ARG_TID:
		r->tid = whole ? value : r->tid;
		break;
	case ARG_DURATION:
		r->dur = whole ? value : r->dur;
		break;
	default:
		break;
	}
}

/* Those of one event; they stand in the order of events. */
static void take_args(struct file *f, struct hta_row *r, uint32_t process, uint64_t index)
{
	while (f->arg < f->n_args && (f->arg_process[f->arg] < process ||
				      (f->arg_process[f->arg] == process && f->arg_index[f->arg] < index)))
		f->arg++;
	for (; f->arg < f->n_args && f->arg_process[f->arg] == process && f->arg_index[f->arg] == index; f->arg++)
		if (r)
			take_arg(f, r, f->arg);
}

/* ---- events ---- */

static enum hta_category category_of(struct file *f, uint32_t string)
{
	bool new = false;
	uint32_t *at;

	if (f->near_categories[string % NEAR].string == string && f->near_categories[string % NEAR].value)
		return f->near_categories[string % NEAR].value;
	at = map_put(&f->categories, string, 0, &new);
	if (!at) {
		f->h->oom = true;
		return HTA_OTHER_CATEGORY;
	}
	if (new)
		*at = hta_category_of(model_string(f->m, string)) + 1;
	f->near_categories[string % NEAR].string = string;
	f->near_categories[string % NEAR].value = (uint8_t)(*at - 1);
	return *at - 1;
}

static const struct thread *thread_of(struct file *f, uint32_t process, uint32_t id)
{
	if (!f->thread || f->thread_process != process || f->thread_id != id) {
		f->thread = model_thread(f->m, process, id);
		f->thread_process = process;
		f->thread_id = id;
	}
	return f->thread;
}

/* pid and tid as Kineto has them: of a process and its thread, of a device and a stream. */
static void place(struct file *f, struct hta_row *r, const struct kind_columns *c, size_t row, uint32_t process,
		  uint32_t flags)
{
	const struct thread *t = c->thread ? thread_of(f, process, c->thread[row]) : NULL;
	const struct context_row *context = c->context ? model_context(f->m, process, c->context[row]) : NULL;

	r->pid = c->device ? c->device[row] : context ? context->device : c->context ? 0 : f->pid;
	r->tid = c->stream ? c->stream[row] : t ? t->row.tid : 0;
	if (c->stream && flags & IMPORTED_STREAM)
		r->stream = c->stream[row];
	if (c->corr && flags & IMPORTED_CORRELATION)
		r->corr = c->corr[row];
}

/* HTA reads what has a length and a category, but for the profiler's own span. */
static void take_event(struct file *f, size_t i)
{
	uint32_t kind = f->kind[i] < ROW_KINDS ? f->kind_at[f->kind[i]] : 0;
	struct kind_columns *c = kind ? &f->kinds[kind - 1] : NULL;
	size_t row = c ? c->next++ : 0;
	struct hta_row *r = NULL;

	if (c && row < c->first && f->category[i] && !(f->flags[i] & IMPORTED_ENDLESS))
		r = hta_add_row(f->h, f->rank);
	if (r) {
		*r = (struct hta_row){
			.ts = time_sub(c->start[row], f->base), .dur = c->duration[row], .stream = -1, .corr = -1,
			.index = (uint32_t)f->index[i], .name = hta_name_of(f->h, f->m, f->name[i]),
			.tid_text = UINT32_MAX, .category = (uint8_t)category_of(f, f->category[i]),
		};
		if (r->category == HTA_SYNC)
			r->wait_stream = r->wait_corr = UINT32_MAX;
		place(f, r, c, row, f->process[i], f->flags[i]);
	}
	take_args(f, r, f->process[i], f->index[i]);
}

/* A file's events stand by process; HTA has them as they come. */
static int by_index(const void *a, const void *b)
{
	const struct hta_row *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static void in_file_order(struct hta_rank *r)
{
	for (size_t i = 1; i < r->n; i++)
		if (r->rows[i].index < r->rows[i - 1].index) {
			qsort(r->rows, r->n, sizeof *r->rows, by_index);
			return;
		}
}

static const char *attribute(const struct process *p, const char *key)
{
	const char *value = process_attribute(p, key);

	return value ? value : "";
}

/* The processes of one file stand together. */
static void begin_process(struct file *f, const struct process *processes, uint32_t process, uint32_t before)
{
	const struct process *p = &processes[process];
	int64_t rank = hta_rank_of(f->m, process);

	if (!f->rank || strcmp(attribute(p, "imported.file"), attribute(&processes[before], "imported.file")) != 0) {
		f->rank = hta_add_rank(f->h, model_process_rows(f->m, ROW_imported, process));
		if (!f->rank)
			return;
		f->rank->fractional = strcmp(attribute(p, "imported.fraction"), "1") == 0;
	}
	if (rank >= 0)
		f->rank->rank = rank;
	f->base = strtoll(attribute(p, "imported.base"), NULL, 10);
	f->pid = p->pid;
}

/* Positions of a process's rows of each kind: behind those of all before it. */
static void begin_kinds(struct file *f, uint32_t *done, uint32_t process)
{
	for (; *done <= process; ++*done)
		for (unsigned k = 0; k < KINDS; k++) {
			f->kinds[k].next = f->kinds[k].first;
			f->kinds[k].first += model_process_rows(f->m, f->kinds[k].kind, *done);
		}
}

int hta_imported_rows(struct hta *h, struct model *m)
{
	struct file f = { .h = h, .m = m };
	size_t first_rank = h->n_ranks, n;
	uint32_t n_processes, before = 0, done = 0;
	const struct process *processes = model_processes(m, &n_processes);
	bool read = columns_read(&f);

	n = read ? model_rows(m, ROW_imported) : 0;
	f.n_args = read ? model_rows(m, ROW_imported_arg) : 0;
	for (size_t i = 0; i < n && !h->oom; i++) {
		if (i == 0 || f.process[i] != before) {
			begin_process(&f, processes, f.process[i], before);
			begin_kinds(&f, &done, f.process[i]);
			before = f.process[i];
		}
		if (f.rank)
			take_event(&f, i);
	}
	map_release(&f.arg_uses);
	map_release(&f.categories);
	for (size_t k = first_rank; k < h->n_ranks; k++)
		in_file_order(&h->ranks[k]);
	return read && !h->oom ? 0 : -1;
}
