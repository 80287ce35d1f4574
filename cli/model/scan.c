/* Decodes chunks to columns, on two threads if there are many rows. */
#include "cli/model/inside.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROWS_FOR_TWO 100000u    /* below this, starting a second thread costs more than it saves */
#define HUGE_PAGE    (2u << 20)

/* Work on the parts of one kind; each worker takes the next part until all are done. */
struct scan_job {
	struct model *m;
	struct kind *kind;
	const struct record *record;
	size_t next;                    /* next part; atomic */
	bool failed, all;               /* all: include rows that a selection leaves out */
	int (*part)(struct scan_job *w, struct part *p, void *state);
	const unsigned *fields;
	size_t n_fields;
	int (*fn)(const struct batch *b, void *state);
	char *into;                     /* column being filled */
};

struct worker {
	struct scan_job *work;
	void *state;
	struct scratch *scratch;
};

/* Memory of one worker for the columns of a chunk. */
struct scratch {
	void *data[MODEL_FIELDS];
	size_t cap[MODEL_FIELDS];
};

static __thread struct scratch *own_scratch;

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct scan_job *work = w->work;
	struct scratch scratch = { { 0 }, { 0 } };

	own_scratch = &scratch;
	for (;;) {
		size_t i = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);

		if (i >= work->kind->n_parts || __atomic_load_n(&work->failed, __ATOMIC_RELAXED))
			break;
		if (work->part(work, &work->kind->parts[i], w->state) < 0)
			__atomic_store_n(&work->failed, true, __ATOMIC_RELAXED);
	}
	for (size_t i = 0; i < MODEL_FIELDS; i++)
		free(scratch.data[i]);
	own_scratch = NULL;
	return NULL;
}

static int work_run(struct scan_job *work, void *const states[MODEL_WORKERS])
{
	struct worker workers[MODEL_WORKERS];
	pthread_t threads[MODEL_WORKERS];
	size_t n = work->kind->n_parts > 1 && work->kind->n_rows >= ROWS_FOR_TWO && sysconf(_SC_NPROCESSORS_ONLN) > 1
			   ? MODEL_WORKERS
			   : 1;
	size_t started = 1;

	for (size_t i = 0; i < n; i++)
		workers[i] = (struct worker){ .work = work, .state = states ? states[i] : NULL };
	while (started < n && pthread_create(&threads[started], NULL, worker_main, &workers[started]) == 0)
		started++;
	worker_main(&workers[0]);
	while (--started > 0)
		pthread_join(threads[started], NULL);
	return work->failed ? -1 : 0;
}

void *column_memory(size_t bytes)
{
	void *p;

	if (bytes < 2 * HUGE_PAGE)
		return malloc(bytes ? bytes : 1);
	if (posix_memalign(&p, HUGE_PAGE, bytes))
		return NULL;
	madvise(p, bytes, MADV_HUGEPAGE);       /* one page fault per 2 MiB, not per 4 KiB */
	return p;
}

/* Replaces string ids of the file by the model's. */
static void map_strings(const struct model *m, uint32_t process, uint32_t *ids, size_t n)
{
	const struct string_ids *map = &m->strings.ids[process];

	for (size_t i = 0; i < n; i++)
		ids[i] = ids[i] < map->n ? map->dense[ids[i]] : string_id(m, process, ids[i]);
}

static int decode(struct scan_job *w, struct part *p, unsigned f, void *out)
{
	if (trace_column(&w->m->trace, p->chunk, f, out) < 0)
		return -1;
	if (w->record->fields[f].unit == UNIT_STRING)
		map_strings(w->m, p->process, out, p->chunk->head.rows);
	return 0;
}

/* Moves the rows that the model has to the front. */
static void compact(const struct part *p, void *column, size_t width)
{
	uint64_t *wide = column;
	uint32_t *narrow = column;
	size_t to = 0;

	for (size_t i = 0, n = p->chunk->head.rows; i < n; i++) {
		if (width == 8)
			wide[to] = wide[i];
		else
			narrow[to] = narrow[i];
		to += p->keep[i];
	}
}

/* ---- whole columns ---- */

/* Decodes a part with unselected rows into scratch memory and copies the selected rows to the column. */
static int kept_into_column(struct scan_job *w, struct part *p, size_t width, char *out)
{
	char *all = malloc(p->chunk->head.rows * width + 1);

	if (!all)
		return -1;
	if (decode(w, p, w->fields[0], all) < 0) {
		memset(out, 0, p->rows * width);
	} else {
		compact(p, all, width);
		memcpy(out, all, p->rows * width);
	}
	free(all);
	return 0;
}

static int part_into_column(struct scan_job *w, struct part *p, void *state)
{
	size_t width = w->record->fields[w->fields[0]].size;
	char *out = w->into + p->first * width;

	(void)state;
	if (p->keep)
		return p->rows ? kept_into_column(w, p, width, out) : 0;
	/* The checksum is right, but the column cannot be decoded: a fault of the writer.  model_damage() lists it. */
	if (decode(w, p, w->fields[0], out) < 0)
		memset(out, 0, p->chunk->head.rows * width);
	return 0;
}

