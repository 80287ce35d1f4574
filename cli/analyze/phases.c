/* phases: what of each step is data, forward, backward, optimizer; the rule is in cli/model/phases.h. */
#include "cli/analyze/phase_times.h"
#include "cli/analyze/report.h"
#include "cli/analyze/step_times.h"
#include "cli/analyze/steps_how.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/torch.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "step", COLUMN_ID }, { "kind", COLUMN_TEXT }, { "wall_ns", 0 },
	{ "data_ns", 0 }, { "forward_ns", 0 }, { "backward_ns", 0 }, { "optimizer_ns", 0 }, { "zero_grad_ns", 0 },
	{ "comm_ns", 0 }, { "comm_exposed_ns", 0 }, { "other_ns", 0 },
	{ "data_gpu_ns", 0 }, { "forward_gpu_ns", 0 }, { "backward_gpu_ns", 0 }, { "optimizer_gpu_ns", 0 },
	{ "zero_grad_gpu_ns", 0 }, { "other_gpu_ns", 0 },
	{ "data_gpu_idle_ns", 0 }, { "forward_gpu_idle_ns", 0 }, { "backward_gpu_idle_ns", 0 },
	{ "optimizer_gpu_idle_ns", 0 }, { "zero_grad_gpu_idle_ns", 0 }, { "other_gpu_idle_ns", 0 },
	{ "process", COLUMN_ID },
};

static const char *const words[PHASES] = { "data", "forward", "backward", "optimizer", "zero_grad", "other" };

struct listing {
	struct model *m;
	struct table *t;
	const struct steps *s;
	const struct process *processes;
	const struct phases *phases;    /* by process */
	struct phase_times *times;      /* by step */
};

/* What nothing announced is not known; all of it together is in other. */
static bool known(const struct phases *p, enum phase phase)
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

static bool listed(const struct listing *l, const struct step *step)
{
	return step->selected && step_was_kept(l->s, step) && l->phases[step->process].n;
}

static struct cell kind_cell(struct listing *l, const struct step *step)
{
	uint32_t name = l->s->kinds[step->kind].name;

	if (name != STRING_NONE)
		return TEXT(model_string(l->m, name));
	return TEXT(l->phases[step->process].inference ? "inference" : "train");
}

static void put(struct listing *l, const struct step *step, const struct phase_times *t)
{
	const struct phases *p = &l->phases[step->process];
	struct cell cells[sizeof columns / sizeof *columns], *c = cells;

	*c++ = NUMBER(step->number);
	*c++ = kind_cell(l, step);
	*c++ = NUMBER(t->wall);
	for (enum phase i = 0; i < PHASE_OTHER; i++)
		*c++ = known(p, i) ? NUMBER(t->host[i]) : UNKNOWN;
	*c++ = p->seen[MARK_COMM] ? NUMBER(t->comm) : UNKNOWN;
	*c++ = p->seen[MARK_COMM] ? NUMBER(t->exposed) : UNKNOWN;
	*c++ = NUMBER(t->host[PHASE_OTHER]);
	for (enum phase i = 0; i < PHASES; i++)
		*c++ = t->gpu && known(p, i) ? NUMBER(t->busy[i]) : UNKNOWN;
	for (enum phase i = 0; i < PHASES; i++)
		*c++ = t->gpu && known(p, i) ? NUMBER(t->idle[i]) : UNKNOWN;
	*c++ = NUMBER(l->processes[step->process].number);
	table_row(l->t, cells);
}

/* ---- the sentence ---- */

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
static struct sum mean_of(const struct listing *l, uint32_t process, size_t kind)
{
	const struct step_kind *k = &l->s->kinds[kind];
	struct sum sum = { .n = 0 };

	for (size_t i = k->first; i < k->first + k->n; i++)
		if (l->s->list[i].process == process && listed(l, &l->s->list[i]) && !(l->s->list[i].flags & STEP_INCOMPLETE))
			if (!sum.all++)
				sum.first = i;
	for (size_t i = k->first; i < k->first + k->n; i++)
		if (l->s->list[i].process == process && listed(l, &l->s->list[i]) && !(l->s->list[i].flags & STEP_INCOMPLETE) &&
		    (i != sum.first || sum.all < 3))
			add(&sum, &l->times[i]);
	return sum;
}

