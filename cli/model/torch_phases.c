/* Phases out of the rows of a trace, and the steps that they make. */
#include "cli/model/steps_inside.h"

#include "cli/model/torch_inside.h"

/* What the ranges of a name mean. */
struct meaning {
	bool known, node;
	enum phase_mark mark;
};

static const struct meaning *meaning_of(struct model *m, struct map *names, struct buf *meanings, const struct torch_range *r)
{
	bool node = r->scope == TORCH_BACKWARD, new;
	uint32_t *at = map_put(names, (uint64_t)node << 32 | r->name, (uint32_t)names->n, &new);

	if (at && new) {
		const char *name = model_string(m, r->name);
		struct meaning made = { .known = false };

		/* torch.profiler writes this node, and of old every scope, as it writes operators; so it is in imported traces. */
		made.node = node || strcmp(name, "torch::autograd::AccumulateGrad") == 0;
		made.known = phase_mark_of(name, made.node, &made.mark);
		buf_put(meanings, &made, sizeof made);
	}
	return at && !meanings->oom ? (const struct meaning *)meanings->data + (*at - 1) : NULL;
}

static int collect(struct model *m, const struct torch_ranges *t, size_t from, size_t to, struct phases *out)
{
	struct buf events = { 0 }, meanings = { 0 };
	struct map names = { 0 };
	int rc = 0;

	for (size_t i = from; i < to && rc == 0; i++) {
		const struct torch_range *r = &t->list[i];
		const struct meaning *meaning = meaning_of(m, &names, &meanings, r);
		struct phase_event e = {
			.start = r->start, .end = r->end, .thread = r->thread, .sequence = r->op == NO_TORCH ? -1 : t->sequence[r->op],
			.fwd_thread = r->op == NO_TORCH ? 0 : t->fwd_thread[r->op],
		};

		if (!meaning)
			rc = -1;
		/* What had not ended is no step, no batch and no pass. */
		if (!meaning || !meaning->known || r->flags & RANGE_INCOMPLETE)
			continue;
		e.mark = meaning->mark;
		buf_put(&events, &e, sizeof e);
	}
	if (events.oom)
		rc = -1;
	if (rc == 0)
		rc = phases_make((struct phase_event *)events.data, events.len / sizeof(struct phase_event), out);
	buf_free(&events);
	buf_free(&meanings);
	map_release(&names);
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