static void number_rows(struct kind *kind)
{
	size_t kept = 0;

	kind->n_rows = 0;
	for (size_t i = 0; i < kind->n_parts; i++) {
		struct part p = kind->parts[i];

		if (p.chunk->bad)
			continue;
		p.first = kind->n_rows;
		kind->n_rows += p.rows;
		kind->parts[kept++] = p;
	}
	kind->n_parts = kept;
}

static void *read_column(struct model *m, struct kind *kind, const struct record *r, unsigned field)
{
	struct scan_job w = {
		.m = m, .kind = kind, .record = r, .part = part_into_column, .fields = &field, .n_fields = 1,
		.into = column_memory(kind->n_rows * r->fields[field].size),
	};

	if (w.into && work_run(&w, NULL) < 0) {
		free(w.into);
		return NULL;
	}
	return w.into;
}

/* Reads field 0 to check every chunk's checksum, removes damaged chunks and reads field 0 again. */
int kind_read(struct model *m, unsigned k)
{
	struct kind *kind = &m->kinds[k];
	const struct record *r = record_by_kind(k);
	size_t before;

	kind->read |= !kind->n_parts;
	if (kind->read || !r)
		return 0;
	if (!kind->columns && !(kind->columns = calloc(MAX_COLUMNS, sizeof *kind->columns)))
		return -1;
	if (r->fields[0].unit == UNIT_STRING && strings_load(m) < 0)
		return -1;
	do {
		free(kind->columns[0]);
		number_rows(kind);
		before = kind->n_parts;
		kind->columns[0] = read_column(m, kind, r, 0);
		if (!kind->columns[0])
			return -1;
		number_rows(kind);
	} while (kind->n_parts != before);
	kind->read = true;
	return 0;
}

const void *model_column(struct model *m, unsigned k, unsigned field)
{
	static const uint64_t nothing[1];
	const struct record *r = record_by_kind(k);
	struct kind *kind = &m->kinds[k];

	if (!r || field >= r->n_fields || field >= MAX_COLUMNS)
		return NULL;
	if (kind_read(m, k) < 0)
		return NULL;
	if (!kind->n_rows)
		return nothing;
	if (!kind->columns[field]) {
		if (r->fields[field].unit == UNIT_STRING && strings_load(m) < 0)
			return NULL;
		kind->columns[field] = read_column(m, kind, r, field);
	}
	return kind->columns[field];
}

const uint32_t *model_row_process(struct model *m, unsigned k)
{
	struct kind *kind = &m->kinds[k];

	if (kind_read(m, k) < 0)
		return NULL;
	if (!kind->process && (kind->process = column_memory(kind->n_rows * sizeof *kind->process)))
		for (size_t i = 0; i < kind->n_parts; i++)
			for (size_t row = 0; row < kind->parts[i].rows; row++)
				kind->process[kind->parts[i].first + row] = kind->parts[i].process;
	return kind->process;
}

/* ---- passes ---- */

static void *scratch_column(size_t i, size_t bytes)
{
	struct scratch *s = own_scratch;

	if (s->cap[i] < bytes) {
		free(s->data[i]);
		s->data[i] = malloc(bytes);
		s->cap[i] = s->data[i] ? bytes : 0;
	}
	return s->data[i];
}

static bool has_zero(const void *column, size_t n, size_t width)
{
	const uint32_t *narrow = column;
	const uint64_t *wide = column;

	for (size_t i = 0; i < n; i++)
		if (width == 8 ? !wide[i] : !narrow[i])
			return true;
	return false;
}

static int part_into_batch(struct scan_job *w, struct part *p, void *state)
{
	bool all = w->all || !p->keep;
	struct batch b = { .process = p->process, .n = all ? p->chunk->head.rows : p->rows };

	if (!b.n)
		return 0;
	for (size_t i = 0; i < w->n_fields; i++) {
		unsigned f = w->fields[i] & ~MODEL_IF_ZERO;
		void *out;

		if (f == MODEL_SKIP)
			continue;
		if (w->fields[i] != f && !has_zero(b.column[i - 1], b.n, w->record->fields[w->fields[i - 1]].size))
			continue;
		out = scratch_column(i, p->chunk->head.rows * w->record->fields[f].size);
		if (!out)
			return -1;
		if (decode(w, p, f, out) < 0)
			return 0;       /* damaged: model_damage() lists it */
		if (!all)
			compact(p, out, w->record->fields[f].size);
		b.column[i] = out;
	}
	return w->fn(&b, state);
}

static int scan(struct model *m, unsigned k, struct scan_job w, void *const states[MODEL_WORKERS])
{
	w.m = m;
	w.kind = &m->kinds[k];
	w.record = record_by_kind(k);
	w.part = part_into_batch;
	if (!w.record || !w.kind->n_parts)
		return 0;
	if (strings_load(m) < 0)
		return -1;
	return work_run(&w, states);
}

int model_scan(struct model *m, unsigned k, const unsigned *fields, size_t n_fields,
	       int (*fn)(const struct batch *b, void *state), void *const states[MODEL_WORKERS])
{
	return scan(m, k, (struct scan_job){ .fields = fields, .n_fields = n_fields, .fn = fn }, states);
}

int model_scan_all(struct model *m, unsigned k, const unsigned *fields, size_t n_fields,
		   int (*fn)(const struct batch *b, void *state), void *const states[MODEL_WORKERS])
{
	return scan(m, k, (struct scan_job){ .fields = fields, .n_fields = n_fields, .fn = fn, .all = true }, states);
}
