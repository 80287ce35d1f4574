#include "cli/report/steps/phase_sentence.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/report/parts/stats.h"
#include "cli/report/steps/comm_line.h"
#include "cli/report/steps/median_step.h"
#include "cli/report/steps/step_times.h"
#include "cli/report/steps/step_view.h"
#include "cli/ui/json_out.h"

#include <stdlib.h>

const char *const phase_word[PHASES] = { "data", "forward", "backward", "optimizer", "zero_grad", "other" };

bool phase_known(const struct phases *p, enum phase phase)
{
	switch (phase) {
	case PHASE_DATA:
		return p->seen[MARK_DATA];
	case PHASE_FORWARD:
		return p->forward;
	case PHASE_BACKWARD:
		return p->seen[MARK_BACKWARD];
	case PHASE_OPTIMIZER:
		return p->seen[MARK_OPTIMIZER];
	case PHASE_ZERO_GRAD:
		return p->seen[MARK_ZERO_GRAD];
	default:
		return true;
	}
}

bool phase_listed(const struct phase_rows *r, const struct step *step)
{
	return step->selected && step_was_kept(r->s, step) && r->phases[step->process].n;
}

/* Unit and decimals that text_time() uses for the whole step, for all its phases: "31", "0.4". */
struct phase_scale {
	int64_t unit;                   /* ns of the last printed digit */
	unsigned decimals;
};

static struct phase_scale scale_of(int64_t ns)
{
	static const int64_t units[] = { 1000000000, 1000000, 1000, 1 };
	size_t i = 0;
	unsigned decimals;

	while (i < 3 && ns < units[i])
		i++;
	decimals = i == 3 || ns >= 100 * units[i] ? 0 : ns >= 10 * units[i] ? 1 : 2;
	return (struct phase_scale){ units[i] / (decimals == 2 ? 100 : decimals ? 10 : 1), decimals };
}

static const char *scaled(char text[32], const struct phase_scale *s, int64_t ns)
{
	*digits_fixed(text, time_add(ns, s->unit / 2) / s->unit, s->decimals) = '\0';
	return text;
}

/* Prints the phases of 0.5 % of the step and more.  units: each with its unit.  Returns false when only `other` was printed. */
static bool put_phases(const struct phases *p, const struct phase_times *t, bool units, char *text, size_t size)
{
	const struct phase_scale scale = scale_of(t->wall);
	char part[32], wall[32];
	const char *unit = units ? strrchr(text_time(wall, t->wall), ' ') : "";
	size_t at = 0;
	bool any = false;

	*text = '\0';
	for (enum phase i = 0; i < PHASES; i++)
		if (phase_known(p, i) && t->host[i] >= t->wall / 200) {
			any |= i != PHASE_OTHER;
			at += (size_t)snprintf(text + at, size - at, "%s%s %s%s", at ? ", " : "", phase_word[i],
					       scaled(part, &scale, t->host[i]), unit);
		}
	if (!phase_known(p, PHASE_FORWARD))
		snprintf(text + at, size - at, " (forward unknown, part of other)");
	return any;
}

/* Communication, from GPU rows; without GPU rows, from the host calls that issue collectives. */
static void put_comm(const struct phases *p, const struct phase_times *t, char *text, size_t size)
{
	char comm[96], exposed[32];

	*text = '\0';
	if (t->gpu.parts && t->gpu.comm)
		snprintf(text, size, "communication %s", comm_words(&t->gpu, comm, sizeof comm));
	else if (t->gpu.known && !t->gpu.parts && p->seen[MARK_COMM])
		snprintf(text, size, "communication unknown (a CUDA graph was recorded as a whole)");
	else if (!t->gpu.known && t->comm_host)
		snprintf(text, size, "collectives issued for %s on the host, %s (%lld %%) outside the backward pass",
			 text_time(comm, t->comm_host), text_time(exposed, t->comm_host_exposed),
			 share_percent(t->comm_host_exposed, t->comm_host));
}

/* "35 % of the step, most of it during data"; "": unknown, or below 1 % of the step. */
static void put_idle(const struct phase_times *t, const char *of, char *text, size_t size)
{
	enum phase most = PHASE_DATA;

	*text = '\0';
	for (enum phase i = 0; i < PHASES; i++)
		if (t->idle[i] > t->idle[most])
			most = i;
	if (t->gpu.known && t->gpu.idle >= t->wall / 100 && t->gpu.idle)
		snprintf(text, size, "%lld %% of %s, %s during %s", share_percent(t->gpu.idle, t->wall), of,
			 t->idle[most] > t->gpu.idle / 2 ? "most of it" : "longest", phase_word[most]);
}

int phase_sentence(const struct phase_rows *r, uint32_t process, size_t kind, bool several, char *text, size_t size)
{
	const struct phases *p = &r->phases[process];
	const struct phase_times *t;
	struct median_step of;
	char step[160], who[64], parts[200], comm[160], idle[80];

	*text = '\0';
	if (!p->n)
		return 0;
	if (median_step(r->s, process, kind, &of) < 0)
		return -1;
	if (!of.n)
		return 0;
	t = &r->times[of.median - r->s->list];
	if (!put_phases(p, t, true, parts, sizeof parts))
		return 0;
	put_comm(p, t, comm, sizeof comm);
	put_idle(t, "the step", idle, sizeof idle);
	snprintf(text, size, "%s%s: %s%s%s%s%s", process_words(r->m, process, several, who, sizeof who),
		 median_step_words(r->m, r->s, &of, step, sizeof step), parts, *comm ? "; " : "", comm,
		 !t->gpu.known ? "; GPU time was not recorded" : *idle ? "; GPU idle " : "", idle);
	return 0;
}

/* The median step over all processes; if its process has no phases, that of the process with most steps among those that have. */
static int choose(const struct step_view *v, struct median_step *of)
{
	uint32_t process, n;
	bool *wanted, any;
	size_t kind;

	*of = v->of;
	if (of->n && step_view_phases(v, of->median))
		return 0;
	*of = (struct median_step){ 0 };
	model_processes(v->m, &n);
	wanted = calloc(n + 1, sizeof *wanted);
	if (!wanted)
		return -1;
	for (uint32_t p = 0; p < n; p++)
		wanted[p] = v->phases.phases[p].n;
	any = most_steps(v->s, wanted, &process, &kind);
	free(wanted);
	return any ? median_step(v->s, process, kind, of) : 0;
}

int phase_line(const struct step_view *v, struct phase_words *w)
{
	const struct phase_times *t;
	struct median_step of;
	char parts[160], step[96], wall[32];

	*w = (struct phase_words){ 0 };
	if (!v->phases.times)
		return 0;
	if (choose(v, &of) < 0)
		return -1;
	t = of.n ? step_view_phases(v, of.median) : NULL;
	if (!t || !put_phases(&v->phases.phases[of.median->process], t, false, parts, sizeof parts))
		return 0;
	step_words(v, &of, step, sizeof step);
	snprintf(w->phases, sizeof w->phases, "%s, %s: %s", step, text_time(wall, t->wall), parts);
	if (of.n > 1)
		snprintf(step, sizeof step, "the median step");
	if (t->gpu.parts && t->gpu.comm)
		comm_of(&t->gpu, t->wall, step, w->comm, sizeof w->comm);
	else
		put_comm(&v->phases.phases[of.median->process], t, w->comm, sizeof w->comm);
	put_idle(t, step, w->idle, sizeof w->idle);
	return 0;
}
