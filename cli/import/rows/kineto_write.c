/*
 * Writes the rows of an imported file to a trace, in a file or in memory, one process after the other: times in ns since the
 * epoch, threads by their ordinals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/rows/kineto.h"
#include "trace/file.h"
#include "trace/health.h"
#include "trace/reader.h"
#include "trace/wire.h"

#define CHUNK_ROWS  65536u
#define CHUNK_TAILS (8u << 20)
#define HOST_BUFFERS 7u                 /* buffers of struct host */

struct chunk_writer {
	struct kineto *k;
	const struct kineto_sink *to;
	const struct host *host;
	uint32_t number;                /* process number in the trace */
};

static int write_rows(struct chunk_writer *o, unsigned kind, const void *rows, size_t n, const uint8_t *tails, size_t tail_bytes)
{
	const struct record *r = record_by_kind(kind);

	if (o->to->writer)
		return writer_rows(o->to->writer, o->number, CLOCK_MONO, r, rows, n, tails, tail_bytes, o->k->err);
	return trace_add(o->to->memory, o->number, r, rows, n, tails, tail_bytes) < 0 ? trace_fail(o->k->err, 0, "out of memory") : 0;
}

/* Releases a buffer after its rows were put; a trace in memory takes its memory over. */
static int done(const struct kineto_sink *to, struct buf *b, struct trace_error *err)
{
	if (!to->writer && trace_keep(to->memory, b->data) < 0)
		return trace_fail(err, 0, "out of memory");
	if (to->writer)
		buf_free(b);
	*b = (struct buf){ 0 };
	return 0;
}

/* Puts rows with tails (bytes after each row's fields) and releases both buffers. */
static int put_tailed(struct chunk_writer *o, unsigned kind, struct buf *rows, struct buf *tails)
{
	struct trace_error *err = o->k->err;
	int rc = rows->oom || tails->oom ? trace_fail(err, 0, "out of memory") :
		 write_rows(o, kind, rows->data, rows->len / record_by_kind(kind)->size, tails->data, tails->len);

	if (done(o->to, rows, err) < 0 || done(o->to, tails, err) < 0)
		rc = -1;
	return rc;
}

/* Puts all rows of a kind without tails, in chunks. */
static int put_rows(struct chunk_writer *o, unsigned kind, const struct buf *b)
{
	const struct record *r = record_by_kind(kind);
	size_t n = b->len / r->size;

	for (size_t at = 0; at < n; at += CHUNK_ROWS)
		if (write_rows(o, kind, b->data + at * r->size, n - at < CHUNK_ROWS ? n - at : CHUNK_ROWS, NULL, 0) < 0)
			return -1;
	return 0;
}

static int put_strings(struct chunk_writer *o)
{
	const struct texts *t = &o->k->texts;
	struct buf rows = { 0 }, tails = { 0 };
	int rc = 0;

	for (uint32_t i = 1; i < t->n && rc == 0; i++) {
		struct string_row row = { .id = i, .bytes = t->list[i].n < CHUNK_TAILS ? t->list[i].n : CHUNK_TAILS };

		if (t->list[i].as)      /* the spelling in the file; rows refer to its normalized form */
			continue;
		buf_put(&rows, &row, sizeof row);
		buf_put(&tails, t->list[i].at, row.bytes);
		if (rows.len / sizeof row >= CHUNK_ROWS || tails.len >= CHUNK_TAILS)
			rc = put_tailed(o, ROW_string, &rows, &tails);
	}
	return rc == 0 ? put_tailed(o, ROW_string, &rows, &tails) : -1;
}

static int put_threads(struct chunk_writer *o)
{
	struct kineto *k = o->k;
	struct buf rows = { 0 }, tails = { 0 };
	int rc = 0;

	for (size_t i = 0; i < k->n_threads && rc == 0; i++) {
		const struct host_thread *t = &k->threads[i];
		const struct interned_text *name = t->name ? &k->texts.list[t->name] : NULL; /* without any text, texts.list is NULL */
		struct thread_row row = { .start = t->first, .id = t->ordinal, .tid = t->tid };

		if (&k->hosts[t->host] != o->host || t->first == INT64_MAX)
			continue;
		row.bytes = !name ? 0 : name->n < CHUNK_TAILS ? name->n : CHUNK_TAILS;
		buf_put(&rows, &row, sizeof row);
		buf_put(&tails, name ? name->at : NULL, row.bytes);
		if (rows.len / sizeof row >= CHUNK_ROWS || tails.len >= CHUNK_TAILS)
			rc = put_tailed(o, ROW_thread, &rows, &tails);
	}
	return rc == 0 ? put_tailed(o, ROW_thread, &rows, &tails) : -1;
}

