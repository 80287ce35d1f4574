/*
 * How well steps are found in simulated programs, and what it costs per launch.  Two tables: on line (one pass; the first two steps
 * do not count) and off line (two passes, all steps).  A step is found when it begins within 2 % of its launches.
 */
#include "test/unit/trace/launches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SEEDS 12u
#define FIRST_SEED 5000u        /* not those with which the detector was made */
#define STEPS 120u

static const struct {
	const char *name;
	struct program p;
} disturbances[] = {
	{ "nothing",                        { 0 } },
	{ "warm-up",                        { .warmup = true } },
	{ "drift to 3 times the time",      { .drift = true } },
	{ "accumulation 4",                 { .accumulate = 4 } },
	{ "accumulation 8",                 { .accumulate = 8 } },
	{ "evaluation every 50",            { .evaluate_every = 50 } },
	{ "8 buckets of shapes",            { .buckets = 8 } },
	{ "data-dependent kernels, 30 %",   { .dependent = 30 } },
	{ "backward on its own thread",     { .threads = true } },
	{ "copies from a side thread",      { .side = true } },
	{ "wait before the optimizer",      { .amp = true } },
	{ "logging every 10",               { .log_every = 10 } },
	{ "pauses anywhere",                { .noise = true } },
	{ "GPU-bound",                      { .gpu_bound = true } },
	{ "steps 10 % longer or shorter",   { .varying = 10 } },
	{ "steps 30 % longer or shorter",   { .varying = 30 } },
	{ "no pause between steps",         { .tight = true } },
	{ "warm-up, accumulation, evaluation, buckets",
	  { .warmup = true, .accumulate = 4, .evaluate_every = 50, .buckets = 8, .threads = true } },
	{ "all but accumulation",
	  { .warmup = true, .drift = true, .evaluate_every = 50, .buckets = 8, .dependent = 30, .threads = true, .side = true, .noise = true,
	    .log_every = 10 } },
	{ "all",
	  { .warmup = true, .drift = true, .accumulate = 4, .evaluate_every = 50, .buckets = 8, .dependent = 30, .threads = true, .side = true,
	    .noise = true, .log_every = 10, .amp = true } },
};

static const char *const shapes[] = { "MLP", "transformer", "CNN", "RNN", "copies and a graph", "a graph alone" };

struct sums {
	struct score line, off;
	uint64_t late;                  /* in true steps, when the first step came out */
	unsigned runs;
};

static struct period *detector;
static struct period_step found[100000];

static void add(struct score *sum, struct score s)
{
	sum->truth += s.truth;
	sum->found += s.found;
	sum->right += s.right;
}

static void run(const struct program *p, struct sums *sums)
{
	struct sequence s = program_run(p);
	uint64_t first_at = 0;
	size_t n, late = 0;

	period_init(detector);
	n = sequence_feed(&s, detector, found, sizeof found / sizeof *found, &first_at);
	add(&sums->line, sequence_score(&s, found, n, 2));
	while (n && late < s.n_steps && s.steps[late] < first_at)
		late++;
	sums->late += n ? late : s.n_steps;
	period_again(detector);
	n = sequence_feed(&s, detector, found, sizeof found / sizeof *found, NULL);
	add(&sums->off, sequence_score(&s, found, n, 0));
	sums->runs++;
	sequence_free(&s);
}

static double ratio(size_t a, size_t b)
{
	return b ? (double)a / (double)b : 0;
}

static void show(const char *name, const struct sums *s)
{
	printf("%-58s %6.3f %6.3f   %6.3f %6.3f   %5.1f\n", name, ratio(s->line.right, s->line.found), ratio(s->line.right, s->line.truth),
	       ratio(s->off.right, s->off.found), ratio(s->off.right, s->off.truth), ratio(s->late, s->runs));
}

static void table(bool hints)
{
	struct sums all = { 0 };

	printf("steps found in %u seeds x 3 optimizers of %u steps each, %s; within 2 %% of a step's launches\n", SEEDS, STEPS,
	       hints ? "optimizers known by their kernels' names" : "names of kernels not looked at");
	printf("%-58s %13s   %13s   %s\n", "", "on line, from", "off line", "known");
	printf("%-58s %6s %6s   %6s %6s   %s\n", "", "preci-", "recall", "preci-", "recall", "after");
	for (unsigned shape = 0; shape < N_SHAPES; shape++) {
		for (size_t d = 0; d < sizeof disturbances / sizeof *disturbances; d++) {
			struct program p = disturbances[d].p;
			struct sums sums = { 0 };
			char name[100];

			p.shape = shape;
			p.steps = STEPS;
			p.hints = hints;
			if (shape >= SHAPE_GRAPH && (p.accumulate > 1 || p.varying || p.threads))
				continue;
			for (unsigned seed = 0; seed < SEEDS; seed++) {
				p.seed = FIRST_SEED + seed;
				for (p.optimizer = 0; p.optimizer < N_OPTIMIZERS; p.optimizer++)
					run(&p, &sums);
			}
			snprintf(name, sizeof name, "%s: %s", shapes[shape], disturbances[d].name);
			show(name, &sums);
			add(&all.line, sums.line);
			add(&all.off, sums.off);
			all.late += sums.late;
			all.runs += sums.runs;
		}
	}
	show("all of these", &all);
}

static double ns_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void cost(const char *name, const struct program *p)
{
	struct sequence s = program_run(p);
	double best = 1e9, settled = 1e9, worst = 1e12;

	for (int turn = 0; turn < 5; turn++) {
		double start, half;

		period_init(detector);
		start = ns_now();
		for (size_t i = 0; i < s.n / 2; i++)
			period_launch(detector, &s.launches[i]);
		half = ns_now();
		for (size_t i = s.n / 2; i < s.n; i++)
			period_launch(detector, &s.launches[i]);
		best = (ns_now() - start) / (double)s.n < best ? (ns_now() - start) / (double)s.n : best;
		settled = (ns_now() - half) / (double)(s.n - s.n / 2) < settled ? (ns_now() - half) / (double)(s.n - s.n / 2) : settled;
	}
	for (int turn = 0; turn < 5; turn++) {
		double most = 0;

		period_init(detector);
		for (size_t i = 0; i < s.n; i++) {
			double start = ns_now();

			period_launch(detector, &s.launches[i]);
			start = ns_now() - start;
			most = start > most ? start : most;
		}
		worst = most < worst ? most : worst;
	}
	printf("launch looked at, %s\t%.1f\tns\tgoal 20; %zu launches from the first; settled %.1f, longest %.0f us\n", name, best, s.n, settled,
	       worst / 1000);
	sequence_free(&s);
}

int main(void)
{
	detector = malloc(sizeof *detector);
	if (!detector)
		return 1;
	printf("a detector\t%zu\tB\t\n", sizeof *detector);
	cost("transformer, 500 steps", &(struct program){ .shape = SHAPE_TRANSFORMER, .steps = 500, .seed = 1 });
	cost("transformer, 50 steps", &(struct program){ .shape = SHAPE_TRANSFORMER, .steps = 50, .seed = 1 });
	cost("MLP, all disturbances, 2000 steps", &(struct program){ .shape = SHAPE_MLP, .steps = 2000, .seed = 1, .warmup = true, .dependent = 30,
	     .buckets = 8, .evaluate_every = 50, .accumulate = 4, .side = true });
	cost("no period: every step of another length", &(struct program){ .shape = SHAPE_RNN, .steps = 3000, .seed = 1, .varying = 90 });
	table(true);
	table(false);
	free(detector);
	return 0;
}
