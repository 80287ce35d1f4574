/* Finds unmarked steps from the period of the program's launches (trace/rules/period.h). */
#include "cli/model/steps/steps_inside.h"

#include "cli/model/join.h"
#include "trace/rules/period.h"

#define LAUNCHES_OF_STEPS 3u    /* minimum number of steps */
#define ENOUGH (8 * PERIOD_RING)        /* launches to learn from; a second feed then takes the steps from all launches */
#define ROUNDS 3u               /* limit of feeds, if the detector revises the period */
#define NOTHING UINT32_MAX

/* The work a call launched, known by its first GPU row. */
struct launched {
	uint32_t kind, row;             /* kind 0: nothing */
};

/* The calls of a process by start, and the call of each launch number of the detector. */
struct sequence {
	struct model *m;
	struct timed *calls;            /* row: of the API call */
	size_t n;
	struct launched *of;            /* by API row */
	uint32_t *numbers;              /* by number of the launch: position in calls */
	size_t n_launches;
	const int64_t *start, *duration;
	const uint32_t *thread;
	const uint32_t *name, *config, *graph, *copy_kind, *whole;
	const uint64_t *copy_bytes, *set_bytes;
	struct map flags;               /* string id of a kernel -> PERIOD_ flags */
	bool oom;
};

static uint64_t mix(uint64_t what, uint64_t more)
{
	uint64_t h = (what ^ 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;

	h = (h ^ h >> 31 ^ more) * 0x94d049bb133111ebull;
	return h ^ h >> 29;
}

/* ---- what each call launched ---- */

static int note_kind(struct sequence *q, unsigned kind, unsigned corr_field)
{
	const uint32_t *corr = model_column(q->m, kind, corr_field), *process = model_row_process(q->m, kind);

	if (!corr || !process)
		return -1;
	for (size_t i = 0, n = model_rows(q->m, kind); i < n; i++) {
		size_t call = model_api_of(q->m, process[i], corr[i]);

		if (call != NO_ROW && !q->of[call].kind)
			q->of[call] = (struct launched){ kind, (uint32_t)i };
	}
	return 0;
}

static bool columns_read(struct sequence *q)
{
	struct model *m = q->m;

	return (q->start = MODEL_I64(m, api, start)) && (q->duration = MODEL_I64(m, api, duration)) &&
	       (q->thread = MODEL_U32(m, api, thread)) && (q->name = MODEL_U32(m, kernel, name)) &&
	       (q->config = MODEL_U32(m, kernel, config)) && (q->graph = MODEL_U32(m, kernel, graph)) &&
	       (q->copy_kind = MODEL_U32(m, memcpy, kind)) && (q->copy_bytes = MODEL_U64(m, memcpy, bytes)) &&
	       (q->set_bytes = MODEL_U64(m, memset, bytes)) && (q->whole = MODEL_U32(m, graph, graph));
}

static int launches_read(struct sequence *q)
{
	q->of = calloc(model_rows(q->m, ROW_api) + 1, sizeof *q->of);
	if (!q->of || model_join(q->m) < 0 || !columns_read(q))
		return -1;
	return note_kind(q, ROW_kernel, COL_kernel_corr) < 0 || note_kind(q, ROW_graph, COL_graph_corr) < 0 ||
		       note_kind(q, ROW_memcpy, COL_memcpy_corr) < 0 || note_kind(q, ROW_memset, COL_memset_corr) < 0
		       ? -1 : 0;
}

/* ---- feeding the detector ---- */

static uint32_t kernel_flags(struct sequence *q, uint32_t name)
{
	bool new;
	uint32_t *at = map_put(&q->flags, name, 0, &new);

	if (!at) {
		q->oom = true;
		return 0;
	}
	if (new)
		*at += period_kernel_flags(model_string(q->m, name));
	return *at - 1;
}

static void describe(struct sequence *q, const struct launched *l, struct period_launch *out)
{
	switch (l->kind) {
	case ROW_kernel:
		if (!q->graph[l->row]) {
			out->name = mix(ROW_kernel, q->name[l->row]);
			out->config = q->config[l->row];
			out->flags = kernel_flags(q, q->name[l->row]);
			break;
		}
		out->name = mix(ROW_graph, 0);
		out->config = q->graph[l->row];
		out->flags = PERIOD_GRAPH;
		break;
	case ROW_graph:
		out->name = mix(ROW_graph, 0);
		out->config = q->whole[l->row];
		out->flags = PERIOD_GRAPH;
		break;
	case ROW_memcpy:
		out->name = mix(ROW_memcpy, q->copy_kind[l->row]);
		out->config = q->copy_bytes[l->row];
		out->flags = q->copy_kind[l->row] == 1 ? PERIOD_COPY_IN : 0;
		break;
	default:
		out->name = mix(ROW_memset, 0);
		out->config = q->set_bytes[l->row];
	}
}

/* Feeds a process's calls to the detector and passes found steps to take().  Without take it only learns, from ENOUGH launches at most. */
static void feed(struct sequence *q, struct period *p, void (*take)(void *at, const struct period_step *s), void *at)
{
	struct period_step step;

	q->n_launches = 0;
	for (size_t i = 0; i < q->n; i++) {
		uint32_t call = q->calls[i].row;
		struct period_launch l = {
			.start = q->start[call], .end = span_end(q->start[call], q->duration[call]),
			.thread = q->thread[call],
		};

		if (!q->of[call].kind) {
			period_call(p, l.end);
			continue;
		}
		describe(q, &q->of[call], &l);
		q->numbers[q->n_launches++] = (uint32_t)i;
		period_launch(p, &l);
		while (take && period_take(p, &step))
			take(at, &step);
		if (!take && q->n_launches >= ENOUGH && p->model.launches)
			break;
	}
	period_finish(p);
	while (take && period_take(p, &step))
		take(at, &step);
}

/* ---- steps ---- */

struct taking {
	struct finding *f;
	struct sequence *q;
	const struct period *p;
	uint32_t process, kind;
	uint64_t next;                  /* number of the launch after the last step */
	size_t taken;
};

static uint32_t call_of(const struct taking *k, uint64_t number)
{
	return k->q->calls[k->q->numbers[number]].row;
}

/* Name of the anchor: the kernel's name, or "a copy", "a memory set", "a graph". */
static uint32_t anchor_of(const struct taking *k, uint64_t number)
{
	const struct launched *l = number < k->q->n_launches ? &k->q->of[call_of(k, number)] : NULL;

	if (!l)
		return STRING_NONE;
	if (l->kind == ROW_kernel && !k->q->graph[l->row])
		return k->q->name[l->row];
	return model_intern(k->f->m,
			    l->kind == ROW_memcpy ? "a copy" : l->kind == ROW_memset ? "a memory set" : "a graph");
}

/* Adds a step.  It ends where the next step begins; if none follows directly, it ends with its last launch and is incomplete. */
static void take_step(void *at, const struct period_step *s)
{
	struct taking *k = at;
	struct step step = {
		.process = k->process, .kind = k->kind, .flags = STEP_AUTO | STEP_LATE,
		.confidence = (uint32_t)(k->p->model.confidence * 100 + 0.5),
	};
	uint32_t last;

	if (s->first >= k->q->n_launches || s->last >= k->q->n_launches || s->last < s->first)
		return;
	last = call_of(k, s->last);
	step.start = k->q->start[call_of(k, s->first)];
	step.end = span_end(k->q->start[last], k->q->duration[last]);
	step.flags |= STEP_INCOMPLETE;
	step.anchor = anchor_of(k, s->first + k->p->model.anchor_offset);
	if (k->taken && s->first == k->next) {
		struct step *before = (struct step *)k->f->steps.data + k->f->steps.len / sizeof step - 1;

		before->end = step.start;
		before->flags &= ~STEP_INCOMPLETE;
	}
	k->next = s->last + 1;
	k->taken++;
	buf_put(&k->f->steps, &step, sizeof step);
}

static int find_in(struct finding *f, struct sequence *q, struct period *p, uint32_t process, uint32_t *kind)
{
	struct taking k = { .f = f, .q = q, .p = p, .process = process };
	size_t before = f->steps.len;

	period_init(p);
	feed(q, p, NULL, NULL);
	if (!p->model.launches)
		return 0;
	if (*kind == NOTHING && (*kind = finding_kind(f, STRING_NONE)) == UINT32_MAX)
		return -1;
	k.kind = *kind;
	/* Feed again with the learnt model, so that the first steps are found too. */
	for (unsigned round = 0; round < ROUNDS; round++) {
		k.taken = 0;
		f->steps.len = before;
		period_again(p);
		feed(q, p, take_step, &k);
		if (!p->model.revised)
			break;
	}
	if (k.taken < LAUNCHES_OF_STEPS)
		f->steps.len = before;
	else
		f->source = STEPS_LAUNCHES;
	return f->steps.oom || q->oom ? -1 : 0;
}

/* Sorts the calls of one process, rows [from, to).  0, or -1: out of memory. */
static int order_calls(struct sequence *q, size_t from, size_t to)
{
	q->n = 0;
	for (size_t i = from; i < to; i++)
		q->calls[q->n++] = (struct timed){ .time = q->start[i], .row = (uint32_t)i };
	return timed_sort(q->calls, q->n);
}

int steps_find_launched(struct finding *f)
{
	struct sequence q = { .m = f->m };
	size_t rows = model_rows(f->m, ROW_api), to;
	const uint32_t *process = model_row_process(f->m, ROW_api);
	struct period *p = malloc(sizeof *p);
	uint32_t kind = NOTHING;
	int rc = -1;

	q.calls = malloc(rows * sizeof *q.calls + 1);
	q.numbers = malloc(rows * sizeof *q.numbers + 1);
	if (!p || !process || !q.calls || !q.numbers || launches_read(&q) < 0)
		goto out;
	rc = 0;
	for (size_t from = 0; from < rows && rc == 0; from = to) {
		for (to = from + 1; to < rows && process[to] == process[from]; to++)
			;
		rc = order_calls(&q, from, to);
		if (rc == 0)
			rc = find_in(f, &q, p, process[from], &kind);
	}
	if (!f->source) {
		f->kinds.len = 0;
		f->steps.len = 0;
	}
out:
	map_release(&q.flags);
	free(q.calls);
	free(q.numbers);
	free(q.of);
	free(p);
	return rc;
}
