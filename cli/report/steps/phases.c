/* phases: time of each step by phase (data, forward, backward, optimizer).  The rule: cli/model/torch/phases.h. */
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/model/torch/torch.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/why.h"
#include "cli/report/steps/phase_sentence.h"
#include "cli/report/steps/steps_how.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "step", COLUMN_ID | COLUMN_KEY }, { "kind", COLUMN_TEXT }, { "wall_ns", COLUMN_KEY },
	{ "data_ns", COLUMN_KEY }, { "forward_ns", COLUMN_KEY }, { "backward_ns", COLUMN_KEY }, { "optimizer_ns", COLUMN_KEY },
	{ "zero_grad_ns", 0 }, { "other_ns", COLUMN_KEY },
	{ "comm_ns", COLUMN_SPARSE }, { "comm_exposed_ns", COLUMN_SPARSE | COLUMN_KEY },
	{ "comm_host_ns", COLUMN_SPARSE | COLUMN_RARE }, { "comm_host_exposed_ns", COLUMN_SPARSE | COLUMN_RARE },
	{ "data_launched_busy_ns", COLUMN_SPARSE | COLUMN_RARE }, { "forward_launched_busy_ns", COLUMN_SPARSE | COLUMN_RARE },
	{ "backward_launched_busy_ns", COLUMN_SPARSE | COLUMN_RARE }, { "optimizer_launched_busy_ns", COLUMN_SPARSE | COLUMN_RARE },
	{ "zero_grad_launched_busy_ns", COLUMN_SPARSE | COLUMN_RARE }, { "other_launched_busy_ns", COLUMN_SPARSE | COLUMN_RARE },
	{ "data_gpu_idle_ns", COLUMN_SPARSE }, { "forward_gpu_idle_ns", COLUMN_SPARSE },
	{ "backward_gpu_idle_ns", COLUMN_SPARSE }, { "optimizer_gpu_idle_ns", COLUMN_SPARSE },
	{ "zero_grad_gpu_idle_ns", COLUMN_SPARSE }, { "other_gpu_idle_ns", COLUMN_SPARSE },
	{ "process", COLUMN_ID | COLUMN_WHO },
};

struct phase_listing {
	struct table *t;
	struct phase_rows r;
	const struct process *processes;
};

static struct cell kind_cell(struct phase_listing *l, const struct step *step)
{
	uint32_t name = l->r.s->kinds[step->kind].name;
	const struct phases *p = &l->r.phases[step->process];

	if (name != STRING_NONE)
		return TEXT(model_string(l->r.m, name));
	return TEXT(p->inference && !p->seen[MARK_BACKWARD] ? "inference" : "train");
}

static void put_step(struct phase_listing *l, const struct step *step, const struct phase_times *t)
{
	const struct phases *p = &l->r.phases[step->process];
	struct cell cells[sizeof columns / sizeof *columns], *c = cells;

	*c++ = NUMBER(step->number);
	*c++ = kind_cell(l, step);
	*c++ = NUMBER(t->wall);
	for (enum phase i = 0; i < PHASES; i++)
		*c++ = phase_known(p, i) ? NUMBER(t->host[i]) : UNKNOWN;
	*c++ = t->gpu.parts ? NUMBER(t->gpu.comm) : UNKNOWN;
	*c++ = t->gpu.parts ? NUMBER(t->gpu.exposed) : UNKNOWN;
	*c++ = p->seen[MARK_COMM] ? NUMBER(t->comm_host) : UNKNOWN;
	*c++ = p->seen[MARK_COMM] ? NUMBER(t->comm_host_exposed) : UNKNOWN;
	for (enum phase i = 0; i < PHASES; i++)
		*c++ = t->launched[i] ? NUMBER(t->launched_busy[i]) : UNKNOWN;
	for (enum phase i = 0; i < PHASES; i++)
		*c++ = t->gpu.known && phase_known(p, i) ? NUMBER(t->idle[i]) : UNKNOWN;
	*c++ = NUMBER(l->processes[step->process].number);
	table_row(l->t, cells);
}

/* ---- what is not known ---- */

static bool has_rows(const struct phase_listing *l, uint32_t process)
{
	for (size_t i = 0; i < l->r.s->n; i++)
		if (l->r.s->list[i].process == process && phase_listed(&l->r, &l->r.s->list[i]))
			return true;
	return false;
}