/* ---- attributes ---- */

static void fact(struct buf *rows, struct buf *tails, uint32_t process, const char *text)
{
	struct attribute_row row = { .process = process, .bytes = (uint32_t)strlen(text) };

	buf_put(rows, &row, sizeof row);
	buf_put(tails, text, row.bytes);
}

static int put_facts(struct chunk_writer *o, bool main)
{
	struct kineto *k = o->k;
	struct buf rows = { 0 }, tails = { 0 };
	char text[512];

	snprintf(text, sizeof text, "imported=%s", k->format);
	fact(&rows, &tails, o->number, text);
	snprintf(text, sizeof text, "imported.file=%s", k->file->path);
	fact(&rows, &tails, o->number, text);
	snprintf(text, sizeof text, "imported.base=%lld", (long long)k->base);
	fact(&rows, &tails, o->number, text);
	fact(&rows, &tails, o->number, k->fraction ? "imported.fraction=1" : "imported.fraction=0");
	if (o->host->name) {
		snprintf(text, sizeof text, "name=%s", k->texts.list[o->host->name].at);
		fact(&rows, &tails, o->number, text);
	}
	if (k->file->rank >= 0 && main) {
		snprintf(text, sizeof text, "rank=%lld", (long long)k->file->rank);
		fact(&rows, &tails, o->number, text);
	}
	if (k->file->world >= 0 && main) {
		snprintf(text, sizeof text, "world_size=%lld", (long long)k->file->world);
		fact(&rows, &tails, o->number, text);
	}
	if (k->span_end > k->span_start && main) {
		snprintf(text, sizeof text, "imported.span=%lld %lld", (long long)(k->span_start + k->base),
			 (long long)(k->span_end - k->span_start));
		fact(&rows, &tails, o->number, text);
	}
	for (size_t at = 0; main && at < k->attributes.len; at += strlen((char *)k->attributes.data + at) + 1) {
		const char *one = (char *)k->attributes.data + at;

		fact(&rows, &tails, strncmp(one, "setting.", 8) == 0 ? 0 : o->number, one);     /* settings belong to the session */
	}
	return put_tailed(o, ROW_attribute, &rows, &tails);
}

static int put_health(struct chunk_writer *o)
{
	static const uint32_t reasons[N_IMPORT_COUNTS] = {
		[COUNT_CUT] = HEALTH_import_cut, [COUNT_BROKEN] = HEALTH_import_broken, [COUNT_CATEGORY] = HEALTH_import_category,
		[COUNT_PHASE] = HEALTH_import_phase, [COUNT_TIME] = HEALTH_import_time, [COUNT_NEGATIVE] = HEALTH_import_negative,
		[COUNT_CROSSING] = HEALTH_import_crossing, [COUNT_VALUE] = HEALTH_import_value, [COUNT_QUOTES] = HEALTH_import_quotes,
		[COUNT_TABLE] = HEALTH_import_tables,
	};
	struct buf rows = { 0 }, tails = { 0 };

	for (size_t i = 0; i < N_IMPORT_COUNTS; i++) {
		const struct counted *c = &o->k->counts[i];
		struct health_row row = { .count = c->count, .reason = reasons[i], .bytes = (uint32_t)strlen(c->first) };

		if (!c->count)
			continue;
		buf_put(&rows, &row, sizeof row);
		buf_put(&tails, c->first, row.bytes);
	}
	return put_tailed(o, ROW_health, &rows, &tails);
}

