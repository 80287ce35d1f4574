/* Finds steps among NVTX ranges and marks by their names (trace/rules/stepname.h). */
#include "cli/model/steps/steps_inside.h"

#include "cli/model/join.h"
#include "cli/model/nvtx/libraries.h"
#include "trace/rules/stepname.h"

/*
 * A program often marks a loop in several ways: a ProfilerStep around "iteration 3" around "batch 3".  Only the most reliable way is used.
 * A way is the rank of a name and the form of its event; a lower number is more reliable.
 */
enum form { FORM_PUSHPOP, FORM_STARTEND, FORM_MARK, FORMS };
#define NOTHING UINT32_MAX              /* no way */

static uint32_t way(const struct stepname *s, enum form form)
{
	return (uint32_t)s->rank * FORMS + form;
}

/* Result of stepname_parse() for a string id. */
struct step_name {
	struct stepname says;
	bool step;
};

struct marking {
	struct finding *f;
	struct map seen;                /* string id -> position in looks */
	struct buf looks;               /* struct step_name */
	struct map series;              /* stepname.series -> kind */
	uint32_t best;                  /* most reliable way */
};

static const struct step_name *step_name_of(struct marking *k, uint32_t name)
{
	bool new;
	uint32_t *at = map_put(&k->seen, name, (uint32_t)k->seen.n, &new);

	if (!at)
		return NULL;
	if (new) {
		const char *text = model_string(k->f->m, name);
		struct step_name l = { .step = false };

		l.step = stepname_parse(&l.says, text, strlen(text));
		buf_put(&k->looks, &l, sizeof l);
	}
	return k->looks.oom ? NULL : (struct step_name *)k->looks.data + (*at - 1);
}

/* The common part of the names of a series, "train_step" of "train_step_12"; the name of the kind. */
static uint32_t kind_name(struct model *m, const char *text)
{
	char name[64];
	size_t n = 0;
	bool gap = false;

	for (; *text && *text != '[' && *text != '(' && n + 2 < sizeof name; text++) {
		bool part = !strchr("0123456789 _#-:=./", *text);

		if (part && gap && n)
			name[n++] = '_';
		if (part)
			name[n++] = *text;
		gap = !part;
	}
	name[n] = '\0';
	return model_intern(m, name);
}

static uint32_t kind_of(struct marking *k, const struct step_name *l, uint32_t name)
{
	bool new;
	uint32_t *at = map_put(&k->series, l->says.series, (uint32_t)k->series.n, &new);
	uint32_t kind, text;

	if (!at)
		return UINT32_MAX;
	kind = *at - 1;
	if (!new)
		return kind;
	text = kind_name(k->f->m, model_string(k->f->m, name));
	return text == MAP_NONE ? UINT32_MAX : finding_kind(k->f, text);
}

static int add_step(struct marking *k, const struct step_name *l, struct step step)
{
	step.kind = kind_of(k, l, step.name);
	step.confidence = 100;
	if (step.kind == UINT32_MAX)
		return -1;
	buf_put(&k->f->steps, &step, sizeof step);
	return k->f->steps.oom ? -1 : 0;
}

/* ---- ranges ---- */

struct step_range_columns {
	const int64_t *start, *duration;
	const uint64_t *id;
	const uint32_t *thread, *flags, *process, *name, *domain;
	uint32_t *parents;
	size_t n;
};

static bool ranges_read(struct model *m, struct step_range_columns *r)
{
	r->start = MODEL_I64(m, range, start);
	r->duration = MODEL_I64(m, range, duration);
	r->id = MODEL_U64(m, range, id);
	r->thread = MODEL_U32(m, range, thread);
	r->flags = MODEL_U32(m, range, flags);
	r->name = MODEL_U32(m, range, name);
	r->domain = MODEL_U32(m, range, domain);
	r->process = model_row_process(m, ROW_range);
	r->n = model_rows(m, ROW_range);
	return r->start && r->duration && r->id && r->thread && r->flags && r->name && r->domain && r->process;
}

static enum form form_of(const struct step_range_columns *r, size_t row)
{
	return r->flags[row] & RANGE_STARTEND ? FORM_STARTEND : FORM_PUSHPOP;
}

/* Whether the range lies in another step; then it is a part of that step. */
static bool inside_another(struct marking *k, const struct step_range_columns *r, size_t row)
{
	for (uint32_t up = r->parents[row], depth = 0; up != UINT32_MAX && depth < 128; up = r->parents[up], depth++) {
		const struct step_name *l = step_name_of(k, r->name[up]);

		if (l && l->step && way(&l->says, form_of(r, up)) == k->best)
			return true;
	}
	return false;
}

static int look_at_ranges(struct marking *k, const struct step_range_columns *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct step_name *l = step_name_of(k, r->name[i]);

		if (!l)
			return -1;
		if (l->step && !(r->flags[i] & RANGE_WHOLE) && way(&l->says, form_of(r, i)) < k->best &&
		    !model_domain_of_library(k->f->m, r->process[i], r->domain[i]))
			k->best = way(&l->says, form_of(r, i));
	}
	return 0;
}

