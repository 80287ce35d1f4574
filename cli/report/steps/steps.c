/* steps: time of each step on the host, of the GPU during the step, and of the GPU rows that the step launched. */
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/stacks/stacks.h"
#include "cli/report/parts/report.h"
#include "cli/report/steps/step_stats.h"
#include "cli/report/steps/step_times.h"
#include "cli/report/steps/steps_how.h"

#include <ctype.h>
#include <stdlib.h>

#define MOST_OUTLIERS 5u

static const struct heading columns[] = {
	{ "step", COLUMN_ID | COLUMN_KEY }, { "kind", COLUMN_TEXT | COLUMN_SPARSE }, { "name", COLUMN_TEXT | COLUMN_SPARSE },
	{ "window", COLUMN_ID | COLUMN_RARE }, { "process", COLUMN_ID | COLUMN_WHO },
	{ "start_ns", COLUMN_RARE }, { "wall_ns", COLUMN_KEY },
	{ "gpu_busy_ns", COLUMN_SPARSE | COLUMN_KEY }, { "gpu_idle_ns", COLUMN_SPARSE | COLUMN_KEY },
	{ "compute_ns", COLUMN_SPARSE }, { "comm_ns", COLUMN_SPARSE },
	{ "comm_exposed_ns", COLUMN_SPARSE | COLUMN_KEY }, { "memcpy_ns", COLUMN_SPARSE }, { "memset_ns", COLUMN_SPARSE | COLUMN_RARE },
	{ "launched_start_ns", COLUMN_SPARSE | COLUMN_RARE }, { "launched_end_ns", COLUMN_SPARSE | COLUMN_RARE },
	{ "launched_busy_ns", COLUMN_SPARSE | COLUMN_RARE },
	{ "api_ns", COLUMN_SPARSE }, { "launches", COLUMN_SPARSE }, { "kernels", COLUMN_SPARSE }, { "warmup", COLUMN_ID | COLUMN_RARE },
	{ "complete", COLUMN_ID | COLUMN_RARE },
};

struct step_listing {
	struct model *m;
	struct table *t;
	const struct steps *s;
	const struct process *processes;
	struct step_times *times;
	struct step_sample *samples;    /* of the kind being printed */
	size_t n_samples, warmups, partial, graphs;
	bool several;                   /* samples are of several processes */
};

static struct cell name_cell(struct step_listing *l, uint32_t id)
{
	return id == STRING_NONE ? UNKNOWN : TEXT(model_string(l->m, id));
}

/* Number of the step's window; 0: none.  A process recorded whole has one window, number 1. */
static uint32_t window_of(const struct step_listing *l, const struct step *step)
{
	return step->window ? step->window : step_was_kept(l->s, step);
}

static void put_step(struct step_listing *l, const struct step *step, const struct step_times *t)
{
	int64_t begin = model_start(l->m);
	const struct gpu_times *g = &t->gpu;

#define IF(known, n) ((known) ? NUMBER(n) : UNKNOWN)
	table_row(l->t, (const struct cell[]){
		NUMBER(step->number), name_cell(l, l->s->kinds[step->kind].name), name_cell(l, step->name),
		IF(window_of(l, step), window_of(l, step)), NUMBER(l->processes[step->process].number),
		NUMBER(time_sub(step->start, begin)), NUMBER(t->wall),
		IF(g->known, g->busy), IF(g->known, g->idle), IF(g->parts, g->compute), IF(g->parts, g->comm),
		IF(g->parts, g->exposed), IF(g->parts, g->memcpy), IF(g->parts, g->memset),
		IF(t->launched, time_sub(t->launched_start, begin)), IF(t->launched, time_sub(t->launched_end, begin)),
		IF(t->launched, t->launched_busy),
		IF(t->calls, t->api), IF(t->calls, t->launches), IF(t->counted, t->kernels),
		NUMBER(!!(step->flags & STEP_WARMUP)), NUMBER(!(step->flags & STEP_INCOMPLETE)) });
#undef IF
	l->graphs += g->known && !g->parts;
}

