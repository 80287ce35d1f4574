/*
 * Each call of torch.profiler's step() opens a ProfilerStep#N, also the last call, after which the loop ends.  That last ProfilerStep is
 * not a step.  It is recognised because it lacks an Optimizer.step and a backward pass, if the steps before it have them.
 */
#include "cli/model/steps/steps_inside.h"

#include "cli/model/torch/phases.h"
#include "trace/rules/stepname.h"

#define SIGN_OPTIMIZER 1u
#define SIGN_BACKWARD  2u

struct looking {
	struct model *m;
	struct step *list;
	size_t n;
	uint32_t *order;                /* positions of the profiler's steps, by process, then start */
	uint8_t *signs;                 /* by position in order: SIGN_ bits */
	size_t n_order;
	struct map names;               /* string id -> signs of a range of this name */
};

static bool is_profilers(struct model *m, uint32_t name)
{
	struct stepname says;
	const char *text = name == STRING_NONE ? "" : model_string(m, name);

	return stepname_parse(&says, text, strlen(text)) && says.rank == STEPNAME_PROFILER;
}

static int by_start(const void *a, const void *b, void *list)
{
	const struct step *x = (const struct step *)list + *(const uint32_t *)a, *y = (const struct step *)list + *(const uint32_t *)b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static uint8_t signs_of(struct looking *k, uint32_t name)
{
	const char *text;
	enum phase_mark mark;
	uint8_t signs = 0;
	uint32_t known = map_get(&k->names, name);

	if (known != MAP_NONE)
		return (uint8_t)known;
	text = model_string(k->m, name);
	if (phase_mark_of(text, false, &mark) && mark == MARK_OPTIMIZER)
		signs = SIGN_OPTIMIZER;
	else if (strstr(text, "Backward"))
		signs = SIGN_BACKWARD;
	return map_set(&k->names, name, signs) ? signs : 0;
}

/* Position in order of the step that contains a time; n_order: none. */
static size_t place_of(const struct looking *k, uint32_t process, int64_t time)
{
	size_t low = 0, high = k->n_order;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct step *s = &k->list[k->order[mid]];

		if (s->process < process || (s->process == process && s->start <= time))
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || k->list[k->order[low - 1]].process != process || k->list[k->order[low - 1]].end <= time)
		return k->n_order;
	return low - 1;
}

static int look_at_ranges(struct looking *k)
{
	const int64_t *start = MODEL_I64(k->m, range, start);
	const uint32_t *name = MODEL_U32(k->m, range, name), *process = model_row_process(k->m, ROW_range);

	if (!start || !name || !process)
		return -1;
	for (size_t i = 0; i < model_rows(k->m, ROW_range); i++) {
		uint8_t signs = signs_of(k, name[i]);
		size_t at = signs ? place_of(k, process[i], start[i]) : k->n_order;

		if (at < k->n_order)
			k->signs[at] |= signs;
	}
	return 0;
}

/* Whether the last step of a process, order[from..to), lacks all signs that every earlier recorded step has. */
static bool lacks(const struct looking *k, size_t from, size_t to)
{
	uint8_t all = SIGN_OPTIMIZER | SIGN_BACKWARD;
	size_t n = 0;

	for (size_t i = from; i + 1 < to; i++) {
		all &= k->signs[i] ? k->signs[i] : all;
		n += k->signs[i] != 0;
	}
	/* An incomplete step may have had its signs later. */
	return n && all && k->signs[to - 2] && !(k->signs[to - 1] & all) && !(k->list[k->order[to - 1]].flags & STEP_INCOMPLETE);
}

static void drop(struct looking *k, struct finding *f)
{
	size_t kept = 0, to;

	for (size_t from = 0; from < k->n_order; from = to) {
		uint32_t process = k->list[k->order[from]].process;

		for (to = from; to < k->n_order && k->list[k->order[to]].process == process; to++)
			;
		if (to - from > 1 && lacks(k, from, to))
			k->list[k->order[to - 1]].process = UINT32_MAX;
	}
	for (size_t i = 0; i < k->n; i++)
		if (k->list[i].process != UINT32_MAX)
			k->list[kept++] = k->list[i];
	f->steps.len = kept * sizeof *k->list;
}

int steps_drop_last(struct finding *f)
{
	struct looking k = { .m = f->m, .list = (struct step *)f->steps.data, .n = f->steps.len / sizeof(struct step) };
	int rc = 0;

	k.order = malloc(k.n * sizeof *k.order + 1);
	for (size_t i = 0; k.order && i < k.n; i++)
		if (is_profilers(f->m, k.list[i].name))
			k.order[k.n_order++] = (uint32_t)i;
	k.signs = calloc(k.n_order + 1, 1);
	if (!k.order || !k.signs) {
		rc = -1;
	} else if (k.n_order > 1) {
		qsort_r(k.order, k.n_order, sizeof *k.order, by_start, k.list);
		rc = look_at_ranges(&k);
		if (rc == 0)
			drop(&k, f);
	}
	free(k.order);
	free(k.signs);
	map_release(&k.names);
	return rc;
}
