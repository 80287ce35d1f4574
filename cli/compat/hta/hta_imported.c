/*
 * Events of imported Kineto files, as HTA reads them.  An event is put together from its imported row, from the row that it became, and
 * from its imported_arg rows.
 */
#include "cli/compat/hta/hta.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/rows.h"

#include <stdlib.h>

/* The kinds of rows that events become, and the offsets of their fields; start and duration come first in all of them. */
#define NONE (-1)
#define AT(rec, member) ((int)offsetof(struct rec##_row, member))
static const struct kind_fields {
	unsigned kind;
	int thread, corr, device, stream;
} kinds[] = {
	{ ROW_range, AT(range, thread), NONE, NONE, NONE },
	{ ROW_api, AT(api, thread), AT(api, corr), NONE, NONE },
	{ ROW_kernel, NONE, AT(kernel, corr), AT(kernel, device), AT(kernel, stream) },
	{ ROW_memcpy, NONE, AT(memcpy, corr), AT(memcpy, device), AT(memcpy, stream) },
	{ ROW_memset, NONE, AT(memset, corr), AT(memset, device), AT(memset, stream) },
	{ ROW_sync, NONE, AT(sync, corr), NONE, AT(sync, stream) },
	{ ROW_overhead, NONE, NONE, NONE, NONE },
	{ ROW_gpu_range, NONE, NONE, AT(gpu_range, device), AT(gpu_range, stream) },
};
#define KINDS (sizeof kinds / sizeof *kinds)

#define STARTS_SPAN(rec) _Static_assert(offsetof(struct rec##_row, start) == 0 && offsetof(struct rec##_row, duration) == 8, #rec)
STARTS_SPAN(range);
STARTS_SPAN(api);
STARTS_SPAN(kernel);
STARTS_SPAN(memcpy);
STARTS_SPAN(memset);
STARTS_SPAN(sync);
STARTS_SPAN(overhead);
STARTS_SPAN(gpu_range);

/* The use that HTA makes of an argument. */
enum arg_use { ARG_UNKNOWN, ARG_NONE, ARG_BANDWIDTH, ARG_STREAM, ARG_CORRELATION, ARG_WAIT_STREAM, ARG_WAIT_EVENT, ARG_DURATION,
	ARG_TID, ARG_PID };

#define NEAR 64u

struct hta_file {
	struct hta *h;
	struct model *m;
	struct hta_rank *rank;
	uint8_t kind_at[ROW_KINDS];     /* record kind -> position in kinds + 1 */
	struct rows rows[KINDS];        /* rows of the process */
	struct rows args;
	const struct imported_arg_row *arg;     /* the next argument; NULL: none */
	struct map arg_uses;            /* string id -> enum arg_use */
	struct map categories;          /* string id -> enum hta_category */
	struct { uint32_t string; uint8_t value; } near_uses[NEAR], near_categories[NEAR];      /* caches, by string id modulo NEAR */
	struct { struct hta_place place; uint32_t at; bool known; } near_places[KINDS];         /* the last place of each kind */
	const struct thread *thread;    /* result of the last thread_of() */
	uint32_t thread_id;
	int64_t base;                   /* ns; was added to the file's times by the import */
	uint32_t process, pid;
};

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

static enum arg_use use_of(struct hta_file *f, uint32_t key)
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

/* The event being read. */
struct hta_event {
	struct hta_row *row;
	struct hta_place place;
};