static int take_ranges(struct marking *k, struct step_range_columns *r)
{
	int rc = 0;

	r->parents = model_range_parents(k->f->m);
	if (!r->parents)
		return -1;
	for (size_t i = 0; i < r->n && rc == 0; i++) {
		const struct step_name *l = step_name_of(k, r->name[i]);

		if (!l->step || r->flags[i] & RANGE_WHOLE || way(&l->says, form_of(r, i)) != k->best || inside_another(k, r, i) ||
		    model_domain_of_library(k->f->m, r->process[i], r->domain[i]))
			continue;
		rc = add_step(k, l, (struct step){
			.start = r->start[i], .end = span_end(r->start[i], r->duration[i]), .range = r->id[i],
			.name = r->name[i],
			.process = r->process[i], .thread = r->thread[i],
			.flags = (r->flags[i] & RANGE_INCOMPLETE ? STEP_INCOMPLETE : 0) |
				 (form_of(r, i) == FORM_STARTEND ? STEP_LOOSE : 0),
		});
	}
	free(r->parents);
	return rc;
}

/* ---- marks: each ends the previous step and begins the next ---- */

struct marks {
	const int64_t *start;
	const uint32_t *thread, *process, *name, *domain;
	size_t n;
};

static bool marks_read(struct model *m, struct marks *r)
{
	r->start = MODEL_I64(m, mark, start);
	r->thread = MODEL_U32(m, mark, thread);
	r->name = MODEL_U32(m, mark, name);
	r->domain = MODEL_U32(m, mark, domain);
	r->process = model_row_process(m, ROW_mark);
	r->n = model_rows(m, ROW_mark);
	return r->start && r->thread && r->name && r->domain && r->process;
}

static int look_at_marks(struct marking *k, const struct marks *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct step_name *l = step_name_of(k, r->name[i]);

		if (!l)
			return -1;
		if (l->step && way(&l->says, FORM_MARK) < k->best &&
		    !model_domain_of_library(k->f->m, r->process[i], r->domain[i]))
			k->best = way(&l->says, FORM_MARK);
	}
	return 0;
}

static int take_mark(struct marking *k, const struct marks *r, uint32_t row, struct map *open)
{
	const struct step_name *l = step_name_of(k, r->name[row]);
	struct step step = {
		.start = r->start[row], .end = finding_end(k->f, r->process[row]), .name = r->name[row],
		.process = r->process[row],
		.thread = r->thread[row], .flags = STEP_LOOSE | STEP_INCOMPLETE,
	};
	uint32_t at = (uint32_t)(k->f->steps.len / sizeof step), kind, before;
	uint64_t key;

	if (!l->step || way(&l->says, FORM_MARK) != k->best ||
	    model_domain_of_library(k->f->m, r->process[row], r->domain[row]))
		return 0;
	kind = kind_of(k, l, r->name[row]);
	key = (uint64_t)r->process[row] << 44 | (uint64_t)(r->thread[row] & 0xffffffu) << 20 | (kind & 0xfffffu);
	before = map_get(open, key);
	if (before != MAP_NONE) {
		struct step *last = (struct step *)k->f->steps.data + before;

		last->end = step.start > last->start ? step.start : last->start;
		last->flags &= ~STEP_INCOMPLETE;
	}
	return add_step(k, l, step) < 0 || !map_set(open, key, at) ? -1 : 0;
}

static int take_marks(struct marking *k, const struct marks *r)
{
	struct timed *order = malloc(r->n * sizeof *order + 1);
	struct map open = { 0 };
	int rc = -1;

	for (size_t i = 0; order && i < r->n; i++)
		order[i] = (struct timed){ .time = r->start[i], .row = (uint32_t)i };
	if (order && timed_sort(order, r->n) == 0)
		rc = 0;
	for (size_t i = 0; i < r->n && rc == 0; i++)
		rc = take_mark(k, r, order[i].row, &open);
	map_release(&open);
	free(order);
	return rc;
}

int steps_find_marked(struct finding *f)
{
	struct marking k = { .f = f, .best = NOTHING };
	struct step_range_columns ranges;
	struct marks marks;
	int rc = -1;

	if (!ranges_read(f->m, &ranges) || !marks_read(f->m, &marks) || look_at_ranges(&k, &ranges) < 0 ||
	    look_at_marks(&k, &marks) < 0)
		goto out;
	rc = 0;
	if (k.best == NOTHING)
		goto out;
	f->source = k.best % FORMS == FORM_MARK ? STEPS_MARKS : STEPS_RANGES;
	rc = f->source == STEPS_MARKS ? take_marks(&k, &marks) : take_ranges(&k, &ranges);
	if (rc == 0 && k.series.n == 1)
		((struct step_kind *)f->kinds.data)->name = STRING_NONE;
out:
	map_release(&k.seen);
	map_release(&k.series);
	buf_free(&k.looks);
	return rc;
}
