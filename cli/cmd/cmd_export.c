/* gprof-trace export: converts a trace to formats of other programs. */
#include "cli/ui/cmd.h"
#include "cli/export/export.h"
#include "cli/ui/fail.h"
#include "cli/export/gzip.h"
#include "cli/input/input.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/ui/new_file.h"
#include "cli/ui/options.h"
#include "cli/ui/screen.h"
#include "cli/input/selection_options.h"
#include "trace/grow.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LARGE_MB 300u           /* largest JSON file that browsers open well, according to users of these formats */

static const struct exporter *const exporters[] = { &export_kineto, &export_folded, &export_pprof };
#define FORMATS "kineto json folded pprof"
#define METRIC_WORDS "gpu_time api_time cpu_samples bytes count range_time"        /* in the order of enum metric */

static const char *format = "kineto", *output, *metric;
static bool force, merged, integers;
static struct selection_options selection;

static const struct opt opts[] = {
	{ 't', "format", "FORMAT", opt_choice, &format,
	  "kineto (default, also called json): for Perfetto, chrome://tracing, HTA and TensorBoard; "
	  "folded: call stacks for flamegraph.pl, inferno and speedscope; pprof: call stacks for pprof", FORMATS, 0 },
	{ 'm', "metric", "METRIC", opt_choice, &metric,
	  "sum of each stack in folded and pprof: gpu_time (default) or api_time in ns, cpu_samples, bytes copied, "
	  "count of CUDA calls, or range_time of NVTX ranges", METRIC_WORDS, 0 },
	{ 'o', "output", "FILE", opt_text, &output,
	  "write to FILE; - is standard output (default: name of the trace with the format's suffix)", NULL, 0 },
	{ 'f', "force-overwrite", NULL, opt_flag, &force, "replace existing files", NULL, OPT_WORD },
	{ 0, "merged", NULL, opt_flag, &merged, "write one file, not one per process; ids are renumbered",
	  NULL, 0 },
	SELECTION_OPTIONS(selection),
	INPUT_OPTIONS,
	{ 0, "us", NULL, opt_flag, &integers, "write whole microseconds, for tools that read no fractions", NULL,
	  0 },
	{ 0 },
};

/* ---- assignment of processes to files ---- */

struct export_file {
	char path[PATH_MAX];
	uint32_t main;                  /* the process that the file is for; 0: all processes, or those without a file of their own */
	bool *takes;                    /* by process: whether the file contains it; NULL: all */
};

struct plan {
	struct model *m;
	const struct process *processes;
	uint32_t n_processes;
	struct export_file *files;
	size_t n_files, cap_files;
};

static bool has_host_rows(struct model *m, uint32_t p)
{
	return model_process_rows(m, ROW_range, p) || model_process_rows(m, ROW_mark, p) ||
	       model_process_rows(m, ROW_sample, p);
}

/* The process itself or its nearest ancestor that has a file; 0: none. */
static uint32_t leading_ancestor(const struct plan *plan, uint32_t p)
{
	for (uint32_t hops = 0; p && hops < plan->n_processes; hops++) {
		if (export_leads(plan->m, p))
			return p;
		p = model_process_at(plan->m, plan->processes[p].parent);
	}
	return 0;
}

static struct export_file *add_file(struct plan *plan, uint32_t main)
{
	struct export_file *f;

	if (!GROW(plan->files, plan->n_files + 1, plan->cap_files))
		return NULL;
	f = &plan->files[plan->n_files++];
	*f = (struct export_file){ .main = main, .takes = calloc(plan->n_processes, sizeof *f->takes) };
	return f->takes ? f : NULL;
}

/* The first image of a process (the program before or after an exec), from p on, that leads a file; p if none does. */
static uint32_t main_image(const struct plan *plan, uint32_t p)
{
	for (uint32_t i = p; i; i = plan->processes[i].after)
		if (export_leads(plan->m, i))
			return i;
	return p;
}

/*
 * One file for each process for which export_leads() is true, with its descendants that have no file.  Other processes with
 * host rows share one more file.  0, or -1: out of memory.
 */
static int split(struct plan *plan)
{
	struct export_file *rest = NULL;

	for (uint32_t p = 1; p < plan->n_processes; p++)
		if (export_leads(plan->m, p) && !add_file(plan, p))
			return -1;
	for (uint32_t p = 1; p < plan->n_processes; p++) {
		uint32_t main = leading_ancestor(plan, p);

		for (size_t i = 0; i < plan->n_files; i++)
			if (main && plan->files[i].main == main)
				plan->files[i].takes[p] = true;
		if (main || !has_host_rows(plan->m, p))
			continue;
		if (!rest && !(rest = add_file(plan, 0)))
			return -1;
		rest->takes[p] = true;
	}
	return 0;
}

