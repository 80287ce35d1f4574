/* Chooses the steps to export: those of one process, kind and thread, on one track, without overlap. */
#include "cli/export/export.h"
#include "cli/model/join.h"
#include "cli/model/map.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"

#include <ctype.h>
#include <stdlib.h>

#define KINETO_STEP "ProfilerStep#"

static bool takes(const struct export *x, uint32_t process)
{
	return !x->takes || x->takes[process];
}

/* Whether exported ranges are already named ProfilerStep#N; with more steps, tools would count each twice. */
static int named_already(struct export *x, bool *named)
{
	const uint32_t *name = MODEL_U32(x->m, range, name), *process = model_row_process(x->m, ROW_range);
	struct map seen = { 0 };
	int rc = name && process ? 0 : -1;

	*named = false;
	for (size_t i = 0, n = model_rows(x->m, ROW_range); rc == 0 && i < n && !*named; i++) {
		const char *text;
		bool new;

		if (!takes(x, process[i]))
			continue;
		if (!map_put(&seen, name[i], 0, &new)) {
			rc = -1;
		} else if (new) {
			text = model_string(x->m, name[i]);
			*named = strncmp(text, KINETO_STEP, sizeof KINETO_STEP - 1) == 0 &&
				 isdigit((unsigned char)text[sizeof KINETO_STEP - 1]);
		}
	}
	map_release(&seen);
	return rc;
}

/* Whether the step is a range of its thread, so that the thread's other slices nest with it; else it needs its own track. */
static bool on_thread(struct export *x, const struct step *step)
{
	size_t row = model_range_of(x->m, step->process, step->range);
	const int64_t *start = MODEL_I64(x->m, range, start), *duration = MODEL_I64(x->m, range, duration);
	const uint32_t *flags = MODEL_U32(x->m, range, flags), *thread = MODEL_U32(x->m, range, thread);

	return row != NO_ROW && start && duration && flags && thread && !(flags[row] & (RANGE_STARTEND | RANGE_INCOMPLETE)) &&
	       thread[row] == step->thread && start[row] == step->start && time_add(start[row], duration[row]) == step->end;
}

/* Whether to export a step.  A step without kept rows would look idle, an incomplete one short; both are left out. */
static bool wanted(struct export *x, const struct steps *s, const struct step *step)
{
	return step->selected && !(step->flags & (STEP_WARMUP | STEP_INCOMPLETE)) && takes(x, step->process) &&
	       (step->window || steps_recorded_whole(s, step->process));
}

/* A process, kind and thread and its number of steps.  Tools support one row of steps, so that with most steps is exported. */
struct choice {
	uint32_t process, kind, thread, n;
};

static int choose(struct export *x, const struct steps *s, struct choice *best)
{
	struct map counts = { 0 };

	*best = (struct choice){ .n = 0 };
	for (size_t i = 0; i < s->n; i++) {
		const struct step *step = &s->list[i];
		uint64_t key;
		uint32_t *n;
		bool new;

		if (!wanted(x, s, step))
			continue;
		key = (uint64_t)step->process << 44 | (uint64_t)(step->kind & 0xfffffu) << 24 |
		      (step->thread & 0xffffffu);
		n = map_put(&counts, key, 0, &new);
		if (!n) {
			map_release(&counts);
			return -1;
		}
		++*n;
		if (*n - 1 > best->n)
			*best = (struct choice){ step->process, step->kind, step->thread, *n - 1 };
	}
	map_release(&counts);
	return 0;
}

static void collect(struct export *x, const struct steps *s, const struct choice *best, struct step_slice *out,
		    size_t *n)
{
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < s->n; i++) {
		const struct step *step = &s->list[i];
		struct step_slice slice = {
			.start = step->start, .end = step->end, .number = step->number, .process = step->process,
			.thread = step->thread,
		};

		if (!wanted(x, s, step) || step->process != best->process || step->kind != best->kind ||
		    step->thread != best->thread)
			continue;
		slice.apart = !on_thread(x, step);
		if (slice.start < end)
			continue;       /* overlaps the previous step, as start/end ranges can */
		end = slice.end;
		out[(*n)++] = slice;
	}
}

int export_steps(struct export *x, struct step_slice **steps, size_t *n, bool *named)
{
	const struct steps *s = model_steps(x->m);
	struct choice best;

	*steps = NULL;
	*n = 0;
	if (!s || named_already(x, named) < 0)
		return -1;
	if (*named)
		return 0;
	if (choose(x, s, &best) < 0 || !(*steps = calloc((size_t)best.n, sizeof **steps)))
		return -1;
	collect(x, s, &best, *steps, n);
	return 0;
}
