/* gprof-trace export: the trace in other programs' formats. */
#include "cli/cmd.h"
#include "cli/export/export.h"
#include "cli/fail.h"
#include "cli/gzip.h"
#include "cli/input.h"
#include "cli/model/process.h"
#include "cli/model/steps.h"
#include "cli/options.h"
#include "cli/pick.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LARGE_MB 300u           /* what browsers open as one JSON text, by the users of the formats */

static const struct exporter *const exporters[] = { &export_kineto, &export_folded, &export_pprof };
#define FORMATS "kineto json folded pprof"
#define METRIC_WORDS "gpu_time api_time cpu_samples bytes count range_time"        /* in the order of enum metric */

static const char *format = "kineto", *output, *metric;
static bool force, merged, integers;
static struct pick pick;

static const struct opt opts[] = {
	{ 't', "format", "FORMAT", opt_choice, &format,
	  "kineto (default; json is the same): for Perfetto, chrome://tracing, HTA, TensorBoard; "
	  "folded: call stacks for flamegraph.pl, inferno, speedscope; pprof: call stacks for pprof", FORMATS, 0 },
	{ 'm', "metric", "METRIC", opt_choice, &metric,
	  "folded and pprof: what is summed: gpu_time (default) and api_time in ns, cpu_samples, bytes copied, "
	  "count of CUDA calls, range_time in NVTX ranges by where they began", METRIC_WORDS, 0 },
	{ 'o', "output", "FILE", opt_text, &output,
	  "write to FILE; - is standard output (default: TRACE with the format's suffix)", NULL, 0 },
	{ 'f', "force-overwrite", NULL, opt_flag, &force, "write over existing files", NULL, OPT_WORD },
	{ 0, "merged", NULL, opt_flag, &merged, "one file even when several processes used CUDA or trained with PyTorch; ids are renumbered",
	  NULL, 0 },
	PICK_OPTIONS(pick),
	{ 0, "us", NULL, opt_flag, &integers, "times in whole microseconds, for tools that round fractions badly", NULL,
	  0 },
	{ 0 },
};

/* ---- which process goes into which file ---- */

struct file {
	char path[PATH_MAX];
	uint32_t main;                  /* process it is made for; 0: everything, or what belongs to none */
	bool *takes;                    /* by process; NULL: all */
};

struct plan {
	struct model *m;
	const struct process *processes;
	uint32_t n_processes;
	struct file *files;
	size_t n_files;
};

static bool has_host_rows(struct model *m, uint32_t p)
{
	return model_process_rows(m, ROW_range, p) || model_process_rows(m, ROW_mark, p) ||
	       model_process_rows(m, ROW_sample, p);
}

/* The nearest process above (or itself) that a file is made for; 0: none. */
static uint32_t leading_ancestor(const struct plan *plan, uint32_t p)
{
	for (uint32_t hops = 0; p && hops < plan->n_processes; hops++) {
		if (export_leads(plan->m, p))
			return p;
		p = model_process_at(plan->m, plan->processes[p].parent);
	}
	return 0;
}

static struct file *add_file(struct plan *plan, uint32_t main)
{
	struct file *files = realloc(plan->files, (plan->n_files + 1) * sizeof *files), *f;

	if (!files)
		return NULL;
	plan->files = files;
	f = &files[plan->n_files++];
	*f = (struct file){ .main = main, .takes = calloc(plan->n_processes, sizeof *f->takes) };
	return f->takes ? f : NULL;
}

/* Of the images of a process from p on the one that a file is made for. */
static uint32_t main_image(const struct plan *plan, uint32_t p)
{
	for (uint32_t i = p; i; i = plan->processes[i].after)
		if (export_leads(plan->m, i))
			return i;
	return p;
}