/* one_file: for formats that sum, all processes go into one file. */
static int plan_files(struct plan *plan, bool one_file)
{
	uint32_t leading = 0, only = selection_options_process(&selection, plan->m);
	struct export_file *f;

	plan->processes = model_processes(plan->m, &plan->n_processes);
	if (only) {
		f = add_file(plan, main_image(plan, only));
		for (uint32_t p = only; f && p; p = plan->processes[p].after)
			f->takes[p] = true;
		return f ? 0 : fail("out of memory");
	}
	for (uint32_t p = 1; p < plan->n_processes; p++)
		leading += export_leads(plan->m, p);
	if (leading > 1 && !merged && !one_file)
		return split(plan) < 0 ? fail("out of memory") : 0;
	f = add_file(plan, 0);
	if (!f)
		return fail("out of memory");
	free(f->takes);
	f->takes = NULL;
	merged = leading > 1;
	return 0;
}

/* ---- names of the files ---- */

/* Whether every process with a file has a rank, all different. */
static bool ranks_differ(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_files; i++) {
		const char *rank = process_attribute(&plan->processes[plan->files[i].main], "rank");

		if (!plan->files[i].main)
			continue;
		if (!rank || !*rank || rank[strspn(rank, "0123456789")])
			return false;
		for (size_t j = 0; j < i; j++) {
			const char *other = process_attribute(&plan->processes[plan->files[j].main], "rank");

			if (plan->files[j].main && other && strcmp(rank, other) == 0)
				return false;
		}
	}
	return true;
}

/* -o NAME.json gives NAME.json, or NAME.rank0.json for one of several files; without -o, NAME.gtrace gives NAME.json. */
static void name_file(const struct plan *plan, struct export_file *f, const char *suffix, bool ranks)
{
	const char *base = output ? output : model_path(plan->m), *dot = strrchr(base, '.'),
		   *slash = strrchr(base, '/');
	const struct process *p = &plan->processes[f->main];
	size_t n = strlen(base);
	char who[32] = "";

	if (dot && dot != base && (!slash || dot > slash + 1) && (output || strcmp(dot, ".gtrace") == 0))
		n = (size_t)(dot - base);
	if (plan->n_files > 1) {
		if (!f->main)
			snprintf(who, sizeof who, ".other");
		else if (ranks)
			snprintf(who, sizeof who, ".rank%.9s", process_attribute(p, "rank"));
		else
			snprintf(who, sizeof who, ".%u", p->described ? p->pid : p->number);
	}
	snprintf(f->path, sizeof f->path, "%.*s%s%s", (int)n, base, who, output ? base + n : suffix);
}

/* If two processes have the same pid, the later one's name also gets its process number. */
static void name_files(struct plan *plan, const char *suffix)
{
	bool ranks = ranks_differ(plan);

	for (size_t i = 0; i < plan->n_files; i++) {
		struct export_file *f = &plan->files[i];

		name_file(plan, f, suffix, ranks);
		for (size_t j = 0; j < i; j++)
			if (strcmp(plan->files[j].path, f->path) == 0) {
				size_t n = strlen(f->path);

				snprintf(f->path + n, sizeof f->path - n, ".%u%s", plan->processes[f->main].number,
					 suffix);
			}
	}
}

/* ---- writing ---- */

static struct timespec began;
static const char *shown;               /* name of the file in the progress line */
static bool line_open;

/* Prints the progress, after the first second.  Called only if stderr is a terminal. */
static void progress(uint64_t done, uint64_t total)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - began.tv_sec < 2 && (now.tv_sec == began.tv_sec || now.tv_nsec < began.tv_nsec))
		return;
	fprintf(stderr, "\r%s: %u %%", shown, (unsigned)(done * 100 / (total ? total : 1)));
	line_open = true;
}

static void progress_end(void)
{
	if (line_open)
		fprintf(stderr, "\r\033[K");
	line_open = false;
}

static enum metric metric_of(const char *word)
{
	static const char *const words[METRICS] = { "gpu_time", "api_time", "cpu_samples", "bytes", "count" };
	unsigned i = 0;

	while (word && i + 1 < METRICS && strcmp(words[i], word) != 0)
		i++;
	return i;
}

/* Closes the memory stream and writes its contents as gzip to file; NULL: discards them.  0, or -1 with errno. */
static int wrap(FILE *memory, char **made, size_t *n, FILE *file)
{
	int rc = fclose(memory) == 0 ? 0 : -1;

	if (rc == 0 && file)
		rc = gzip_write(file, *made, *n);

	free(*made);
	return rc;
}

/* Prints that there are no stacks; no program opens a file without stacks, so none is written.  Returns -1. */
static int nothing_to_export(const struct export *x)
{
	bool selected = model_selected(x->m);

	return fail("nothing to export: %s no stacks with %s%s", selected ? "the selected part of the trace has" : "the trace has",
		    metric ? metric : "gpu_time", metric ? "" : " (try --metric api_time)");
}

