/* Steps while they are searched. */
#include "cli/model/steps/steps_inside.h"

uint32_t finding_kind(struct finding *f, uint32_t name)
{
	const struct step_kind new = { .name = name };

	buf_put(&f->kinds, &new, sizeof new);
	return f->kinds.oom ? UINT32_MAX : (uint32_t)(f->kinds.len / sizeof new - 1);
}

int64_t finding_end(const struct finding *f, uint32_t process)
{
	int64_t end = f->m->processes[process].end;

	return end ? end : model_end(f->m);
}
