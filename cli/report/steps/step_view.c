#include "cli/report/steps/step_view.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/torch/torch.h"

#include <stdio.h>
#include <stdlib.h>

#define MANY_ROWS 2000000u      /* rows of one kind; reading more takes longer than about a second */

static bool few(struct model *m, unsigned kind)
{
	return model_rows(m, kind) <= MANY_ROWS;
}

/* The kind with most steps. */
static size_t largest(const struct steps *s)
{
	size_t best = 0;

	for (size_t i = 1; i < s->n_kinds; i++)
		if (s->kinds[i].n > s->kinds[best].n)
			best = i;
	return best;
}

static int read_phases(struct step_view *v)
{
	struct phase_rows *r = &v->phases;
	bool any = false;
	uint32_t n;

	if (!v->s || !model_has_torch(v->m) || !few(v->m, ROW_op) || !few(v->m, ROW_kernel) || !few(v->m, ROW_api))
		return 0;
	*r = (struct phase_rows){ .m = v->m, .s = v->s, .phases = model_phases(v->m) };
	if (!r->phases)
		return -1;
	model_processes(v->m, &n);
	for (uint32_t p = 0; p < n; p++)
		any |= r->phases[p].n;
	if (any)
		r->times = phase_times_make(v->m, v->s);
	return any && !r->times ? -1 : 0;
}

int step_view_begin(struct step_view *v, struct model *m)
{
	*v = (struct step_view){ .m = m, .s = model_steps_cheaply(m) };
	v->has_gpu = few(m, ROW_kernel) && few(m, ROW_memcpy) && few(m, ROW_memset) && model_has_gpu_rows(m);
	if (v->has_gpu && gpu_sets_make(&v->gpu, m) < 0)
		return -1;
	if (v->s && v->s->n) {
		v->kind = largest(v->s);
		for (size_t i = 1; i < v->s->n; i++)
			v->several |= v->s->list[i].process != v->s->list[0].process;
		if (median_step(v->s, ANY_PROCESS, v->kind, &v->of) < 0)
			return -1;
	}
	return read_phases(v);
}

void step_view_end(struct step_view *v)
{
	if (v->has_gpu)
		gpu_sets_release(&v->gpu);
	free((void *)v->phases.times);
	*v = (struct step_view){ 0 };
}

const struct phase_times *step_view_phases(const struct step_view *v, const struct step *step)
{
	return v->phases.times && v->phases.phases[step->process].n ? &v->phases.times[step - v->s->list] : NULL;
}

const char *step_words(const struct step_view *v, const struct median_step *of, char *text, size_t size)
{
	uint32_t name = v->s->kinds[of->median->kind].name;
	char who[48] = "", kind[64] = "";

	if (v->s->n_kinds > 1 && name != STRING_NONE)
		snprintf(kind, sizeof kind, " of kind %.40s", model_string(v->m, name));
	snprintf(text, size, "%sstep #%u%s%s", of->n > 1 ? "median " : "", of->median->number, kind,
		 v->several ? whose_words(v->m, of->median->process, who) : "");
	return text;
}