static void sample(struct step_listing *l, uint32_t i)
{
	const struct step_times *t = &l->times[i];
	struct step_sample *s = &l->samples[l->n_samples++];

	*s = (struct step_sample){ .step = i };
	for (int part = 0; part < STEP_PARTS; part++)
		s->part[part] = -1;
	s->part[PART_WALL] = t->wall;
	if (t->gpu.known) {
		s->part[PART_BUSY] = t->gpu.busy;
		s->part[PART_IDLE] = t->gpu.idle;
	}
	if (t->gpu.parts) {
		s->part[PART_COMPUTE] = t->gpu.compute;
		s->part[PART_COMM] = t->gpu.comm;
		s->part[PART_EXPOSED] = t->gpu.exposed;
		s->part[PART_COPIES] = t->gpu.memcpy;
	}
	if (t->calls)
		s->part[PART_CALLS] = t->api;
}

/* ---- below the table ---- */

static const char *kind_words(struct step_listing *l, size_t kind, char text[80])
{
	uint32_t name = l->s->kinds[kind].name;

	if (name == STRING_NONE)
		snprintf(text, 80, "steps");
	else
		snprintf(text, 80, "steps of kind %.60s", model_string(l->m, name));
	return text;
}

static int put_summary(struct step_listing *l, size_t kind)
{
	char words[80], a[32], b[32], c[32], d[32];

	table_note(l->t, "%zu %s (excluded: %zu warm-up, %zu incomplete)", l->n_samples, kind_words(l, kind, words), l->warmups,
		   l->partial);
	table_note(l->t, "  %-21s %10s %10s %10s %10s", "", "mean", "median", "p95", "max");
	for (int part = 0; part < STEP_PARTS; part++) {
		struct step_summary s;

		if (step_summary_of(l->samples, l->n_samples, (enum step_part)part, &s) < 0)
			return -1;
		if (s.n)
			table_note(l->t, "  %-21s %10s %10s %10s %10s", step_part_words[part], text_time(a, s.mean),
				   text_time(b, s.p50),
				   text_time(c, s.p95), text_time(d, s.max));
	}
	return 0;
}

static bool waits_in_calls(const struct step_outlier *o)
{
	return o->cause == PART_IDLE && o->calls > o->explained / 2;
}

/* The report that shows what took the time. */
static const char *report_for(struct model *m, const struct step_outlier *o)
{
	switch (o->cause) {
	case PART_COMPUTE:
	case PART_EXPOSED:
		return "cuda_gpu_kern_sum";
	case PART_COPIES:
		return "cuda_gpu_mem_time_sum";
	case PART_CALLS:
		return "cuda_api_sum";
	default:
		return waits_in_calls(o) ? "cuda_api_sum" : model_has_samples(m) ? "cpu_sum" : "critical_path";
	}
}

/* "step 7", "ProfilerStep#7": the name says no more than the number. */
static bool ends_in(const char *name, uint32_t number)
{
	char digits[16];
	size_t n = (size_t)snprintf(digits, sizeof digits, "%u", number), all = strlen(name);

	return all > n && strcmp(name + all - n, digits) == 0 && !isdigit((unsigned char)name[all - n - 1]);
}

static void put_outlier(struct step_listing *l, const struct step_outlier *o, int64_t usual)
{
	const struct step_sample *s = &l->samples[o->sample];
	const struct step *step = &l->s->list[s->step];
	char wall[32], more[32], part[32], median[32], called[140] = "", why[160];

	if (step->name != STRING_NONE && !ends_in(model_string(l->m, step->name), step->number))
		snprintf(called, sizeof called, " (%.100s)", model_string(l->m, step->name));
	if (l->several)
		snprintf(called + strlen(called), sizeof called - strlen(called), " of process %u", l->processes[step->process].number);
	if (o->cause == PART_WALL)
		snprintf(why, sizeof why, "no single part explains it");
	else
		snprintf(why, sizeof why, "%s is %s above its median", step_part_words[o->cause], text_time(part, o->explained));
	if (waits_in_calls(o))
		snprintf(why + strlen(why), sizeof why - strlen(why), ", api (CUDA calls on the host) %s above its median", text_time(part, o->calls));
	table_note(l->t, "  step %u%s: %s, %s above the median of %s; %s; see -r %s --step %u", step->number, called, text_time(wall, s->part[PART_WALL]), text_time(more, o->excess),
		   text_time(median, usual), why, report_for(l->m, o), step->number);
}