static void take_arg(struct hta_file *f, struct hta_event *e, const struct imported_arg_row *arg)
{
	bool whole = arg->type == ARG_WHOLE;
	int64_t value = (int64_t)arg->bits;
	enum arg_use use = use_of(f, rows_string(&f->args, arg->key));
	struct hta_row *r = e->row;
	union hta_extra *extra;
	double real;

	if (use == ARG_NONE)
		return;
	if (arg->type == ARG_TEXT && use == ARG_TID)
		e->place.tid_text = hta_name_of(f->h, f->m, rows_string(&f->args, arg->text));
	if (arg->type == ARG_TEXT && use == ARG_PID)
		e->place.pid = HTA_TEXT_PID | hta_name_of(f->h, f->m, rows_string(&f->args, arg->text));
	if (!whole && arg->type != ARG_DOUBLE)
		return;
	memcpy(&real, &arg->bits, sizeof real);
	switch (use) {
	case ARG_BANDWIDTH:
		if (r->category != HTA_SYNC && (extra = hta_own_extra(f->h, f->rank, r)))
			extra->bandwidth = whole ? (double)value : real;
		break;
	case ARG_STREAM:
		e->place.stream = whole ? value : (int64_t)real;
		break;
	case ARG_CORRELATION:
		r->corr = whole ? value : (int64_t)real;
		break;
	case ARG_WAIT_STREAM:
		if (r->category == HTA_SYNC && whole && (extra = hta_own_extra(f->h, f->rank, r)))
			extra->wait_stream = (uint32_t)value;
		break;
	case ARG_WAIT_EVENT:
		if (r->category == HTA_SYNC && whole && (extra = hta_own_extra(f->h, f->rank, r)))
			extra->wait_corr = (uint32_t)value;
		break;
	case ARG_PID:
		e->place.pid = whole ? value : e->place.pid;
		break;
	case ARG_TID:
		e->place.tid = whole ? value : e->place.tid;
		break;
	case ARG_DURATION:
		r->dur = whole ? value : r->dur;
		break;
	default:
		break;
	}
}

/* Reads the arguments up to those of the event with this index; arguments are sorted by index.  e NULL: skips them. */
static void take_args(struct hta_file *f, struct hta_event *e, uint64_t index)
{
	for (; f->arg && f->arg->index <= index; f->arg = rows_next(&f->args))
		if (e && f->arg->index == index)
			take_arg(f, e, f->arg);
}

/* ---- events ---- */

static enum hta_category category_of(struct hta_file *f, uint32_t string)
{
	bool new = false;
	uint32_t *at;

	if (f->near_categories[string % NEAR].string == string && f->near_categories[string % NEAR].value)
		return f->near_categories[string % NEAR].value - 1;
	at = map_put(&f->categories, string, 0, &new);
	if (!at) {
		f->h->oom = true;
		return HTA_OTHER_CATEGORY;
	}
	if (new)
		*at = hta_category_of(model_string(f->m, string)) + 1;
	f->near_categories[string % NEAR].string = string;
	f->near_categories[string % NEAR].value = (uint8_t)*at;
	return *at - 1;
}

static const struct thread *thread_of(struct hta_file *f, uint32_t id)
{
	if (!f->thread || f->thread_id != id) {
		f->thread = model_thread(f->m, f->process, id);
		f->thread_id = id;
	}
	return f->thread;
}

static uint32_t field_at(const char *row, int offset)
{
	uint32_t value;

	memcpy(&value, row + offset, sizeof value);
	return value;
}

/* Sets pid and tid as in the Kineto file: process and thread, or device and stream. */
static void place(struct hta_file *f, struct hta_event *e, const struct kind_fields *k, const char *row, uint32_t flags)
{
	const struct thread *t = k->thread >= 0 ? thread_of(f, field_at(row, k->thread)) : NULL;

	/* GPU rows without a device field have their pid as an argument, unless it is 0. */
	e->place = (struct hta_place){ k->thread >= 0 ? f->pid : 0, t ? t->row.tid : 0, -1, UINT32_MAX };
	if (k->device >= 0)
		e->place.pid = field_at(row, k->device);
	if (k->stream >= 0)
		e->place.tid = field_at(row, k->stream);
	if (k->stream >= 0 && flags & IMPORTED_STREAM)
		e->place.stream = e->place.tid;
	if (k->corr >= 0 && flags & IMPORTED_CORRELATION)
		e->row->corr = field_at(row, k->corr);
}

/* Sets the place of the row; most rows have the place of the row before of their kind. */
static void settle(struct hta_file *f, const struct hta_event *e, unsigned kind)
{
	if (!f->near_places[kind].known || !hta_same_place(&f->near_places[kind].place, &e->place)) {
		f->near_places[kind].place = e->place;
		f->near_places[kind].at = hta_place_of(f->h, f->rank, &e->place);
		f->near_places[kind].known = true;
	}
	e->row->place = f->near_places[kind].at;
	e->row->on_stream = e->place.stream != -1;
}

