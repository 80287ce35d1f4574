/* Phases out of the rows of a trace, and the steps that they make. */
#include "cli/model/steps_inside.h"

#include "cli/model/torch_inside.h"

static int collect(struct model *m, const struct torch_ranges *t, size_t from, size_t to, struct phases *out)
{
	/* In torch.profiler's files, and so in imported traces, this node looks like an operator. */
	uint32_t accumulate = model_intern(m, "torch::autograd::AccumulateGrad");
	struct buf events = { 0 };
	int rc;

	for (size_t i = from; i < to; i++) {
		const struct torch_range *r = &t->list[i];
		struct phase_event e = {
			.start = r->start, .end = r->end, .thread = r->thread, .sequence = r->op == NO_TORCH ? -1 : t->sequence[r->op],
			.fwd_thread = r->op == NO_TORCH ? 0 : t->fwd_thread[r->op],
		};

		bool node = r->scope == TORCH_BACKWARD || r->name == accumulate;

		/* An operator may be called anything.  What had not ended is no step, no batch and no pass. */
		if (r->flags & RANGE_INCOMPLETE || (!node && r->scope != TORCH_USER))
			continue;
		if (phase_mark_of(model_string(m, r->name), node, &e.mark))
			buf_put(&events, &e, sizeof e);
	}
	rc = events.oom ? -1 : phases_make((struct phase_event *)events.data, events.len / sizeof(struct phase_event), out);
	buf_free(&events);
	return rc;
}

const struct phases *model_phases(struct model *m)
{
	struct torch_made *made = torch_made(m);
	const struct torch_ranges *t;
	size_t to;

	if (!made || made->phases)
		return made ? made->phases : NULL;
	t = model_torch(m);
	made->phases = t ? calloc(m->n_processes + 1, sizeof *made->phases) : NULL;
	for (size_t from = 0; made->phases && from < t->n; from = to) {
		uint32_t process = t->list[from].process;

		for (to = from + 1; to < t->n && t->list[to].process == process; to++)
			;
		if (collect(m, t, from, to, &made->phases[process]) < 0) {
			for (uint32_t p = 0; p < m->n_processes; p++)
				phases_release(&made->phases[p]);
			free(made->phases);
			made->phases = NULL;
		}
	}
	return made->phases;
}

/* A trace in which some processes train is about training: the batches of the others are no steps. */
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