static int write_stream(struct plan *plan, const struct export_file *f, const struct exporter *e, FILE *file, struct export *x)
{
	struct out out;
	char *made = NULL;
	size_t n_made = 0;
	FILE *memory = e->gzip ? open_memstream(&made, &n_made) : NULL;
	int rc, written;

	if ((e->gzip && !memory) || out_init(&out, memory ? memory : file) < 0)
		return fail("out of memory");
	out.most = input_most_written(plan->m);
	*x = (struct export){
		.format = e,
		.m = plan->m,
		.out = &out,
		.title = f->path,
		.takes = f->takes,
		.merged = merged,
		.integers = integers,
		.metric = metric_of(metric),
		.progress = isatty(STDERR_FILENO) ? progress : NULL,
	};
	if (file != stdout && !memory)
		out_in_background(&out);
	clock_gettime(CLOCK_MONOTONIC, &began);
	shown = f->path;
	rc = export_walk(x);
	progress_end();
	export_release(x);
	if (rc < 0 && !out.failed)
		fail("out of memory");
	else if (rc == 0 && e->sum && !x->events)
		rc = nothing_to_export(x);
	written = out_finish(&out);
	if (out.full)
		rc = input_say_too_much(plan->m, file == stdout ? "standard output" : f->path);
	if (memory && wrap(memory, &made, &n_made, rc < 0 || written < 0 ? NULL : file) < 0)
		written = -1;
	if (written < 0 && !out.full)
		rc = file == stdout ? -1 : fail_errno("cannot write '%s'", f->path);
	x->done = out.written;
	return rc;
}

static void say_written(const struct export_file *f, const struct export *x)
{
	uint64_t size = x->done;

	char text[32];

	screen_print("%s  (%llu %s, %s)\n", f->path, (unsigned long long)x->events, x->format->sum ? "stacks" : "events",
	       text_bytes(text, size));
	if (!x->events) {
		note("'%s' is empty: the trace has no CUDA calls, kernels, ranges or marks", f->path);
		hint("gprof-trace report -r processes,health shows why");
	}
	if (size > LARGE_MB * 1000000ull) {
		note("'%s' is larger than the %u MB that a browser opens well; Perfetto's trace_processor reads it",
		     f->path, LARGE_MB);
		hint("see https://perfetto.dev/docs/visualization/large-traces; --process N exports less");
	}
}

static int write_file(struct plan *plan, const struct export_file *f, const struct exporter *e)
{
	struct new_file made;
	struct export x;
	FILE *file;
	int rc;

	if (new_file_open(&made, f->path, force) < 0)
		return -1;
	file = fdopen(made.fd, "w");
	if (!file) {
		close(made.fd);
		new_file_drop(&made);
		return fail_errno("cannot write '%s'", f->path);
	}
	rc = write_stream(plan, f, e, file, &x);
	if (fclose(file) != 0 && rc == 0)
		rc = fail_errno("cannot write '%s'", f->path);
	if (rc < 0)
		new_file_drop(&made);
	else
		rc = new_file_keep(&made);
	if (rc < 0)
		return -1;
	say_written(f, &x);
	if (x.untimed)
		note("GPU rows without a time from CUPTI, which '%s' does not contain: %llu", f->path,
		     (unsigned long long)x.untimed);
	return 0;
}

static int export_all(struct plan *plan, const struct exporter *e)
{
	struct export x;

	if (output && strcmp(output, "-") == 0) {
		if (plan->n_files > 1)
			return fail("cannot write %zu files, one per process, to standard output; use --merged or --process N",
				    plan->n_files);
		snprintf(plan->files[0].path, sizeof plan->files[0].path, "%s", model_path(plan->m));
		return write_stream(plan, &plan->files[0], e, stdout, &x);
	}
	name_files(plan, e->suffix);
	for (size_t i = 0; i < plan->n_files; i++)
		if (write_file(plan, &plan->files[i], e) < 0)
			return -1;
	return 0;
}

static const struct exporter *exporter_of(const char *name)
{
	for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++)
		if (strcmp(exporters[i]->name, name) == 0)
			return exporters[i];
	return exporters[0];            /* json */
}

static int run(int argc, char **argv)
{
	struct input in = { 0 };
	const struct exporter *e = exporter_of(format);
	struct plan plan = { .m = NULL };
	int rc = input_select(&in, argc, argv), selected;

	if (rc)
		return rc;
	rc = -1;
	if (metric && !e->sum) {
		fail("--metric is for --format folded and pprof");
		return EXIT_USAGE;
	}
	if (!output && input_is_foreign(&in)) {
		fail("'%s' is not a trace of gprof-run, so the export needs a name: -o out.json", in.path);
		return EXIT_USAGE;
	}
	plan.m = input_open(&in);
	if (!plan.m)
		return EXIT_FAILED;
	selected = selection_options_apply(&selection, plan.m);
	if (selected) {
		model_close(plan.m);
		return selected;
	}
	if (plan_files(&plan, e->sum != NULL) == 0)
		rc = export_all(&plan, e);
	input_say_damage(plan.m);
	for (size_t i = 0; i < plan.n_files; i++)
		free(plan.files[i].takes);
	free(plan.files);
	model_close(plan.m);
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}

const struct cmd cmd_export = {
	.name = "export",
	.args = "[TRACE]",
	.help = "Convert a trace to JSON for Perfetto and HTA, or to flame graphs",
	.more = "Each process that used CUDA or trained with PyTorch gets its own file:\n"
		"NAME.rankN.json or NAME.PID.json.  To compress:\n"
		"  gprof-trace export -o - TRACE | gzip >NAME.json.gz",
	.opts = opts,
	.run = run,
};
