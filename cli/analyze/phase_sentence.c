#include "cli/analyze/phase_sentence.h"

#include "cli/analyze/comm_line.h"
#include "cli/analyze/median_step.h"
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

/* All phases in the unit that text_time() prints the whole in: "31", "0.4". */
struct scale {
	int64_t unit;                   /* of a printed digit */
	unsigned decimals;
};

static struct scale scale_of(int64_t ns)
{
	static const int64_t units[] = { 1000000000, 1000000, 1000, 1 };
	size_t i = 0;
	unsigned decimals;

	while (i < 3 && ns < units[i])
		i++;
	decimals = i == 3 || ns >= 100 * units[i] ? 0 : ns >= 10 * units[i] ? 1 : 2;
	return (struct scale){ units[i] / (decimals == 2 ? 100 : decimals ? 10 : 1), decimals };
}

static const char *scaled(char text[32], const struct scale *s, int64_t ns)
{
	*digits_fixed(text, time_add(ns, s->unit / 2) / s->unit, s->decimals) = '\0';
	return text;
}

static long long percent(int64_t part, int64_t whole)
{
	return whole > 0 ? (long long)(((__int128)part * 100 + whole / 2) / whole) : 0;
}

/* Parts below half a percent are left out.  False: only other is left, which says nothing. */
static bool put_phases(const struct phases *p, const struct phase_times *t, char *text, size_t size)
{
	const struct scale scale = scale_of(t->wall);
	char part[32];
	size_t at = 0;
	bool any = false;

	*text = '\0';
	for (enum phase i = 0; i < PHASES; i++)
		if (phase_known(p, i) && t->host[i] >= t->wall / 200) {
			any |= i != PHASE_OTHER;
			at += (size_t)snprintf(text + at, size - at, "%s%s %s", at ? ", " : "", words[i], scaled(part, &scale, t->host[i]));
		}
	if (!phase_known(p, PHASE_FORWARD))
		snprintf(text + at, size - at, " (forward unknown, part of other)");
	return any;
}

/* By GPU rows.  Where there are none, the calls that issue collectives are all that is known. */
static void put_comm(const struct phases *p, const struct phase_times *t, char *text, size_t size)
{
	char comm[96], exposed[32];

	*text = '\0';
	if (t->gpu.parts && t->gpu.comm)
		snprintf(text, size, "; communication %s", comm_words(&t->gpu, comm, sizeof comm));
	else if (t->gpu.known && !t->gpu.parts && p->seen[MARK_COMM])
		snprintf(text, size, "; communication unknown (a CUDA graph was recorded as a whole)");
	else if (!t->gpu.known && t->comm_host)
		snprintf(text, size, "; collectives issued for %s on the host, %s (%lld %%) outside the backward pass",
			 text_time(comm, t->comm_host), text_time(exposed, t->comm_host_exposed),
			 percent(t->comm_host_exposed, t->comm_host));
}

/* Below 1 % it is not worth a word. */
static void put_idle(const struct phase_times *t, char *text, size_t size)
{
	enum phase most = PHASE_DATA;

	*text = '\0';
	for (enum phase i = 0; i < PHASES; i++)
		if (t->idle[i] > t->idle[most])
			most = i;
	if (!t->gpu.known)
		snprintf(text, size, "; GPU time was not recorded");
	else if (t->gpu.idle >= t->wall / 100 && t->gpu.idle)
		snprintf(text, size, "; GPU idle %lld %%, %s during %s", percent(t->gpu.idle, t->wall),
			 t->idle[most] > t->gpu.idle / 2 ? "most of it" : "longest", words[most]);
}

int phase_sentence(const struct phase_rows *r, uint32_t process, size_t kind, bool several, char *text, size_t size)
{
	const struct phases *p = &r->phases[process];
	const struct phase_times *t;
	struct median_step of;
	char step[160], who[64], parts[160], comm[160], idle[80];

	*text = '\0';
	if (!p->n)
		return 0;
	if (median_step(r->s, process, kind, &of) < 0)
		return -1;
	if (!of.n)
		return 0;
	t = &r->times[of.median - r->s->list];
	if (!put_phases(p, t, parts, sizeof parts))
		return 0;
	put_comm(p, t, comm, sizeof comm);
	put_idle(t, idle, sizeof idle);
	snprintf(text, size, "%s%s: %s%s%s", process_words(r->m, process, several, who, sizeof who),
		 median_step_words(r->m, r->s, &of, step, sizeof step), parts, comm, idle);
	return 0;
}

static int line_of(struct phase_rows *r, char *text, size_t size)
{
	uint32_t process, with = 0, n;
	bool *wanted, any;
	size_t kind;
	int rc;

	model_processes(r->m, &n);
	wanted = calloc(n + 1, sizeof *wanted);
	if (!wanted)
		return -1;
	for (uint32_t p = 0; p < n; p++)
		with += wanted[p] = r->phases[p].n;
	any = most_steps(r->s, wanted, &process, &kind);
	free(wanted);
	if (!any)
		return 0;
	r->times = phase_times_make(r->m, r->s);
	rc = r->times ? phase_sentence(r, process, kind, with > 1, text, size) : -1;
	free((void *)r->times);
	return rc;
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
