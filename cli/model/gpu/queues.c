#include "cli/model/gpu/queues.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"
#include "cli/model/sort.h"
#include "trace/grow.h"

#define FLAG_NON_BLOCKING 2u    /* CUPTI's stream flags */
#define FLAG_NULL         3u

/* One stream's work by launch time; `end` is the latest end of all work launched so far. */
struct launch_queue {
	uint32_t process, context, stream;
	uint32_t flags;                 /* of the stream; 0: not known */
	size_t n, cap;
	struct timed *work;             /* time: when it was launched */
};

struct queues {
	struct model *m;
	struct map contexts;            /* process << 32 | context -> number */
	struct map index;               /* context's number << 32 | stream -> position in list */
	struct launch_queue *list;
	size_t n, cap;
};

void queues_free(struct queues *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < q->n; i++)
		free(q->list[i].work);
	free(q->list);
	map_release(&q->contexts);
	map_release(&q->index);
	free(q);
}

static struct launch_queue *queue_of(struct queues *q, uint32_t process, uint32_t context, uint32_t stream)
{
	bool new;
	uint32_t *number = map_put(&q->contexts, (uint64_t)process << 32 | context, (uint32_t)q->contexts.n, &new), *at;
	const struct stream_row *row;

	at = number ? map_put(&q->index, (uint64_t)*number << 32 | stream, (uint32_t)q->n, &new) : NULL;
	if (!at)
		return NULL;
	if (new && !GROW(q->list, q->n + 1, q->cap))
		return NULL;
	if (new) {
		row = model_stream(q->m, process, stream);
		q->list[q->n++] = (struct launch_queue){
			.process = process,
			.context = context,
			.stream = stream,
			.flags = row && row->context == context ? row->flags : 0,
		};
	}
	return &q->list[*at - 1];
}

static int put_launch(struct launch_queue *k, int64_t launched, int64_t end)
{
	if (!GROW(k->work, k->n + 1, k->cap))
		return -1;
	k->work[k->n++] = (struct timed){ .time = launched, .end = end };
	return 0;
}

static int add_kind(struct queues *q, unsigned kind, const unsigned fields[5])
{
	const int64_t *start = model_column(q->m, kind, fields[0]), *duration = model_column(q->m, kind, fields[1]);
	const uint32_t *corr = model_column(q->m, kind, fields[2]), *context = model_column(q->m, kind, fields[3]);
	const uint32_t *stream = model_column(q->m, kind, fields[4]), *process = model_row_process(q->m, kind);
	const int64_t *called = MODEL_I64(q->m, api, start);

	if (!start || !duration || !corr || !context || !stream || !process || !called)
		return -1;
	for (size_t i = 0, n = model_rows(q->m, kind); i < n; i++) {
		size_t call = start[i] && duration[i] >= 0 ? model_api_of(q->m, process[i], corr[i]) : NO_ROW;
		struct launch_queue *k;

		if (!start[i] || duration[i] < 0)
			continue;
		k = queue_of(q, process[i], context[i], stream[i]);
		if (!k || put_launch(k, call == NO_ROW ? start[i] : called[call], time_add(start[i], duration[i])) < 0)
			return -1;
	}
	return 0;
}

static int add_all(struct queues *q)
{
	static const unsigned kinds[] = { ROW_kernel, ROW_memcpy, ROW_memset, ROW_graph };
#define FIELDS(rec)                                                                                                    \
	{                                                                                                              \
		COL_##rec##_start, COL_##rec##_duration, COL_##rec##_corr, COL_##rec##_context, COL_##rec##_stream     \
	}
	static const unsigned fields[][5] = { FIELDS(kernel), FIELDS(memcpy), FIELDS(memset), FIELDS(graph) };
#undef FIELDS

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (add_kind(q, kinds[i], fields[i]) < 0)
			return -1;
	for (size_t i = 0; i < q->n; i++) {
		struct launch_queue *k = &q->list[i];

		if (timed_sort(k->work, k->n) < 0)
			return -1;
		for (size_t w = 1; w < k->n; w++)
			if (k->work[w].end < k->work[w - 1].end)
				k->work[w].end = k->work[w - 1].end;
	}
	return 0;
}

struct queues *queues_make(struct model *m)
{
	struct queues *q = calloc(1, sizeof *q);

	if (!q)
		return NULL;
	q->m = m;
	if (model_join(m) < 0 || add_all(q) < 0) {
		queues_free(q);
		return NULL;
	}
	return q;
}

/* Latest end of the work launched into a stream before a time; 0: none. */
static int64_t done(const struct launch_queue *k, int64_t when)
{
	size_t low = 0, high = k->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->work[mid].time < when)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? k->work[low - 1].end : 0;
}

/* Whether two streams wait for each other: the legacy default stream and a blocking stream.  False if the flags are unknown. */
static bool waits_for(uint32_t flags, uint32_t other)
{
	if (!flags || !other || flags == FLAG_NON_BLOCKING || other == FLAG_NON_BLOCKING)
		return false;
	return flags == FLAG_NULL || other == FLAG_NULL;
}

int64_t queues_done(const struct queues *q, uint32_t process, uint32_t context, uint32_t stream, int64_t when)
{
	const struct stream_row *row = model_stream(q->m, process, stream);
	uint32_t flags = row && row->context == context ? row->flags : 0;
	int64_t latest = 0;

	for (size_t i = 0; i < q->n; i++) {
		const struct launch_queue *k = &q->list[i];
		int64_t end;

		if (k->process != process || k->context != context ||
		    (k->stream != stream && !waits_for(flags, k->flags)))
			continue;
		end = done(k, when);
		if (end > latest)
			latest = end;
	}
	return latest;
}