static const char *kind_words(const struct listing *l, size_t kind, char text[80])
{
	uint32_t name = l->s->kinds[kind].name;

	*text = '\0';
	if (name != STRING_NONE)
		snprintf(text, 80, " of kind %.60s", model_string(l->m, name));
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

static void put_sentence(struct listing *l, uint32_t process, size_t kind, bool several)
{
	const struct phases *p = &l->phases[process];
	const char *rank = process_attribute(&l->processes[process], "rank");
	struct sum sum = mean_of(l, process, kind);
	char text[320] = "", whole[32], part[32], idle[80], who[64] = "", of[80];
	struct scale scale;
	size_t at = 0;

	if (!sum.n)
		return;
	scale = scale_of(sum.t.wall / sum.n);
	for (enum phase i = 0; i < PHASES; i++)
		if (known(p, i) && sum.t.host[i] >= sum.t.wall / 200)
			at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %s", at ? ", " : "", words[i],
					       scaled(part, &scale, sum.t.host[i] / sum.n));
	if (sum.t.comm)
		at += (size_t)snprintf(text + at, sizeof text - at, "; communication %s", scaled(part, &scale, sum.t.comm / sum.n));
	if (sum.t.comm)
		snprintf(text + at, sizeof text - at, ", %s of it exposed", scaled(part, &scale, sum.t.exposed / sum.n));
	if (several && rank && *rank)
		snprintf(who, sizeof who, "process %u (rank %.9s): ", l->processes[process].number, rank);
	else if (several)
		snprintf(who, sizeof who, "process %u: ", l->processes[process].number);
	put_idle(&sum, idle, sizeof idle);
	table_note(l->t, "%sstep%s %s %s: %s%s", who, kind_words(l, kind, of), scaled(whole, &scale, sum.t.wall / sum.n), scale.name,
		   text, idle);
}

/* ---- what is not known ---- */

static bool has_rows(const struct listing *l, uint32_t process)
{
	for (size_t i = 0; i < l->s->n; i++)
		if (l->s->list[i].process == process && listed(l, &l->s->list[i]))
			return true;
	return false;
}

static void note_missing(struct listing *l, uint32_t process, bool several)
{
	const struct phases *p = &l->phases[process];
	char who[32] = "";

	if (several)
		snprintf(who, sizeof who, "process %u: ", l->processes[process].number);
	if (!p->seen[MARK_BACKWARD])
		table_note(l->t, "%sno backward pass was seen: what follows a batch is other, whatever it is", who);
	if (!p->seen[MARK_DATA] && !p->elsewhere)
		table_note(l->t, "%sno DataLoader was seen: data is not known, and batches made otherwise count as forward", who);
	if (p->elsewhere)
		table_note(l->t, "%sbatches fetched by threads other than that of the optimizer: %zu; they are in no phase", who,
			   p->elsewhere);
	if (!p->seen[MARK_OPTIMIZER] && !p->inference)
		table_note(l->t, "%sno optimizer of torch.optim was seen: what follows a backward pass is other", who);
	if (p->seen[MARK_OPTIMIZER] && !p->seen[MARK_ZERO_GRAD])
		table_note(l->t, "%sno Optimizer.zero_grad was seen (model.zero_grad() announces nothing): it is in forward or other", who);
}

static void note_none(struct listing *l)
{
	char how[400];

	if (!model_has_torch(l->m))
		table_note(l->t, "no phases: the trace has nothing of PyTorch's; -t torch records it where libtorch_cpu is loaded "
			   "(see report -r health)");
	else if (!l->s->n)
		table_note(l->t, "%s", steps_how(l->m, l->s, how, sizeof how));
	else
		table_note(l->t, "no phases: PyTorch told of no batch, backward pass or optimizer in the steps");
}

/* The sentences come last: they are what most people look for. */
static void put_processes(struct listing *l)
{
	uint32_t n, with = 0;

	model_processes(l->m, &n);
	for (uint32_t p = 0; p < n; p++)
		with += has_rows(l, p);
	for (uint32_t p = 0; p < n; p++)
		if (has_rows(l, p))
			note_missing(l, p, with > 1);
	for (uint32_t p = 0; p < n && l->t->tables->format == TABLE_TEXT; p++)
		for (size_t k = 0; k < l->s->n_kinds; k++)
			put_sentence(l, p, k, with > 1);
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct listing l = { .m = m, .t = t, .s = model_steps(m), .phases = model_phases(m) };
	char how[400];
	uint32_t n;

	(void)variant;
	l.processes = model_processes(m, &n);
	if (!l.s || !l.phases || !(l.times = phase_times_make(m, l.s)))
		return -1;
	for (size_t i = 0; i < l.s->n; i++)
		if (listed(&l, &l.s->list[i]))
			put(&l, &l.s->list[i], &l.times[i]);
	if (t->n_rows)
		table_note(t, "%s", steps_how(m, l.s, how, sizeof how));
	else
		note_none(&l);
	put_processes(&l);
	free(l.times);
	return 0;
}

const struct report report_phases = {
	.name = "phases",
	.title = "Phases of Training",
	.help = "PyTorch: what of each step is data, forward, backward, optimizer; and the GPU meanwhile",
	COLUMNS(columns),
	.run = run,
};
