#include "cli/report/steps/median_step.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/report/steps/step_stats.h"
#include "cli/report/steps/step_times.h"
#include "cli/ui/json_out.h"

#include <stdio.h>
#include <stdlib.h>

static int64_t wall_of(const struct step *step)
{
	return time_sub(step->end, step->start);
}

static bool taken(const struct steps *s, const struct step *step, uint32_t process)
{
	return (process == ANY_PROCESS || step->process == process) && step_counts(s, step);
}

int median_step(const struct steps *s, uint32_t process, size_t kind, struct median_step *out)
{
	const struct step *first = s->list + s->kinds[kind].first, *end = first + s->kinds[kind].n;
	int64_t *wall = malloc(s->kinds[kind].n * sizeof *wall + 1), median;

	*out = (struct median_step){ 0 };
	if (!wall)
		return -1;
	for (const struct step *step = first; step < end; step++)
		if (taken(s, step, process)) {
			wall[out->n++] = wall_of(step);
			if (!out->slowest || wall_of(step) > wall_of(out->slowest))
				out->slowest = step;
		}
	median = out->n ? percentile_of(wall, out->n, 50) : 0;
	for (const struct step *step = first; step < end && out->n && !out->median; step++)
		if (taken(s, step, process) && wall_of(step) == median)
			out->median = step;
	free(wall);
	return 0;
}

bool most_steps(const struct steps *s, const bool *wanted, uint32_t *process, size_t *kind)
{
	size_t most = 0, to;

	for (size_t from = 0; from < s->n; from = to) {
		const struct step *first = &s->list[from];
		size_t n = 0;

		for (to = from; to < s->n && s->list[to].process == first->process && s->list[to].kind == first->kind; to++)
			n += step_counts(s, &s->list[to]);
		if (n <= most || !wanted[first->process])
			continue;
		most = n;
		*process = first->process;
		*kind = first->kind;
	}
	return most;
}

const char *median_step_words(struct model *m, const struct steps *s, const struct median_step *of, char *text, size_t size)
{
	uint32_t name = s->kinds[of->median->kind].name;
	char kind[80] = "", wall[32];

	if (name != STRING_NONE)
		snprintf(kind, sizeof kind, " of kind %.60s", model_string(m, name));
	text_time(wall, wall_of(of->median));
	if (of->n > 1)
		snprintf(text, size, "median step (#%u of %zu steps%s), %s", of->median->number, of->n, kind, wall);
	else
		snprintf(text, size, "step #%u%s, %s", of->median->number, kind, wall);
	return text;
}

const char *process_words(struct model *m, uint32_t process, bool several, char *text, size_t size)
{
	uint32_t n;
	const struct process *p = &model_processes(m, &n)[process];
	const char *rank = process_attribute(p, "rank");

	*text = '\0';
	if (several && rank && *rank)
		snprintf(text, size, "process %u (rank %.9s): ", p->number, rank);
	else if (several)
		snprintf(text, size, "process %u: ", p->number);
	return text;
}

const char *whose_words(struct model *m, uint32_t process, char text[48])
{
	uint32_t n;
	const struct process *p = &model_processes(m, &n)[process];
	const char *rank = process_attribute(p, "rank");

	if (rank && *rank)
		snprintf(text, 48, " of rank %.9s", rank);
	else
		snprintf(text, 48, " of process %u", p->number);
	return text;
}