static int put_outliers(struct step_listing *l)
{
	struct step_outlier worst[MOST_OUTLIERS];
	struct step_summary wall;
	size_t all;
	char shown[32] = "";
	int n = step_outliers(l->samples, l->n_samples, worst, MOST_OUTLIERS, &all);

	if (n < 0 || step_summary_of(l->samples, l->n_samples, PART_WALL, &wall) < 0)
		return -1;
	for (size_t i = 0; i < l->n_samples; i++)
		l->several |= l->s->list[l->samples[i].step].process != l->s->list[l->samples[0].step].process;
	if ((size_t)n < all)
		snprintf(shown, sizeof shown, "; the %d slowest", n);
	if (n)
		table_note(l->t, "%zu of %zu steps are outliers (above the median by 20 %% and by 5 times the median absolute deviation)%s:", all,
			   l->n_samples, shown);
	for (int i = 0; i < n; i++)
		put_outlier(l, &worst[i], wall.p50);
	return 0;
}

/* ---- all of it ---- */

static int put_kind(struct step_listing *l, size_t kind, bool all)
{
	const struct step_kind *k = &l->s->kinds[kind];
	size_t left_out = 0;

	l->n_samples = l->warmups = l->partial = 0;
	for (size_t i = k->first; i < k->first + k->n; i++) {
		const struct step *step = &l->s->list[i];

		if (!step->selected)
			continue;
		l->warmups += !!(step->flags & STEP_WARMUP);
		if (step_was_kept(l->s, step) && step->flags & STEP_INCOMPLETE)
			l->partial++;
		else if (step_was_kept(l->s, step))
			sample(l, (uint32_t)i);
		if (all || step_was_kept(l->s, step))
			put_step(l, step, &l->times[i]);
		else
			left_out++;
	}
	if (l->t->tables->format == TABLE_TEXT && l->n_samples && (put_summary(l, kind) < 0 || put_outliers(l) < 0))
		return -1;
	if (left_out)
		table_note(l->t, "steps%s%.60s outside the recorded windows: %zu; --all-steps lists them",
			   k->name == STRING_NONE ? "" : " of kind ", k->name == STRING_NONE ? "" : model_string(l->m, k->name),
			   left_out);
	return 0;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct step_listing l = { .m = m, .t = t, .s = model_steps(m) };
	uint32_t n;
	char how[400];
	int rc = 0;

	l.processes = model_processes(m, &n);
	if (!l.s)
		return -1;
	l.times = step_times_make(m, l.s);
	l.samples = malloc(l.s->n * sizeof *l.samples + 1);
	if (!l.times || !l.samples)
		rc = -1;
	for (size_t i = 0; i < l.s->n_kinds && rc == 0; i++)
		rc = put_kind(&l, i, variant != NULL);
	if (l.graphs)
		table_note(t, "steps with a CUDA graph that was recorded as a whole: %zu; what ran in the graph was not recorded, so their "
			   "compute, communication and copies are unknown",
			   l.graphs);
	table_note(t, "%s", steps_how(m, l.s, how, sizeof how));
	free(l.times);
	free(l.samples);
	return rc;
}

const struct report report_steps = {
	.name = "steps",
	.title = "Steps",
	.help = "How long does each step take, which are slow, and is the GPU busy in them?",
	.needs = NEED_STEPS,
	.variants = "all",
	COLUMNS(columns),
	.run = run,
};
