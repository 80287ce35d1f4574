/* cuda_events: the time between two CUDA events, as the program read it (cudaEventElapsedTime) and as computed from the trace's rows. */
#include "cli/model/gpu/queues.h"
#include "cli/model/join.h"
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/report/parts/report.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "start_ns", COLUMN_KEY }, { "elapsed_ns", COLUMN_KEY }, { "recorded_ns", 0 }, { "difference_ns", 0 }, { "first_at_ns", 0 },
	{ "second_at_ns", 0 }, { "stream", COLUMN_ID }, { "pid", COLUMN_ID }, { "tid", COLUMN_ID },
};

struct events {
	struct model *m;
	struct queues *queues;
	const int64_t *record_start, *elapsed_start, *elapsed;
	const uint64_t *event, *first, *second;
	const uint32_t *corr, *context, *stream, *thread, *record_process, *elapsed_process;
	struct map *last;               /* by process: handle of an event -> its latest event_record row so far */
	uint64_t unknown;               /* number of times that cannot be computed from rows */
};

static bool columns_read(struct events *e)
{
	struct model *m = e->m;

	return (e->record_start = MODEL_I64(m, event_record, start)) &&
	       (e->event = MODEL_U64(m, event_record, event)) && (e->corr = MODEL_U32(m, event_record, corr)) &&
	       (e->context = MODEL_U32(m, event_record, context)) && (e->stream = MODEL_U32(m, event_record, stream)) &&
	       (e->elapsed_start = MODEL_I64(m, event_elapsed, start)) &&
	       (e->record_process = model_row_process(m, ROW_event_record)) &&
	       (e->first = MODEL_U64(m, event_elapsed, first)) && (e->second = MODEL_U64(m, event_elapsed, second)) &&
	       (e->elapsed = MODEL_I64(m, event_elapsed, elapsed)) &&
	       (e->thread = MODEL_U32(m, event_elapsed, thread)) &&
	       (e->elapsed_process = model_row_process(m, ROW_event_elapsed)) && MODEL_I64(m, api, start) &&
	       MODEL_I64(m, api, duration);
}

/*
 * When the GPU reached the event: the end of the work queued before it on its stream, but not before the call that recorded it returned.
 * 0: not known.
 */
static int64_t happened(struct events *e, uint32_t record)
{
	uint32_t process = e->record_process[record];
	size_t call = model_api_of(e->m, process, e->corr[record]);
	int64_t done, returned = e->record_start[record];

	if (e->stream[record] == STREAM_NONE)
		return 0;
	if (call != NO_ROW)
		returned = time_add(MODEL_I64(e->m, api, start)[call], MODEL_I64(e->m, api, duration)[call]);
	done = queues_done(e->queues, process, e->context[record], e->stream[record], e->record_start[record]);
	return done > returned ? done : returned;
}

static void put_event(struct events *e, struct table *t, uint32_t row)
{
	uint32_t n, process = e->elapsed_process[row];
	uint32_t a = map_get(&e->last[process], e->first[row]), b = map_get(&e->last[process], e->second[row]);
	const struct thread *thread = model_thread(e->m, process, e->thread[row]);
	int64_t begin = model_start(e->m), first = a == MAP_NONE ? 0 : happened(e, a),
		second = b == MAP_NONE ? 0 : happened(e, b);
	bool known = first && second;
	int64_t ours = known ? time_sub(second, first) : 0;

	e->unknown += !known;
	table_row(t,
		  (const struct cell[]){
			  NUMBER(time_sub(e->elapsed_start[row], begin)), NUMBER(e->elapsed[row]),
			  known ? NUMBER(ours) : UNKNOWN, known ? NUMBER(time_sub(e->elapsed[row], ours)) : UNKNOWN,
			  first ? NUMBER(time_sub(first, begin)) : UNKNOWN,
			  second ? NUMBER(time_sub(second, begin)) : UNKNOWN,
			  b == MAP_NONE || e->stream[b] == STREAM_NONE ? UNKNOWN : NUMBER(e->stream[b]),
			  NUMBER(model_processes(e->m, &n)[process].pid), thread ? NUMBER(thread->row.tid) : UNKNOWN });
}

/* Goes through event_record and event_elapsed rows by time: an elapsed time is between the latest records before the call that reads it. */
static int follow(struct events *e, struct table *t)
{
	size_t recorded = model_rows(e->m, ROW_event_record), n = recorded + model_rows(e->m, ROW_event_elapsed);
	struct timed *order = malloc(n * sizeof *order + 1);
	int rc = order ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < n; i++)
		order[i] = i < recorded ? (struct timed){ .time = e->record_start[i],
							  .kind = ROW_event_record,
							  .row = (uint32_t)i }
					: (struct timed){ .time = e->elapsed_start[i - recorded],
							  .kind = ROW_event_elapsed,
							  .row = (uint32_t)(i - recorded) };
	if (rc == 0)
		rc = timed_sort(order, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		uint32_t row = order[i].row;

		if (order[i].kind == ROW_event_elapsed)
			put_event(e, t, row);
		else if (!map_set(&e->last[e->record_process[row]], e->event[row], row))
			rc = -1;
	}
	free(order);
	return rc;
}

static void notes(struct events *e, struct table *t)
{
	if (!model_rows(e->m, ROW_event_elapsed))
		table_note(t, model_rows(e->m, ROW_event_record)
				      ? "the program recorded events, but never asked for the time between two"
				      : "the program recorded no CUDA events");
	else
		table_note(t, "recorded_ns: from the end of the work before the first event to the end of the work before the second; an event "
			      "with no work before it is taken at the end of the call that recorded it");
	if (e->unknown)
		table_note(t,
			   "recorded_ns is not known: %llu; an event was recorded before recording began, or its stream is "
			   "not known",
			   (unsigned long long)e->unknown);
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct events e = { .m = m };
	uint32_t n;
	int rc = -1;

	(void)variant;
	model_processes(m, &n);
	e.queues = queues_make(m);
	e.last = calloc(n + 1, sizeof *e.last);
	if (e.queues && e.last && columns_read(&e))
		rc = follow(&e, t);
	if (rc == 0)
		notes(&e, t);
	for (uint32_t i = 0; e.last && i < n; i++)
		map_release(&e.last[i]);
	free(e.last);
	queues_free(e.queues);
	return rc;
}

const struct report report_cuda_events = {
	.name = "cuda_events",
	.title = "CUDA Events",
	.help = "How long are the times between CUDA events, as the program read them and as recorded?",
	.needs = NEED_EVENTS,
	COLUMNS(columns),
	.run = run,
};