/* Adds an event if HTA reads it: it has a duration and a category, and became a row (the profiler's own span became none). */
static void take_event(struct hta_file *f, const struct rows *all, const struct imported_row *i)
{
	uint32_t kind = i->kind < ROW_KINDS ? f->kind_at[i->kind] : 0, category;
	const char *row = kind-- ? rows_next(&f->rows[kind]) : NULL;
	struct hta_event e = { .row = NULL };
	int64_t span[2];

	category = row && !(i->flags & IMPORTED_ENDLESS) ? rows_string(all, i->category) : 0;
	if (category)
		e.row = hta_add_row(f->h, f->rank);
	if (!e.row) {
		take_args(f, NULL, i->index);
		return;
	}
	memcpy(span, row, sizeof span);
	*e.row = (struct hta_row){
		.ts = time_sub(span[0], f->base), .dur = span[1], .corr = -1, .index = (uint32_t)i->index,
		.name = hta_name_of(f->h, f->m, rows_string(all, i->name)), .category = (uint8_t)category_of(f, category),
	};
	if (e.row->category == HTA_SYNC)
		e.row->extra = HTA_NO_WAIT;
	place(f, &e, &kinds[kind], row, i->flags);
	take_args(f, &e, i->index);
	settle(f, &e, kind);
}

/* Rows are sorted by process, HTA's events are in file order. */
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

/* Starts a rank unless the process is of the same file as `before`, the last process that had rows (NULL: none).  False: out of memory. */
static bool begin_process(struct hta_file *f, const struct process *p, const struct process *before)
{
	int64_t rank = hta_rank_of(f->m, f->process);

	if (!before || strcmp(attribute(p, "imported.file"), attribute(before, "imported.file")) != 0) {
		f->rank = hta_add_rank(f->h, model_process_rows(f->m, ROW_imported, f->process));
		if (!f->rank)
			return false;
		f->rank->fractional = strcmp(attribute(p, "imported.fraction"), "1") == 0;
		memset(f->near_places, 0, sizeof f->near_places);
	}
	if (rank >= 0)
		f->rank->rank = rank;
	f->base = strtoll(attribute(p, "imported.base"), NULL, 10);
	f->pid = p->pid;
	f->thread = NULL;
	return true;
}

/* Adds the rows of a process.  False: out of memory. */
static bool take_process(struct hta_file *f)
{
	const struct imported_row *row;
	struct rows all;
	bool done;

	rows_begin(&all, f->m, ROW_imported, f->process);
	rows_begin(&f->args, f->m, ROW_imported_arg, f->process);
	for (size_t k = 0; k < KINDS; k++)
		rows_begin(&f->rows[k], f->m, kinds[k].kind, f->process);
	f->arg = rows_next(&f->args);
	while ((row = rows_next(&all)) && !f->h->oom)
		take_event(f, &all, row);
	done = rows_end(&all) == 0;
	done &= rows_end(&f->args) == 0;
	for (size_t k = 0; k < KINDS; k++)
		done &= rows_end(&f->rows[k]) == 0;
	return done && !f->h->oom;
}

int hta_imported_rows(struct hta *h, struct model *m)
{
	struct hta_file f = { .h = h, .m = m };
	size_t first_rank = h->n_ranks;
	uint32_t n;
	const struct process *processes = model_processes(m, &n), *before = NULL;
	bool done = true;

	for (size_t k = 0; k < KINDS; k++)
		f.kind_at[kinds[k].kind] = (uint8_t)(k + 1);
	for (f.process = 0; f.process < n && done; f.process++) {
		if (!model_process_rows(m, ROW_imported, f.process))
			continue;
		done = begin_process(&f, &processes[f.process], before) && take_process(&f);
		before = &processes[f.process];
	}
	map_release(&f.arg_uses);
	map_release(&f.categories);
	for (size_t k = first_rank; k < h->n_ranks; k++)
		in_file_order(&h->ranks[k]);
	return done && !h->oom ? 0 : -1;
}
