#include "cli/analyze/step_line.h"

#include "cli/analyze/median_step.h"
#include "cli/analyze/step_times.h"
#include "cli/json_out.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps.h"

#include <stdio.h>

/* Steps of a kind that are in no median. */
struct others {
	size_t unrecorded, incomplete;
	bool several;                   /* steps of several processes */
};

/* The kind that has most steps. */
static const struct step_kind *largest(const struct steps *s)
{
	const struct step_kind *best = s->kinds;

	for (size_t i = 1; i < s->n_kinds; i++)
		if (s->kinds[i].n > best->n)
			best = &s->kinds[i];
	return best;
}

static struct others others_of(const struct steps *s, const struct step_kind *k)
{
	struct others o = { 0 };

	for (size_t i = k->first; i < k->first + k->n; i++) {
		const struct step *step = &s->list[i];

		if (!step->selected)
			continue;
		o.unrecorded += !step_was_kept(s, step);
		o.incomplete += step_was_kept(s, step) && step->flags & STEP_INCOMPLETE;
		o.several |= step->process != s->list[k->first].process;
	}
	return o;
}

static void put_others(const struct others *o, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	if (o->unrecorded)
		at += (size_t)snprintf(text, size, "%zu not recorded", o->unrecorded);
	if (o->incomplete)
		snprintf(text + at, size - at, "%s%zu incomplete", at ? ", " : "", o->incomplete);
}

static void put(struct model *m, const struct steps *s, const struct step_kind *k, const struct median_step *of, char *text,
		size_t size)
{
	const struct others o = others_of(s, k);
	char kind[80] = "", more[80], median[32], slowest[32], process[32] = "";
	uint32_t n;
	const struct process *processes = model_processes(m, &n);
	size_t at;

	if (k->name != STRING_NONE)
		snprintf(kind, sizeof kind, " of kind %.60s", model_string(m, k->name));
	put_others(&o, more, sizeof more);
	at = of->n ? (size_t)snprintf(text, size, "%zu%s", of->n, kind) : (size_t)snprintf(text, size, "none complete%s, %s", kind, more);
	if (of->n && *more)
		at += (size_t)snprintf(text + at, size - at, " (and %s)", more);
	if (o.several && of->n)
		snprintf(process, sizeof process, " of process %u", processes[of->slowest->process].number);
	if (of->n > 1)
		at += (size_t)snprintf(text + at, size - at, ", median %s, slowest #%u%s at %s",
				       text_time(median, time_sub(of->median->end, of->median->start)), of->slowest->number, process,
				       text_time(slowest, time_sub(of->slowest->end, of->slowest->start)));
	else if (of->n)
		at += (size_t)snprintf(text + at, size - at, ", #%u%s at %s", of->slowest->number, process,
				       text_time(slowest, time_sub(of->slowest->end, of->slowest->start)));
	snprintf(text + at, size - at, " (%sdetails: report -r steps)",
		 s->list[k->first].flags & STEP_AUTO ? "found from launches that repeat; " : "");
}

int step_line(struct model *m, char *text, size_t size)
{
	const struct steps *s = model_steps_cheaply(m);
	struct median_step of;

	*text = '\0';
	if (!s || !s->n)
		return 0;
	if (median_step(s, ANY_PROCESS, (size_t)(largest(s) - s->kinds), &of) < 0)
		return -1;
	put(m, s, largest(s), &of, text, size);
	return 0;
}
