#include "cli/analyze/phase_sentence.h"

#include "cli/analyze/step_times.h"
#include "cli/json_out.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/torch.h"

#include <stdlib.h>

static const char *const words[PHASES] = { "data", "forward", "backward", "optimizer", "zero_grad", "other" };

/* What nothing announced is not known; all of it together is in other. */
bool phase_known(const struct phases *p, enum phase phase)
{
	switch (phase) {
	case PHASE_DATA:
		return p->seen[MARK_DATA];
	case PHASE_FORWARD:
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

/* All numbers in the unit of the whole: nanoseconds as "31", "0.4". */
struct scale {
	int64_t unit;                   /* of a printed digit */
	unsigned decimals;
	const char *name;
};

static struct scale scale_of(int64_t ns)
{
	static const struct { int64_t unit; const char *name; } units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" },
	};
	size_t i = 0;
	unsigned decimals;

	while (i < 3 && ns < 2 * units[i].unit)
		i++;
	decimals = i == 3 || ns >= 100 * units[i].unit ? 0 : ns >= 10 * units[i].unit ? 1 : 2;
	return (struct scale){ units[i].unit / (decimals == 2 ? 100 : decimals ? 10 : 1), decimals, units[i].name };
}

static const char *scaled(char text[32], const struct scale *s, int64_t ns)
{
	*digits_fixed(text, time_add(ns, s->unit / 2) / s->unit, s->decimals) = '\0';
	return text;
}

struct sum {
	struct phase_times t;
	int64_t n;
	size_t all, first;              /* steps of the process and kind; the first of them */
};

static void add(struct sum *sum, const struct phase_times *t)
{
	sum->n++;
	sum->t.wall = time_add(sum->t.wall, t->wall);
	sum->t.comm = time_add(sum->t.comm, t->comm);
	sum->t.exposed = time_add(sum->t.exposed, t->exposed);
	sum->t.gpu |= t->gpu;
	for (enum phase i = 0; i < PHASES; i++) {
		sum->t.host[i] = time_add(sum->t.host[i], t->host[i]);
		sum->t.idle[i] = time_add(sum->t.idle[i], t->idle[i]);
	}
}

/* Mean of the complete steps; the first warms up, and is left out of three and more. */
static struct sum mean_of(const struct phase_rows *r, uint32_t process, size_t kind)
{
	const struct step_kind *k = &r->s->kinds[kind];
	struct sum sum = { .n = 0 };

	for (size_t i = k->first; i < k->first + k->n; i++)
		if (r->s->list[i].process == process && phase_listed(r, &r->s->list[i]) && !(r->s->list[i].flags & STEP_INCOMPLETE))
			if (!sum.all++)
				sum.first = i;
	for (size_t i = k->first; i < k->first + k->n; i++)
		if (r->s->list[i].process == process && phase_listed(r, &r->s->list[i]) && !(r->s->list[i].flags & STEP_INCOMPLETE) &&
		    (i != sum.first || sum.all < 3))
			add(&sum, &r->times[i]);
	return sum;
}

static const char *kind_words(const struct phase_rows *r, size_t kind, char text[80])
{
	uint32_t name = r->s->kinds[kind].name;

	*text = '\0';
	if (name != STRING_NONE)
		snprintf(text, 80, " of kind %.60s", model_string(r->m, name));
	return text;
}

static void put_idle(const struct sum *sum, char *text, size_t size)
{
	enum phase most = PHASE_DATA;
	int64_t idle = 0;

	for (enum phase i = 0; i < PHASES; i++) {
		idle = time_add(idle, sum->t.idle[i]);
		if (sum->t.idle[i] > sum->t.idle[most])
			most = i;
	}
	if (!sum->t.gpu || sum->t.wall <= 0)
		snprintf(text, size, "; what the GPU did was not recorded");
	else if (idle)
		snprintf(text, size, "; GPU idle %lld %%, mostly in %s",
			 (long long)(((__int128)idle * 100 + sum->t.wall / 2) / sum->t.wall), words[most]);
	else
		snprintf(text, size, "; GPU never idle");
}

bool phase_sentence(const struct phase_rows *r, uint32_t process, size_t kind, bool several, char *text, size_t size)
{
	uint32_t n;
	const struct process *processes = model_processes(r->m, &n);
	const struct phases *p = &r->phases[process];
	const char *rank = process_attribute(&processes[process], "rank");
	struct sum sum = mean_of(r, process, kind);
	char parts[240] = "", whole[32], part[32], idle[80], who[64] = "", of[80];
	struct scale scale;
	size_t at = 0;

	*text = '\0';
	if (!sum.n)
		return false;
	scale = scale_of(sum.t.wall / sum.n);
	for (enum phase i = 0; i < PHASES; i++)
		if (phase_known(p, i) && sum.t.host[i] >= sum.t.wall / 200)
			at += (size_t)snprintf(parts + at, sizeof parts - at, "%s%s %s", at ? ", " : "", words[i],
					       scaled(part, &scale, sum.t.host[i] / sum.n));
	if (sum.t.comm)
		at += (size_t)snprintf(parts + at, sizeof parts - at, "; communication %s", scaled(part, &scale, sum.t.comm / sum.n));
	if (sum.t.comm)
		snprintf(parts + at, sizeof parts - at, ", %s of it exposed", scaled(part, &scale, sum.t.exposed / sum.n));
	if (several && rank && *rank)
		snprintf(who, sizeof who, "process %u (rank %.9s): ", processes[process].number, rank);
	else if (several)
		snprintf(who, sizeof who, "process %u: ", processes[process].number);
	put_idle(&sum, idle, sizeof idle);
	snprintf(text, size, "%sstep%s %s %s: %s%s", who, kind_words(r, kind, of), scaled(whole, &scale, sum.t.wall / sum.n), scale.name,
		 parts, idle);
	return true;
}

/* The process and kind that have most steps. */
static int line_of(struct phase_rows *r, char *text, size_t size)
{
	uint32_t process = 0, with = 0, n;
	size_t kind = 0, most = 0;

	model_processes(r->m, &n);
	for (size_t from = 0, to; from < r->s->n; from = to) {
		const struct step *first = &r->s->list[from];

		for (to = from + 1; to < r->s->n && r->s->list[to].process == first->process && r->s->list[to].kind == first->kind; to++)
			;
		with += r->phases[first->process].n != 0;
		if (!r->phases[first->process].n || to - from <= most)
			continue;
		most = to - from;
		process = first->process;
		kind = first->kind;
	}
	if (!most || !(r->times = phase_times_make(r->m, r->s)))
		return most ? -1 : 0;
	phase_sentence(r, process, kind, with > 1, text, size);
	free((void *)r->times);
	return 0;
}

#define MANY_ROWS 2000000u      /* of any kind that is looked at: a second, about */

int phase_line(struct model *m, char *text, size_t size)
{
	struct phase_rows r = { .m = m };

	*text = '\0';
	if (!model_has_torch(m) || model_rows(m, ROW_op) > MANY_ROWS || model_rows(m, ROW_kernel) > MANY_ROWS ||
	    model_rows(m, ROW_api) > MANY_ROWS || !(r.s = model_steps_cheaply(m)))
		return 0;
	r.phases = model_phases(m);
	return r.phases ? line_of(&r, text, size) : -1;
}
