/* Input of the page's lines about steps, read once: steps, phases and GPU rows. */
#ifndef CLI_REPORT_STEPS_STEP_VIEW_H
#define CLI_REPORT_STEPS_STEP_VIEW_H

#include "cli/report/parts/gpu_times.h"
#include "cli/report/steps/median_step.h"
#include "cli/report/steps/phase_sentence.h"

/* A part is NULL or false when the trace has no such rows, or when reading them would take longer than about a second. */
struct step_view {
	struct model *m;
	const struct steps *s;
	struct phase_rows phases;       /* .times NULL: no phases */
	struct gpu_sets gpu;
	bool has_gpu;
	struct median_step of;          /* of the kind with most steps, over all processes; .n 0: no step is complete */
	size_t kind;                    /* the kind with most steps */
	bool several;                   /* several processes have steps */
};

/* Returns 0, or -1 when out of memory; step_view_end() in any case. */
int step_view_begin(struct step_view *v, struct model *m);
void step_view_end(struct step_view *v);

/* Phases of a step, owned by v; NULL: not known. */
const struct phase_times *step_view_phases(const struct step_view *v, const struct step *step);

/* "median step #5"; with steps in several processes "median step #5 of rank 2"; "step #5" when of->n is 1.  Returns text. */
const char *step_words(const struct step_view *v, const struct median_step *of, char *text, size_t size);

#endif