static int put_process(struct chunk_writer *o, bool gpu)
{
	struct kineto *k = o->k;
	struct process_row row = {
		.start = k->first + k->base, .end = k->last + k->base, .number = o->number, .pid = (uint32_t)o->host->pid,
		.host_pid = (uint32_t)o->host->pid,
		.flags = PROCESS_CONNECTED | PROCESS_ENDED | PROCESS_CLEAN | (o->host->api.len || gpu ? PROCESS_CUDA : 0) |
			 (gpu ? PROCESS_CUPTI | PROCESS_KERNELS : 0) | (o->host->range.len ? PROCESS_NVTX : 0),
	};

	struct buf rows = { 0 }, none = { 0 };

	buf_put(&rows, &row, sizeof row);
	return put_tailed(o, ROW_process, &rows, &none);
}

/* ---- times and threads ---- */

/* Adds the base to the start of each row in a buffer; `threads` replaces thread indexes by ordinals. */
#define SETTLE(b, of, threads) do {                                                                     \
	struct of##_row *r = (struct of##_row *)(b)->data;                                              \
	for (size_t i = 0; i < (b)->len / sizeof *r; i++) {                                             \
		r[i].start += base;                                                                     \
		threads;                                                                                \
	}                                                                                               \
} while (0)

#define NO_THREADS (void)0

static void settle(struct kineto *k)
{
	int64_t base = k->base;

	for (size_t n = 0; n < k->n_hosts; n++) {
		struct host *h = &k->hosts[n];

		SETTLE(&h->range, range, (r[i].thread = k->threads[r[i].thread].ordinal,
					  r[i].end_thread = k->threads[r[i].end_thread].ordinal));
		SETTLE(&h->mark, mark, r[i].thread = k->threads[r[i].thread].ordinal);
		SETTLE(&h->api, api, r[i].thread = k->threads[r[i].thread].ordinal);
		SETTLE(&h->alloc, alloc, r[i].thread = k->threads[r[i].thread].ordinal);
		SETTLE(&h->step, step, r[i].thread = k->threads[r[i].thread].ordinal);
		SETTLE(&h->graph_node, graph_node, r[i].thread = k->threads[r[i].thread].ordinal);
	}
	SETTLE(&k->kernel, kernel, NO_THREADS);
	SETTLE(&k->memcpy, memcpy, NO_THREADS);
	SETTLE(&k->memset, memset, NO_THREADS);
	SETTLE(&k->sync, sync, NO_THREADS);
	SETTLE(&k->overhead, overhead, NO_THREADS);
	SETTLE(&k->gpu_range, gpu_range, NO_THREADS);
	SETTLE(&k->graph, graph, NO_THREADS);
	SETTLE(&k->memory, memory, NO_THREADS);
	SETTLE(&k->unified, unified, NO_THREADS);
	SETTLE(&k->sample, sample, r[i].thread = k->threads[r[i].thread].ordinal);
	for (size_t i = 0; i < k->n_threads; i++)
		if (k->threads[i].first != INT64_MAX)
			k->threads[i].first += base;
}

/* ---- rows of each process ---- */

/* Index of the main process, which gets GPU rows without a known process: the one with most calls, else with most ranges. */
static uint32_t main_host(const struct kineto *k)
{
	uint32_t main = 0;

	for (uint32_t i = 1; i < k->n_hosts; i++) {
		const struct host *a = &k->hosts[i], *b = &k->hosts[main];

		if (a->api.len != b->api.len ? a->api.len > b->api.len : a->range.len > b->range.len)
			main = i;
	}
	return main;
}

static int put_packed(struct chunk_writer *o, unsigned kind, const struct buf *rest)
{
	return kineto_put_packed(o->k, o->to->writer, o->number, kind) < 0 ? -1 : put_rows(o, kind, rest);
}

/* Puts the imported rows and arguments of one process; without `several`, all of them. */
static int put_imported(struct chunk_writer *o, uint32_t host, bool main, bool several)
{
	struct kineto *k = o->k;
	const struct imported_row *row = (const struct imported_row *)k->imported.data;
	const struct imported_arg_row *arg = (const struct imported_arg_row *)k->args.data;
	const uint32_t *whose = (const uint32_t *)k->imported_host.data;
	size_t n = k->imported.len / sizeof *row, n_args = k->args.len / sizeof *arg, a = 0;
	struct buf rows = { 0 }, args = { 0 };
	int rc;

	if (!several)
		return put_packed(o, ROW_imported, &k->imported) < 0 || put_packed(o, ROW_imported_arg, &k->args) < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++) {
		bool ours = whose[i] == host || (whose[i] == NO_HOST && main);

		if (ours)
			buf_put(&rows, &row[i], sizeof row[i]);
		for (; a < n_args && arg[a].index <= row[i].index; a++)
			if (ours)
				buf_put(&args, &arg[a], sizeof arg[a]);
	}
	rc = rows.oom || args.oom ? trace_fail(k->err, 0, "out of memory") :
	     put_rows(o, ROW_imported, &rows) < 0 || put_rows(o, ROW_imported_arg, &args) < 0 ? -1 : 0;
	if (done(o->to, &rows, k->err) < 0 || done(o->to, &args, k->err) < 0)
		rc = -1;
	return rc;
}

