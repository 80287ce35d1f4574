/* Steps from the phases of training. */
#include "cli/model/steps/steps_inside.h"

#include "cli/model/torch/torch.h"

/* If any process trains, batches of processes that do not train are not steps. */
int steps_find_torch(struct finding *f)
{
	const struct phases *phases;
	bool training = false;
	uint32_t kind = UINT32_MAX;

	if (!model_has_torch(f->m))
		return 0;
	phases = model_phases(f->m);
	if (!phases)
		return -1;
	for (uint32_t p = 0; p < f->m->n_processes; p++)
		training |= phases[p].n_steps && !phases[p].inference;
	for (uint32_t p = 0; p < f->m->n_processes; p++)
		for (size_t i = 0; i < phases[p].n_steps && phases[p].inference != training; i++) {
			const struct step step = {
				.start = phases[p].steps[i].start, .end = phases[p].steps[i].end, .process = p, .kind = 0,
				.thread = phases[p].thread, .confidence = 100,
				.flags = phases[p].steps[i].headless ? STEP_INCOMPLETE : 0,
			};

			if (kind == UINT32_MAX && (kind = finding_kind(f, STRING_NONE)) == UINT32_MAX)
				return -1;
			buf_put(&f->steps, &step, sizeof step);
			f->source = STEPS_TORCH;
		}
	return f->steps.oom ? -1 : 0;
}
