#include "cli/analyze/step_line.h"

#include "cli/analyze/step_stats.h"
#include "cli/analyze/step_times.h"
#include "cli/json_out.h"
#include "cli/model/model.h"
#include "cli/model/sort.h"
#include "cli/model/steps.h"

#include <stdlib.h>

/* The kind that has most steps. */
static const struct step_kind *largest(const struct steps *s)
{
	const struct step_kind *best = s->kinds;

	for (size_t i = 1; i < s->n_kinds; i++)
		if (s->kinds[i].n > best->n)
			best = &s->kinds[i];
	return best;
}

static int put(struct model *m, const struct steps *s, const struct step_kind *k, char *text, size_t size)
{
	int64_t *wall = malloc(k->n * sizeof *wall + 1), most = -1;
	const struct step *longest = NULL;
	char of[80] = "", kept[48] = "", usual[32], worst[32];
	size_t n = 0, recorded = 0;

	if (!wall)
		return -1;
	for (size_t i = k->first; i < k->first + k->n; i++) {
		const struct step *step = &s->list[i];
		int64_t took = time_sub(step->end, step->start);

		if (!step_was_kept(s, step))
			continue;
		recorded++;
		if (step->flags & STEP_INCOMPLETE)
			continue;
		wall[n++] = took;
		if (took > most)
			longest = step, most = took;
	}
	if (k->name != STRING_NONE)
		snprintf(of, sizeof of, " of kind %.60s", model_string(m, k->name));
	if (recorded < k->n)
		snprintf(kept, sizeof kept, ", %zu of them recorded", recorded);
	if (n == 1)
		snprintf(text, size, "%zu%s%s%s: number %u took %s; gprof-trace report -r steps says where", k->n, of,
			 longest->flags & STEP_AUTO ? " found by what is launched" : "", kept, longest->number,
			 text_time(worst, most));
	else if (n)
		snprintf(text, size,
			 "%zu%s%s%s: half take %s or less, number %u the longest with %s; gprof-trace report -r "
			 "steps says why",
			 k->n, of, longest->flags & STEP_AUTO ? " found by what is launched" : "", kept,
			 text_time(usual, percentile_of(wall, n, 50)), longest->number, text_time(worst, most));
	free(wall);
	return 0;
}

int step_line(struct model *m, char *text, size_t size)
{
	const struct steps *s = model_steps_cheaply(m);

	*text = '\0';
	return s && s->n ? put(m, s, largest(s), text, size) : 0;
}
