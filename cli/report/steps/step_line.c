#include "cli/report/steps/step_line.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"
#include "cli/report/steps/median_step.h"
#include "cli/report/steps/step_times.h"
#include "cli/report/steps/step_view.h"
#include "cli/ui/json_out.h"

#include <stdio.h>
#include <stdlib.h>

/* Number of steps of a kind that are left out of medians. */
struct others {
	size_t unrecorded, incomplete;
	bool several;                   /* the kind has steps of several processes */
};

static struct others others_of(const struct steps *s, const struct step_kind *k)
{
	struct others o = { 0 };

	for (size_t i = k->first; i < k->first + k->n; i++) {
		const struct step *step = &s->list[i];

		if (!step->selected)
			continue;
		o.unrecorded += !step_was_kept(s, step);
		o.incomplete += step_was_kept(s, step) && step->flags & STEP_INCOMPLETE;
		o.several |= step->process != s->list[k->first].process;
	}
	return o;
}

static void put_others(const struct others *o, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	if (o->unrecorded)
		at += (size_t)snprintf(text, size, "%zu not recorded", o->unrecorded);
	if (o->incomplete)
		snprintf(text + at, size - at, "%s%zu incomplete", at ? ", " : "", o->incomplete);
}

/* "GPU idle" or "GPU busy": which of the two is more ns longer in the slowest step than in the median step.  NULL: not known. */
static const char *gpu_excess(const struct step_view *v, int64_t *excess)
{
	const struct step *slow = v->of.slowest, *usual = v->of.median;
	struct gpu_times a, b;

	if (!v->has_gpu)
		return NULL;
	a = gpu_times_within(&v->gpu, slow->process, slow->start, slow->end);
	b = gpu_times_within(&v->gpu, usual->process, usual->start, usual->end);
	if (!a.known || !b.known)
		return NULL;
	*excess = time_sub(a.idle, b.idle);
	if (time_sub(a.busy, b.busy) <= *excess)
		return "GPU idle";
	*excess = time_sub(a.busy, b.busy);
	return "GPU busy";
}

/* The phase with the largest excess of the slowest step over the median step, of those known in both.  NULL: none is longer. */
static const char *phase_excess(const struct step_view *v, int64_t *excess)
{
	const struct phase_times *slow = step_view_phases(v, v->of.slowest), *usual = step_view_phases(v, v->of.median);
	const char *most = NULL;

	*excess = 0;
	for (enum phase i = 0; i < PHASES && slow && usual; i++) {
		int64_t more = time_sub(slow->host[i], usual->host[i]);

		if (more <= *excess || !phase_known(&v->phases.phases[v->of.slowest->process], i) ||
		    !phase_known(&v->phases.phases[v->of.median->process], i))
			continue;
		*excess = more;
		most = phase_word[i];
	}
	return most;
}

/* ": other +96.0 ms": what is longer in the slowest step; nothing when that step is less than 10 % longer than the median step. */
static void put_excess(const struct step_view *v, char *text, size_t size)
{
	int64_t usual = time_sub(v->of.median->end, v->of.median->start);
	int64_t excess = 0, more = time_sub(time_sub(v->of.slowest->end, v->of.slowest->start), usual);
	const char *what = phase_excess(v, &excess);
	char time[32];

	if (!what)
		what = gpu_excess(v, &excess);
	if (what && excess > 0 && more >= usual / 10)
		snprintf(text, size, ": %s +%s", what, text_time(time, excess));
}

int step_line(const struct step_view *v, char *text, size_t size)
{
	const struct steps *s = v->s;
	const struct step_kind *k = s && s->n ? &s->kinds[v->kind] : NULL;
	const struct median_step *of = &v->of;
	char kind[80] = "", more[80], median[32], slowest[32], who[48] = "", why[64] = "";
	struct others o;
	size_t at;

	*text = '\0';
	if (!k)
		return 0;
	o = others_of(s, k);
	if (k->name != STRING_NONE)
		snprintf(kind, sizeof kind, " of kind %.60s", model_string(v->m, k->name));
	put_others(&o, more, sizeof more);
	at = of->n ? (size_t)snprintf(text, size, "%zu%s", of->n, kind) : (size_t)snprintf(text, size, "none complete%s, %s", kind, more);
	if (of->n && *more)
		at += (size_t)snprintf(text + at, size - at, " (and %s)", more);
	if (o.several && of->n)
		whose_words(v->m, of->slowest->process, who);
	if (of->n > 1) {
		put_excess(v, why, sizeof why);
		at += (size_t)snprintf(text + at, size - at, ", median %s, slowest #%u%s at %s%s",
				       text_time(median, time_sub(of->median->end, of->median->start)), of->slowest->number, who,
				       text_time(slowest, time_sub(of->slowest->end, of->slowest->start)), why);
	} else if (of->n)
		at += (size_t)snprintf(text + at, size - at, ", #%u%s at %s", of->slowest->number, who,
				       text_time(slowest, time_sub(of->slowest->end, of->slowest->start)));
	if (s->list[k->first].flags & STEP_AUTO)
		snprintf(text + at, size - at, " (found from launches that repeat%s)", *why ? "" : "; details: report -r steps");
	else if (!*why)
		snprintf(text + at, size - at, " (details: report -r steps)");
	return 0;
}

/* Complete steps of each process in its first window. */
struct first_window {
	size_t complete;
	bool began;                     /* a step of it was kept */
	bool first;                     /* the step that the schedule begins with is complete */
};

static struct first_window *first_windows(const struct step_view *v, uint64_t first, uint32_t *n)
{
	const struct step_kind *k = &v->s->kinds[v->kind];
	struct first_window *w;

	model_processes(v->m, n);
	w = calloc(*n, sizeof *w);
	for (size_t i = k->first; w && i < k->first + k->n; i++) {
		const struct step *step = &v->s->list[i];
		bool complete = !(step->flags & STEP_INCOMPLETE);

		if (step->window != 1 || !step_was_kept(v->s, step))
			continue;
		w[step->process].began = true;
		w[step->process].complete += complete;
		w[step->process].first |= complete && step->number <= first;
	}
	return w;
}

int first_window_line(const struct step_view *v, char *text, size_t size)
{
	const struct step_kind *k = v->s && v->s->n ? &v->s->kinds[v->kind] : NULL;
	struct first_window *w;
	uint64_t first, active;
	size_t complete = 0;
	uint32_t n, late = 0;

	*text = '\0';
	if (!k || !(v->s->list[k->first].flags & STEP_AUTO) || model_selected(v->m) || !model_schedule(v->m, &first, &active))
		return 0;
	w = first_windows(v, first, &n);
	if (!w)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (!w[i].began || w[i].first || w[i].complete >= active)
			continue;
		late++;
		complete = w[i].complete;
	}
	free(w);
	if (late == 1)
		snprintf(text, size, "%zu of the %llu steps in window 1 %s complete: ", complete, (unsigned long long)active, complete == 1 ? "is" : "are");
	else if (late)
		snprintf(text, size, "window 1 of %u processes has less than %llu complete steps: ", late, (unsigned long long)active);
	if (late)
		snprintf(text + strlen(text), size - strlen(text), "launches that repeat are recognised late. To record all, use a longer wait or --step nvtx:GLOB");
	return 0;
}