/* Puts the GPU rows of host `at`; main: also those without a known process. */
static int put_owned(struct chunk_writer *o, uint32_t at, bool main, unsigned kind, const struct buf *from, const struct buf *owners)
{
	const uint32_t *whose = (const uint32_t *)owners->data;
	size_t size = record_by_kind(kind)->size;
	struct buf rows = { 0 };
	int rc;

	if (!o->k->owned)
		return main ? put_rows(o, kind, from) : 0;
	for (size_t i = 0; i < from->len / size; i++)
		if (whose[i] == at || (whose[i] == NO_HOST && main))
			buf_put(&rows, from->data + i * size, size);
	rc = rows.oom ? trace_fail(o->k->err, 0, "out of memory") : put_rows(o, kind, &rows);
	return done(o->to, &rows, o->k->err) < 0 ? -1 : rc;
}

static bool owns_any(const struct kineto *k, uint32_t at)
{
	for (size_t g = 0; k->owned && g < 3; g++)
		for (size_t i = 0; i < k->owners[g].len / sizeof at; i++)
			if (((const uint32_t *)k->owners[g].data)[i] == at)
				return true;
	return false;
}

struct rows_of {
	unsigned kind;
	const struct buf *rows;
};

static int put_all(struct chunk_writer *o, const struct rows_of *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (put_rows(o, all[i].kind, all[i].rows) < 0)
			return -1;
	return 0;
}

static int put_gpu(struct chunk_writer *o, uint32_t at, bool main)
{
	const struct kineto *k = o->k;
	const struct rows_of named[] = {
		{ ROW_config, &k->config }, { ROW_device, &k->device }, { ROW_context, &k->context }, { ROW_stream, &k->stream },
	}, owned[GPU_KINDS] = {
		{ ROW_kernel, &k->kernel }, { ROW_memcpy, &k->memcpy }, { ROW_memset, &k->memset }, { ROW_sync, &k->sync },
		{ ROW_overhead, &k->overhead }, { ROW_gpu_range, &k->gpu_range },
	}, rest[] = {
		{ ROW_memory_change, &k->memory_change }, { ROW_graph, &k->graph }, { ROW_memory, &k->memory },
		{ ROW_unified, &k->unified }, { ROW_image, &k->image }, { ROW_symbol, &k->symbol }, { ROW_sample, &k->sample },
	};

	if (put_all(o, named, sizeof named / sizeof *named) < 0)
		return -1;
	for (size_t i = 0; i < GPU_KINDS; i++)
		if (put_owned(o, at, main, owned[i].kind, owned[i].rows, &k->owners[i]) < 0)
			return -1;
	return main ? put_all(o, rest, sizeof rest / sizeof *rest) : 0;
}

/* Puts stacks with their frames, in chunks. */
static int put_stacks(struct chunk_writer *o)
{
	const struct stack_row *row = (const struct stack_row *)o->k->stack.data;
	const uint8_t *frames = o->k->frames.data;
	size_t n = o->k->stack.len / sizeof *row;

	for (size_t first = 0, end; first < n; first = end) {
		size_t bytes = 0;

		for (end = first; end < n && end - first < CHUNK_ROWS && bytes < CHUNK_TAILS; end++)
			bytes += row[end].bytes;
		if (write_rows(o, ROW_stack, &row[first], end - first, frames, bytes) < 0)
			return -1;
		frames += bytes;
	}
	return 0;
}

