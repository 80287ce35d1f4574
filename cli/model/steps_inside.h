/* How steps are made and rows are given to them; for the files of cli/model that do it. */
#ifndef MODEL_STEPS_INSIDE_H
#define MODEL_STEPS_INSIDE_H

#include "cli/model/inside.h"
#include "cli/model/sort.h"
#include "cli/model/steps.h"

struct steps_made {
	struct steps public;
	struct finder **of_kind;        /* steps_rows.c: made when first needed */
};

/* Steps being found: buffers of structs.  kind of a step is a position in kinds, in no order yet. */
struct finding {
	struct model *m;
	struct buf steps;               /* struct step */
	struct buf kinds;               /* struct step_kind */
	enum step_source source;
};

/* steps_find.c, steps_auto.c: add steps where they find any, and say so in source.  0, or -1: out of memory. */
int steps_find_marked(struct finding *f);
int steps_find_launched(struct finding *f);
int steps_find_torch(struct finding *f);        /* torch_phases.c */

/* steps_last.c: the step of torch.profiler's that its last step() began is none.  0, or -1: out of memory. */
int steps_drop_last(struct finding *f);

/* Of a damaged row the length may be anything. */
static inline int64_t span_end(int64_t start, int64_t duration)
{
	return time_add(start, duration > 0 ? duration : 0);
}

/* Position of a new kind, or UINT32_MAX: out of memory. */
uint32_t finding_kind(struct finding *f, uint32_t name);

/* The last time known of a process: its end, else that of the trace. */
int64_t finding_end(const struct finding *f, uint32_t process);

#endif
