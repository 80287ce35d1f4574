/* Finding steps and assigning rows to them; private to cli/model/steps. */
#ifndef CLI_MODEL_STEPS_STEPS_INSIDE_H
#define CLI_MODEL_STEPS_STEPS_INSIDE_H

#include "cli/model/inside.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"

struct steps_derived {
	struct steps public;
	struct finder **of_kind;        /* steps_rows.c, by kind of step; made on first use */
};

/* Steps while they are searched.  step.kind is a position in kinds, which are not sorted yet. */
struct finding {
	struct model *m;
	struct buf steps;               /* struct step */
	struct buf kinds;               /* struct step_kind */
	enum step_source source;
};

/* Add the steps they find to *f, and set f->source if there are any.  steps_find.c, steps_auto.c, steps_torch.c.  0, or -1: out of memory. */
int steps_find_marked(struct finding *f);
int steps_find_launched(struct finding *f);
int steps_find_torch(struct finding *f);

/* steps_last.c: removes the step that torch.profiler's last step() call began behind the loop.  0, or -1: out of memory. */
int steps_drop_last(struct finding *f);

/* End of a span; clamped, since a damaged row may have any duration. */
static inline int64_t span_end(int64_t start, int64_t duration)
{
	return time_add(start, duration > 0 ? duration : 0);
}

/* Position of the kind with this name, added if it is new; UINT32_MAX: out of memory. */
uint32_t finding_kind(struct finding *f, uint32_t name);

/* End of a process, or of the trace if it is not known. */
int64_t finding_end(const struct finding *f, uint32_t process);

#endif
