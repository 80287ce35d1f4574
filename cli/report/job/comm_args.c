#include "cli/report/job/comm_args.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/rows.h"
#include "cli/report/job/collectives.h"
#include "trace/grow.h"

#include <stdlib.h>
#include <string.h>

enum comm_field { FIELD_OP, FIELD_GROUP, FIELD_RANKS, FIELD_SEQUENCE, FIELDS };

static const char *const keys[FIELDS] = {
	[FIELD_OP] = "Collective name", [FIELD_GROUP] = "Process Group Name", [FIELD_RANKS] = "Process Group Ranks", [FIELD_SEQUENCE] = "Seq",
};

/* A row of imported_arg with one of the keys. */
struct hit {
	uint64_t index;
	uint64_t bits;
	uint32_t process, text;
	enum comm_field field;
};

struct hits {
	struct hit *list;
	size_t n, cap;
	const uint32_t *keys;           /* by field: string id */
	bool oom;
};

static void add_hit(struct hits *h, const struct hit *hit)
{
	if (!GROW(h->list, h->n + 1, h->cap)) {
		h->oom = true;
		return;
	}
	h->list[h->n++] = *hit;
}

static int look_at_batch(const struct batch *b, void *state)
{
	const uint64_t *index = b->column[0], *bits = b->column[1];
	const uint32_t *key = b->column[2], *text = b->column[3], *type = b->column[4];
	struct hits *h = state;

	for (size_t i = 0; i < b->n; i++)
		for (enum comm_field f = 0; f < FIELDS; f++)
			if (key[i] == h->keys[f] && (type[i] == ARG_WHOLE || text[i]) && (type[i] == ARG_WHOLE) == (f == FIELD_SEQUENCE))
				add_hit(h, &(struct hit){ index[i], bits[i], b->process, text[i], f });
	return h->oom ? -1 : 0;
}

static int by_event(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* ---- which row an event became ---- */

struct placing {
	struct comm_args *out;
	const struct hit *next, *end;
	size_t first_kernel, first_range;       /* rows of the process */
};

static uint64_t place_of(unsigned kind, size_t row)
{
	return (uint64_t)kind << 56 | row;
}

static bool add_arg(struct comm_args *a, unsigned kind, size_t row, const struct comm_arg *arg)
{
	if (!GROW(a->list, a->n + 1, a->cap))
		return false;
	a->list[a->n] = *arg;
	return map_set(&a->at, place_of(kind, row), (uint32_t)a->n++);
}

/* Takes all hits of the next event. */
static struct comm_arg take_arg(struct placing *p)
{
	struct comm_arg arg = { .sequence = NO_SEQUENCE };
	uint32_t process = p->next->process;
	uint64_t index = p->next->index;

	for (; p->next < p->end && p->next->process == process && p->next->index == index; p->next++) {
		uint32_t *const texts[] = { [FIELD_OP] = &arg.op, [FIELD_GROUP] = &arg.group, [FIELD_RANKS] = &arg.ranks };

		if (p->next->field == FIELD_SEQUENCE)
			arg.sequence = (int64_t)p->next->bits < 0 ? NO_SEQUENCE : (int64_t)p->next->bits;
		else
			*texts[p->next->field] = p->next->text;
	}
	return arg;
}

/* The n-th imported event of a kind in its process is the n-th row of that kind. */
static int place_process(struct placing *p, struct model *m, uint32_t process)
{
	const struct imported_row *row;
	size_t kernel = p->first_kernel, range = p->first_range;
	struct rows rows;
	int rc = 0;

	if (p->next == p->end || p->next->process != process)
		return 0;
	rows_begin(&rows, m, ROW_imported, process);
	while (rc == 0 && (row = rows_next(&rows))) {
		while (p->next < p->end && p->next->process == process && p->next->index < row->index)
			take_arg(p);
		if (p->next == p->end || p->next->process != process)
			break;
		if (p->next->index == row->index) {
			struct comm_arg arg = take_arg(p);

			if (row->kind == ROW_kernel || row->kind == ROW_range)
				rc = add_arg(p->out, row->kind, row->kind == ROW_kernel ? kernel : range, &arg) ? 0 : -1;
		}
		kernel += row->kind == ROW_kernel;
		range += row->kind == ROW_range;
	}
	while (p->next < p->end && p->next->process == process)
		take_arg(p);
	return rows_end(&rows) < 0 ? -1 : rc;
}

static int place_all(struct comm_args *a, struct model *m, struct hits *h)
{
	struct placing p = { .out = a, .next = h->list, .end = h->n ? h->list + h->n : h->list };
	uint32_t n;
	int rc = 0;

	if (h->n)
		qsort(h->list, h->n, sizeof *h->list, by_event);
	model_processes(m, &n);
	for (uint32_t process = 0; process < n && rc == 0 && p.next < p.end; process++) {
		rc = place_process(&p, m, process);
		p.first_kernel += model_process_rows(m, ROW_kernel, process);
		p.first_range += model_process_rows(m, ROW_range, process);
	}
	return rc;
}

/* Appends `from`, the hits of the second worker, to `to`, and frees its list. */
static void join_hits(struct hits *to, struct hits *from)
{
	for (size_t i = 0; i < from->n && !to->oom; i++)
		add_hit(to, &from->list[i]);
	free(from->list);
}

int comm_args_read(struct comm_args *a, struct model *m)
{
	static const unsigned fields[] = { COL_imported_arg_index, COL_imported_arg_bits, COL_imported_arg_key, COL_imported_arg_text,
					   COL_imported_arg_type };
	uint32_t ids[FIELDS];
	struct hits hits[MODEL_WORKERS] = { { .keys = ids }, { .keys = ids } };
	void *const states[MODEL_WORKERS] = { &hits[0], &hits[1] };
	int rc;

	*a = (struct comm_args){ 0 };
	if (!model_rows(m, ROW_imported_arg))
		return 0;
	for (enum comm_field f = 0; f < FIELDS; f++)
		if ((ids[f] = model_intern(m, keys[f])) == MAP_NONE)
			return -1;
	rc = model_scan(m, ROW_imported_arg, fields, sizeof fields / sizeof *fields, look_at_batch, states);
	join_hits(&hits[0], &hits[1]);
	if (rc == 0)
		rc = hits[0].oom ? -1 : place_all(a, m, &hits[0]);
	free(hits[0].list);
	return rc;
}

void comm_args_release(struct comm_args *a)
{
	free(a->list);
	map_release(&a->at);
	*a = (struct comm_args){ 0 };
}

const struct comm_arg *comm_arg_of(const struct comm_args *a, unsigned kind, size_t row)
{
	uint32_t at = map_get(&a->at, place_of(kind, row));

	return at == MAP_NONE ? NULL : &a->list[at];
}