static int put_host(struct chunk_writer *o, uint32_t at, bool main, bool several)
{
	struct kineto *k = o->k;
	const struct host *h = o->host;
	bool gpu = (main && (k->kernel.len || k->memcpy.len || k->memset.len)) || owns_any(k, at);

	if (put_process(o, gpu) < 0 || put_facts(o, main) < 0 || put_strings(o) < 0 || put_threads(o) < 0 ||
	    put_rows(o, ROW_domain, &k->domain) < 0 || put_rows(o, ROW_range, &h->range) < 0 ||
	    put_rows(o, ROW_op, &h->op) < 0 || put_rows(o, ROW_api, &h->api) < 0 || put_rows(o, ROW_alloc, &h->alloc) < 0 ||
	    put_rows(o, ROW_mark, &h->mark) < 0 || put_rows(o, ROW_category, &k->category) < 0 ||
	    put_rows(o, ROW_graph_node, &h->graph_node) < 0 || put_rows(o, ROW_step, &h->step) < 0)
		return -1;
	if ((main || (k->owned && h->api.len)) && put_gpu(o, at, main) < 0)
		return -1;
	if (main && (put_stacks(o) < 0 || put_health(o) < 0))
		return -1;
	return put_imported(o, at, main, several);
}

static bool has_rows(const struct host *h)
{
	return h->range.len || h->api.len || h->alloc.len || h->mark.len;
}

struct buf *kineto_buffer(struct kineto *k, size_t i)
{
	struct buf *all[] = { &k->kernel, &k->memcpy, &k->memset, &k->sync, &k->overhead, &k->gpu_range, &k->imported,
			      &k->imported_host, &k->args, &k->config, &k->device, &k->context, &k->stream, &k->domain,
			      &k->attributes, &k->memory_change, &k->graph, &k->memory, &k->unified, &k->category,
			      &k->sample, &k->image, &k->symbol, &k->stack, &k->frames, &k->owners[0], &k->owners[1],
			      &k->owners[2], &k->owners[3], &k->owners[4], &k->owners[5] };
	size_t n = sizeof all / sizeof *all;
	struct host *h;

	if (i < n)
		return all[i];
	if ((i - n) / HOST_BUFFERS >= k->n_hosts)
		return NULL;
	h = &k->hosts[(i - n) / HOST_BUFFERS];
	return (struct buf *[HOST_BUFFERS]){ &h->range, &h->op, &h->api, &h->alloc, &h->step, &h->mark,
					    &h->graph_node }[(i - n) % HOST_BUFFERS];
}

static bool any_oom(struct kineto *k)
{
	struct buf *b;

	for (size_t i = 0; (b = kineto_buffer(k, i)); i++)
		if (b->oom)
			return true;
	return k->texts.oom;
}

static uint32_t processes(const struct kineto *k)
{
	uint32_t main = main_host(k), n = 0;

	for (uint32_t i = 0; i < k->n_hosts; i++)
		n += i == main || has_rows(&k->hosts[i]);
	return n;
}

/* Puts each process that is the main one or has rows. */
static int put_hosts(struct kineto *k, const struct kineto_sink *to, uint32_t *next_process)
{
	struct host none = { 0 };
	uint32_t main = main_host(k);
	bool several = processes(k) > 1;
	struct chunk_writer o = { .k = k, .to = to };

	for (uint32_t i = 0; i < k->n_hosts; i++) {
		if (i != main && !has_rows(&k->hosts[i]))
			continue;
		o.host = &k->hosts[i];
		o.number = (*next_process)++;
		if (put_host(&o, i, i == main, several) < 0)
			return -1;
	}
	if (k->n_hosts)
		return 0;
	o.host = &none;         /* a file with GPU rows only */
	o.number = (*next_process)++;
	return put_host(&o, NO_HOST, true, false);
}

int kineto_write(struct kineto *k, const struct kineto_sink *to, uint32_t *next_process)
{
	struct buf *b;

	if (any_oom(k) || (processes(k) > 1 && kineto_unpack(k) < 0))
		return trace_fail(k->err, 0, "out of memory");
	if (kineto_owners(k) < 0)
		return -1;
	settle(k);
	if (put_hosts(k, to, next_process) < 0)
		return -1;
	for (size_t i = 0; (b = kineto_buffer(k, i)); i++)
		if (done(to, b, k->err) < 0)
			return -1;
	return 0;
}