/* One file for each process that leads one, with its children that do not; what is left goes into one more. */
static int split(struct plan *plan)
{
	struct file *rest = NULL;

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

/* one_file: a format that sums has all processes in one file. */
static int plan_files(struct plan *plan, bool one_file)
{
	uint32_t leading = 0, only = pick_process(&pick, plan->m);
	struct file *f;

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

/* ---- what the files are called ---- */

/* Whether every process with a file has a rank, and no two the same. */
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

/* NAME.json -> NAME.rank0.json; of a trace NAME.gtrace -> NAME.json. */
static void name_file(const struct plan *plan, struct file *f, const char *suffix, bool ranks)
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

/* Two processes of the same pid: the later one gets its number too. */
static void name_files(struct plan *plan, const char *suffix)
{
	bool ranks = ranks_differ(plan);

	for (size_t i = 0; i < plan->n_files; i++) {
		struct file *f = &plan->files[i];

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
static const char *shown;               /* file whose progress is on the terminal */
static bool line_open;

/* Only on a terminal, and only when it takes over a second. */
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

/* Refuses a file that is there, unless -f: it may be something else. */
/* /dev/null, a pipe: written to as it is.  A file renamed over it would take its place. */
static bool is_device(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int may_write(const char *path)
{
	if (force || access(path, F_OK) < 0 || is_device(path))
		return 0;
	fail("'%s' exists; -f writes over it, -o FILE writes elsewhere", path);
	return -1;
}

static enum metric metric_of(const char *word)
{
	static const char *const words[METRICS] = { "gpu_time", "api_time", "cpu_samples", "bytes", "count" };
	unsigned i = 0;

	while (word && i + 1 < METRICS && strcmp(words[i], word) != 0)
		i++;
	return i;
}

/* From memory into its wrapping; file NULL: nowhere.  0, or -1: not written (errno). */
static int wrap(FILE *memory, char **made, size_t *n, FILE *file)
{
	int rc = fclose(memory) == 0 ? 0 : -1;

	if (rc == 0 && file)
		rc = gzip_write(file, *made, *n);

	free(*made);
	return rc;
}

/* A file without a stack opens nowhere, so there is none. */
static int nothing_to_export(const struct export *x)
{
	bool selected = model_selected(x->m);

	return fail("nothing to export: %s no stacks with %s%s", selected ? "the selected part of the trace has" : "the trace has",
		    metric ? metric : "gpu_time", metric ? "" : " (try --metric api_time)");
}

static int write_stream(struct plan *plan, const struct file *f, const struct exporter *e, FILE *file, struct export *x)
{
	struct out out;
	char *made = NULL;
	size_t n_made = 0;
	FILE *memory = e->gzip ? open_memstream(&made, &n_made) : NULL;
	int rc;

	if ((e->gzip && !memory) || out_init(&out, memory ? memory : file) < 0)
		return fail("out of memory");
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
	if (rc < 0)
		fail("out of memory");
	else if (e->sum && !x->events)
		rc = nothing_to_export(x);
	if (out_finish(&out) < 0 || (memory && wrap(memory, &made, &n_made, rc < 0 ? NULL : file) < 0))
		rc = file == stdout ? -1 : fail_errno("cannot write '%s'", f->path);
	x->done = out.written;
	return rc;
}

static void say_written(const struct file *f, const struct export *x)
{
	uint64_t size = x->done;

	char text[32];

	printf("%s  (%llu %s, %s)\n", f->path, (unsigned long long)x->events, x->format->sum ? "stacks" : "events",
	       text_bytes(text, size));
	if (!x->events) {
		note("nothing to show is in '%s': no CUDA calls, kernels, ranges or marks", f->path);
		hint("gprof-trace report -r processes,health says why");
	}
	if (size > LARGE_MB * 1000000ull) {
		note("'%s' is larger than the %u MB that a browser opens well; Perfetto's trace_processor reads it",
		     f->path, LARGE_MB);
		hint("https://perfetto.dev/docs/visualization/large-traces says how; --process N exports less");
	}
}

/* Written beside, and renamed when it is whole: nobody finds half a file. */
static int write_file(struct plan *plan, const struct file *f, const struct exporter *e)
{
	bool device = is_device(f->path);
	char part[PATH_MAX + 8];
	struct export x;
	FILE *file;
	int fd, rc;

	if (may_write(f->path) < 0)
		return -1;
	snprintf(part, sizeof part, "%s%s", f->path, device ? "" : ".part");
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return fail_errno("cannot write '%s'", f->path);
	rc = write_stream(plan, f, e, file, &x);
	if (fclose(file) != 0 && rc == 0)
		rc = fail_errno("cannot write '%s'", f->path);
	if (rc == 0 && !device && rename(part, f->path) < 0)
		rc = fail_errno("cannot rename '%s' to '%s'", part, f->path);
	if (rc < 0) {
		if (!device)
			unlink(part);
		return -1;
	}
	say_written(f, &x);
	if (x.untimed)
		note("GPU rows left out of '%s', because CUPTI gave them no time: %llu", f->path,
		     (unsigned long long)x.untimed);
	return 0;
}

static int export_all(struct plan *plan, const struct exporter *e)
{
	struct export x;

	if (output && strcmp(output, "-") == 0) {
		if (plan->n_files > 1)
			return fail("%zu processes used CUDA or trained, and standard output is one file; --merged or --process N "
				    "makes it one",
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
	char found[PATH_MAX];
	const char *path = input_path(argc, argv, found, sizeof found);
	const struct exporter *e = exporter_of(format);
	struct plan plan = { .m = NULL };
	int rc = -1, picked;

	if (metric && !e->sum) {
		fail("--metric is for --format folded and pprof");
		return EXIT_USAGE;
	}
	if (!path)
		return argc > 1 ? EXIT_USAGE : EXIT_FAILED;
	if (!output && input_is_foreign(path)) {
		fail("'%s' is no trace of gprof-run: say where the export goes, for example -o out.json", path);
		return EXIT_USAGE;
	}
	plan.m = input_open(path);
	if (!plan.m)
		return EXIT_FAILED;
	picked = pick_apply(&pick, plan.m);
	if (picked) {
		model_close(plan.m);
		return picked;
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
	.help = "Write the trace as JSON for Perfetto and HTA, or as flame graphs",
	.more = "When several processes used CUDA or trained, each gets a file of its own:\n"
		"NAME.rankN.json, or NAME.PID.json.  For a compressed file:\n"
		"gprof-trace export -o - TRACE | gzip >NAME.json.gz",
	.opts = opts,
	.run = run,
};