static void note_missing(struct phase_listing *l, uint32_t process, bool several)
{
	const struct phases *p = &l->r.phases[process];
	char who[32] = "";

	if (several)
		snprintf(who, sizeof who, "process %u: ", l->processes[process].number);
	if (!p->seen[MARK_BACKWARD] && !p->forward)
		table_note(l->t, "%sforward is unknown, and its time is in other: no backward pass was seen, and no operators were "
			   "recorded (-t cuda,nvtx,torch-ops records them)", who);
	if (p->doubtful)
		table_note(l->t, "%sforward is unknown, and its time is in other: zero_grad runs between forward and backward, and "
			   "nothing shows where forward starts (-t cuda,nvtx,torch-ops shows it)", who);
	if (!p->seen[MARK_DATA] && !p->elsewhere)
		table_note(l->t, "%sdata is unknown: no DataLoader was seen; the time of batches made in another way is in forward "
			   "or other", who);
	if (p->elsewhere)
		table_note(l->t, "%sbatches fetched by threads other than that of the optimizer: %zu; they are in no phase", who,
			   p->elsewhere);
	if (!p->seen[MARK_OPTIMIZER] && !p->inference)
		table_note(l->t, "%soptimizer is unknown: no optimizer of torch.optim was seen; the time after a backward pass "
			   "is in other", who);
	if (p->seen[MARK_OPTIMIZER] && !p->seen[MARK_ZERO_GRAD])
		table_note(l->t, "%szero_grad is unknown: no call of Optimizer.zero_grad() was recorded. Its time is in forward or other; "
			   "so is that of model.zero_grad(), which PyTorch does not report", who);
}

static void note_none(struct phase_listing *l)
{
	char how[400];

	if (!model_has_torch(l->r.m))
		table_note(l->t, "no phases: the trace has no rows of PyTorch; %s",
			   why_lacks(l->r.m, "-t torch records it where libtorch_cpu is loaded (see report -r health)",
				     "torch.profiler records it with ProfilerActivity.CPU"));
	else if (!l->r.s->n)
		table_note(l->t, "%s", steps_how(l->r.m, l->r.s, how, sizeof how));
	else
		table_note(l->t, "no phases: PyTorch reported no batch, backward pass or optimizer in the steps");
}

/* Notes what is missing, then prints the sentences last: most readers look for them. */
static int put_processes(struct phase_listing *l)
{
	uint32_t n, with = 0;
	char text[PHASE_SENTENCE];

	model_processes(l->r.m, &n);
	for (uint32_t p = 0; p < n; p++)
		with += has_rows(l, p);
	for (uint32_t p = 0; p < n; p++)
		if (has_rows(l, p))
			note_missing(l, p, with > 1);
	for (uint32_t p = 0; p < n && l->t->tables->format == TABLE_TEXT; p++)
		for (size_t k = 0; k < l->r.s->n_kinds; k++) {
			if (phase_sentence(&l->r, p, k, with > 1, text, sizeof text) < 0)
				return -1;
			if (*text)
				table_note(l->t, "%s", text);
		}
	return 0;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct phase_listing l = { .t = t, .r = { .m = m, .s = model_steps(m), .phases = model_phases(m) } };
	char how[400];
	uint32_t n;
	int rc;

	(void)variant;
	l.processes = model_processes(m, &n);
	if (!l.r.s || !l.r.phases || !(l.r.times = phase_times_make(m, l.r.s)))
		return -1;
	for (size_t i = 0; i < l.r.s->n; i++)
		if (phase_listed(&l.r, &l.r.s->list[i]))
			put_step(&l, &l.r.s->list[i], &l.r.times[i]);
	if (t->n_rows)
		table_note(t, "%s", steps_how(m, l.r.s, how, sizeof how));
	else
		note_none(&l);
	rc = put_processes(&l);
	free((void *)l.r.times);
	return rc;
}

const struct report report_phases = {
	.name = "phases",
	.title = "Phases of Training",
	.help = "How is each step divided into data loading, forward, backward and optimizer, and when is the GPU idle?",
	.needs = NEED_TORCH,
	COLUMNS(columns),
	.run = run,
};
