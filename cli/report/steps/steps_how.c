#include "cli/report/steps/steps_how.h"

#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"

#include <stdio.h>

#define MOST_KINDS 4u

static const char *of_launches(struct model *m, const struct steps *s, char *text, size_t size)
{
	uint32_t least = 100, anchor = STRING_NONE;

	for (size_t i = 0; i < s->n; i++) {
		if (s->list[i].flags & STEP_AUTO && s->list[i].confidence < least)
			least = s->list[i].confidence;
		if (anchor == STRING_NONE)
			anchor = s->list[i].anchor;
	}
	snprintf(text, size, "steps were found from repeated launches (confidence %u %%)%s%.200s%s", least,
		 anchor == STRING_NONE ? "" : ": each starts with '",
		 anchor == STRING_NONE ? "" : model_string(m, model_name(m, anchor, NAME_BASE)),
		 anchor == STRING_NONE ? "" : "'");
	return text;
}

static const char *none(const struct steps *s, char *text, size_t size)
{
	if (s->asked)
		snprintf(text, size,
			 "no step was recorded: nothing that --step names occurred, or --schedule had not reached a step to record");
	else if (s->windowed && !s->n_windows)
		snprintf(text, size, "no steps: no window started, so nothing was recorded");
	else
		snprintf(text, size,
			 "no steps: no range or mark has the name of a step, and no launches repeat");
	return text;
}

const char *steps_how(struct model *m, const struct steps *s, char *text, size_t size)
{
	const char *first = s->n && s->list[0].name != STRING_NONE ? model_string(m, s->list[0].name) : "";

	if (!s->n)
		return none(s, text, size);
	if (s->list[0].flags & STEP_AUTO)
		return of_launches(m, s, text, size);
	if (s->source == STEPS_TORCH) {
		snprintf(text, size, "steps are found from PyTorch's events: from the end of one Optimizer.step to the end of the "
			 "next; without an optimizer, from batch to batch");
		return text;
	}
	if (s->source == STEPS_RECORDED && !s->asked && model_rows(m, ROW_imported)) {
		snprintf(text, size, "steps are those of the imported file%s%.100s%s", *first ? " (" : "", first, *first ? ", ...)" : "");
		return text;
	}
	snprintf(text, size, "steps are %s%s%.100s%s",
		 s->source == STEPS_MARKS    ? "marks with the names of steps"
		 : s->source == STEPS_RANGES ? model_imported(m) ? "ranges with the names of steps" : "NVTX ranges with the names of steps"
					     : "those of --step and --schedule",
		 *first ? " (" : "", first, *first ? ", ...)" : "");
	return text;
}

const char *steps_count(struct model *m, const struct steps *s, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "%s", s->n ? "" : "none");

	for (size_t i = 0; i < s->n_kinds && i < MOST_KINDS && at < size; i++) {
		const struct step_kind *k = &s->kinds[i];

		at += (size_t)snprintf(text + at, size - at, "%s%zu%s%.40s", i ? ", " : "", k->n,
				       k->name == STRING_NONE ? "" : " of kind ",
				       k->name == STRING_NONE ? "" : model_string(m, k->name));
	}
	if (s->n_kinds > MOST_KINDS && at < size)
		snprintf(text + at, size - at, ", and %zu kinds more", s->n_kinds - MOST_KINDS);
	return text;
}

const char *window_cause(unsigned cause)
{
	static const char *const words[] = { "program", "order", "cudaProfilerStart", "nvtx", "schedule" };

	return cause < sizeof words / sizeof *words ? words[cause] : "unknown";
}
