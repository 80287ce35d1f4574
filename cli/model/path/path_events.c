/* Finds the CUDA event that a call waits for, from event rows or from arguments of an imported file. */
#include "cli/model/path/path_rows.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"
#include "cli/model/steps/steps.h"

static int put_event(struct path_rows *p, uint32_t corr, const struct path_event *e)
{
	uint32_t at = (uint32_t)PATH_COUNT(p->events, struct path_event);

	buf_put(&p->events, e, sizeof *e);
	return p->events.oom || (corr && !map_set(&p->call_event, corr, at)) ? -1 : 0;
}

/* ---- recorded ---- */

struct records {
	const int64_t *start;
	const uint64_t *event;
	const uint32_t *corr, *context, *stream, *process;
};

static bool records_read(struct model *m, struct records *r, struct records *w)
{
	return (r->start = MODEL_I64(m, event_record, start)) && (r->event = MODEL_U64(m, event_record, event)) &&
	       (r->context = MODEL_U32(m, event_record, context)) && (r->stream = MODEL_U32(m, event_record, stream)) &&
	       (r->process = model_row_process(m, ROW_event_record)) && (w->start = MODEL_I64(m, event_wait, start)) &&
	       (w->event = MODEL_U64(m, event_wait, event)) && (w->corr = MODEL_U32(m, event_wait, corr)) &&
	       (w->context = MODEL_U32(m, event_wait, context)) && (w->stream = MODEL_U32(m, event_wait, stream)) &&
	       (w->process = model_row_process(m, ROW_event_wait));
}

/* Pairs each wait with the last record of its event before it. */
static int follow(struct path_rows *p, const struct timed *order, size_t n, const struct records *r, const struct records *w)
{
	struct map last = { 0 };        /* handle -> row of its last record so far */
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		uint32_t row = order[i].row, at;

		if (order[i].kind == ROW_event_record) {
			rc = map_set(&last, r->event[row], row) ? 0 : -1;
			continue;
		}
		at = map_get(&last, w->event[row]);
		if (at != MAP_NONE && r->stream[at] != STREAM_NONE)
			rc = put_event(p, w->corr[row], &(struct path_event){ .context = r->context[at], .stream = r->stream[at],
				 .waits_context = w->context[row], .waits_stream = w->stream[row], .recorded = r->start[at] });
	}
	map_release(&last);
	return rc;
}

static int add_recorded(struct path_rows *p)
{
	size_t n_recorded = model_rows(p->m, ROW_event_record), waits = model_rows(p->m, ROW_event_wait), n = 0;
	struct records r, w;
	struct timed *order;
	int rc;

	if (!model_process_rows(p->m, ROW_event_wait, p->process))
		return 0;
	order = malloc((n_recorded + waits + 1) * sizeof *order);
	if (!order || !records_read(p->m, &r, &w)) {
		free(order);
		return -1;
	}
	for (size_t i = 0; i < n_recorded; i++)
		if (r.process[i] == p->process)
			order[n++] = (struct timed){ .time = r.start[i], .kind = ROW_event_record, .row = (uint32_t)i };
	for (size_t i = 0; i < waits; i++)
		if (w.process[i] == p->process)
			order[n++] = (struct timed){ .time = w.start[i], .kind = ROW_event_wait, .row = (uint32_t)i };
	rc = timed_sort(order, n);
	if (rc == 0)
		rc = follow(p, order, n, &r, &w);
	free(order);
	return rc;
}

/* ---- imported: arguments of Kineto's rows of waits ---- */

#define WHOLE 1u                /* type of imported_arg */

struct said {
	int64_t stream, corr;           /* of the event's record; -1: unknown */
};

/* Maps Kineto's index of an event to n, for the n-th sync row (from 0) of the process.  0, or -1: out of memory. */
static int find_syncs(struct path_rows *p, struct map *at, size_t n)
{
	const uint64_t *index = MODEL_U64(p->m, imported, index);
	const uint32_t *kind = MODEL_U32(p->m, imported, kind), *process = model_row_process(p->m, ROW_imported);
	uint32_t next = 0;

	if (!index || !kind || !process)
		return -1;
	for (size_t i = 0, rows = model_rows(p->m, ROW_imported); i < rows; i++)
		if (process[i] == p->process && kind[i] == ROW_sync && !map_set(at, index[i], next++))
			return -1;
	/* In a part of a trace sync rows are missing, so the counts do not match: map nothing. */
	if (next != n)
		map_release(at);
	return 0;
}

static int read_said(struct path_rows *p, const struct map *at, struct said *said)
{
	uint32_t stream = model_intern(p->m, "wait_on_stream"), corr = model_intern(p->m, "wait_on_cuda_event_record_corr_id");
	const uint64_t *index = MODEL_U64(p->m, imported_arg, index), *bits = MODEL_U64(p->m, imported_arg, bits);
	const uint32_t *key = MODEL_U32(p->m, imported_arg, key), *type = MODEL_U32(p->m, imported_arg, type),
		       *process = model_row_process(p->m, ROW_imported_arg);

	if (!index || !bits || !key || !type || !process)
		return -1;
	for (size_t i = 0, n = model_rows(p->m, ROW_imported_arg); i < n; i++) {
		uint32_t row;

		if (process[i] != p->process || type[i] != WHOLE || (key[i] != stream && key[i] != corr))
			continue;
		row = map_get(at, index[i]);
		if (row != MAP_NONE)
			*(key[i] == stream ? &said[row].stream : &said[row].corr) = (int64_t)bits[i];
	}
	return 0;
}

static int put_said(struct path_rows *p, size_t row, const struct said *said)
{
	uint32_t context = MODEL_U32(p->m, sync, context)[row];
	size_t record = said->stream >= 0 && said->corr > 0 ? model_api_of(p->m, p->process, (uint32_t)said->corr) : NO_ROW;

	if (record == NO_ROW)
		return 0;
	return put_event(p, MODEL_U32(p->m, sync, corr)[row], &(struct path_event){
		.context = context, .stream = (uint32_t)said->stream, .waits_context = context,
		.waits_stream = MODEL_U32(p->m, sync, stream)[row], .recorded = MODEL_I64(p->m, api, start)[record],
	});
}

static int add_imported(struct path_rows *p)
{
	size_t n = model_process_rows(p->m, ROW_sync, p->process), found = 0;
	const uint32_t *process = model_row_process(p->m, ROW_sync);
	struct map at = { 0 };
	struct said *said;
	int rc = -1;

	if (!n || !model_rows(p->m, ROW_imported))
		return 0;
	said = malloc(n * sizeof *said);
	for (size_t i = 0; said && i < n; i++)
		said[i] = (struct said){ -1, -1 };
	if (said && process && MODEL_U32(p->m, sync, context) && MODEL_U32(p->m, sync, corr) && MODEL_U32(p->m, sync, stream))
		rc = find_syncs(p, &at, n);
	if (rc == 0)
		rc = read_said(p, &at, said);
	for (size_t i = 0, rows = model_rows(p->m, ROW_sync); i < rows && rc == 0; i++)
		if (process[i] == p->process && found < n)
			rc = put_said(p, i, &said[found++]);
	free(said);
	map_release(&at);
	return rc;
}

int path_add_events(struct path_rows *p)
{
	return add_recorded(p) < 0 || add_imported(p) < 0 ? -1 : 0;
}
