/* gprof-trace report: one table or several; without -r the page that a newcomer wants. */
#include "cli/analyze/choice.h"
#include "cli/analyze/report.h"
#include "cli/cmd.h"
#include "cli/fail.h"
#include "cli/input.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps.h"
#include "cli/options.h"
#include "cli/page.h"
#include "cli/pick.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MOST_REPORTS 48            /* at once */
#define MOST_NAMES   160           /* that there are */

static char *names;
static const char *format = "table", *output, *sort_key;
static uint64_t limit;
static struct pick pick;
static bool all_steps, sites, all_reports;
static const char *by = "mixed";
static struct report_choice choice;

static const struct opt opts[] = {
	{ 'r', "report", "NAME[,NAME]", opt_list, &names,
	  "reports to print; 'report list' names them all, 'stats' is nsys's default set",
	  "stats $(gprof-trace report list | sed \"s/ .*//\")", 0 },
	{ 'f', "format", "FORMAT", opt_choice, &format, "table (default), csv or json", "table csv json", 0 },
	{ 'o', "output", "FILE", opt_text, &output, "write to FILE; - is standard output (default)", NULL, 0 },
	{ 's', "sort", "COLUMN", opt_text, &sort_key,
	  "sort by this column, numbers from the largest; COLUMN:asc and COLUMN:desc say how", NULL, 0 },
	{ 'n', "limit", "N", opt_u64, &limit, "print N rows of each report; 0 is all (default)", NULL, 0 },
	PICK_OPTIONS(pick),
	{ 0, "all", NULL, opt_flag, &all_reports,
	  "report list: the twins too, which count as another tool does where ours counts otherwise", NULL, 0 },
	{ 0, "all-steps", NULL, opt_flag, &all_steps, "report steps: those outside of the recorded windows too", NULL,
	  0 },
	{ 0, "by", "FRAMES", opt_choice, &by,
	  "report stacks: which frames count: mixed (default), native, python, or line: the line of the program alone",
	  "native python mixed line", 0 },
	{ 0, "group-by-stack", "N", opt_u64, &choice.group,
	  "report stacks: only the N innermost of those frames; 0 is all (default); call_sites and range_sites: so many instead "
	  "of the line", NULL, 0 },
	{ 0, "stacks", NULL, opt_flag, &sites, "reports cuda_api_sum, nvtx_sum: below it who made these calls, began these ranges", NULL, 0 },
	{ 0, "file", "GLOB", opt_text, &choice.file, "report lines: only of files that fit, such as train.py or '*/model/*'",
	  NULL, 0 },
	{ 0, "function", "GLOB", opt_text, &choice.function, "report lines: only of functions that fit, such as 'Model.*'",
	  NULL, 0 },
	{ 0 },
};

/* One report as asked for. */
struct wanted {
	const struct report *report;
	const char *variant;
};

/* What `nsys stats` prints of its own accord, in its order. */
static const struct report *const stats_set[] = {
	&report_nvtx_pushpop_sum, &report_cuda_api_sum, &report_cuda_gpu_kern_sum, &report_cuda_gpu_mem_time_sum,
	&report_cuda_gpu_mem_size_sum,
};
#define STATS (sizeof stats_set / sizeof *stats_set)

static enum stack_view view_of(const char *word)
{
	return *word == 'n' ? VIEW_NATIVE : *word == 'p' ? VIEW_PYTHON : *word == 'l' ? VIEW_LINE : VIEW_MIXED;
}

static int list_reports(void)
{
	size_t width = 0;

	for (size_t i = 0; i < n_reports; i++)
		if ((all_reports || !reports[i]->twin) && strlen(reports[i]->name) > width)
			width = strlen(reports[i]->name);
	for (size_t i = 0; i < n_reports; i++)
		if (all_reports || !reports[i]->twin)
			printf("%-*s  %s\n", (int)width, reports[i]->name, reports[i]->help);
	return EXIT_OK;
}

static int unknown(const char *name)
{
	const char *all[MOST_NAMES], *nearest, *variant;
	char plain[64];
	const struct report *r;
	const char *words;

	snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, ":"), name);
	r = report_find(plain, &variant);
	if (r && name[strlen(plain)]) {
		words = !r->variants ? "" : *r->variants == *ANY_VARIANT ? r->variants + 1 : r->variants;
		fail("report %s has no variant '%s'%s%s", plain, name + strlen(plain) + 1, *words ? "; it has " : "", words);
		return -1;
	}
	for (size_t i = 0; i < n_reports && i < MOST_NAMES; i++)
		all[i] = reports[i]->name;
	nearest = options_nearest(plain, all, n_reports < MOST_NAMES ? n_reports : MOST_NAMES);
	fail("no report '%s'%s%s%s", plain, nearest ? "; did you mean '" : "", nearest ? nearest : "",
	     nearest ? "'?" : "");
	hint("gprof-trace report list names them all");
	return -1;
}

static bool is_of_ranges(const struct report *r)
{
	return r == &report_nvtx_sum || r == &report_nvtx_pushpop_sum || r == &report_nvtx_startend_sum;
}

/* Cuts list (which it changes) into reports.  Their number, or -1: said. */
static int find_reports(char *list, struct wanted *out)
{
	size_t n = 0;

	for (char *name; (name = strsep(&list, ","));) {
		if (n + STATS + 1 > MOST_REPORTS)
			return fail("more than %zu reports at once", MOST_REPORTS - STATS - 1);
		for (size_t i = 0; i < STATS && strcmp(name, "stats") == 0; i++)
			out[n++] = (struct wanted){ stats_set[i], NULL };
		if (!*name || strcmp(name, "stats") == 0)
			continue;
		out[n].report = report_find(name, &out[n].variant);
		if (!out[n++].report)
			return unknown(name);
		if (sites && out[n - 1].report == &report_cuda_api_sum)
			out[n++] = (struct wanted){ &report_call_sites, NULL };
		else if (sites && is_of_ranges(out[n - 1].report))
			out[n++] = (struct wanted){ &report_range_sites, NULL };
	}
	return n ? (int)n : fail("--report needs the name of a report");
}

static unsigned terminal_width(FILE *file)
{
	struct winsize size;

	return isatty(fileno(file)) && ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* What part of the trace the table is about, and whose rows it has added. */
static void note_part(const struct report *r, struct model *m, struct table *t)
{
	char part[PICK_WORDS];
	uint32_t with = model_processes_with(m, r->adds);

	if (with > 1)
		table_note(t, "sums of %u processes; --process N selects one", with);
	if (r->whole && (pick.step || pick.window))
		table_note(t, "this is about the whole program: --step and --window do not change it");
	else if (pick_given(&pick))
		table_note(t, "only %s", pick_words(&pick, part, sizeof part));
}

static int print_one(struct model *m, struct tables *tables, const struct wanted *w)
{
	const struct report *r = w->report;
	struct table t;
	int rc;

	if (table_begin(&t, tables, r->name, r->title, r->columns, r->n_columns) < 0)
		return EXIT_USAGE;
	rc = report_run(r, m, &t, r == &report_steps && all_steps ? "all" : w->variant, &choice);
	note_part(r, m, &t);
	if (rc < 0)
		fail("out of memory");
	return table_end(&t) < 0 || rc < 0 ? EXIT_FAILED : EXIT_OK;
}

static int print_reports(struct model *m, const struct wanted *wanted, int n, FILE *file)
{
	struct out out;
	struct tables tables = {
		.out = &out, .sort = sort_key, .limit = limit, .width = terminal_width(file), .several = n > 1,
		.format = *format == 't' ? TABLE_TEXT : *format == 'c' ? TABLE_CSV : TABLE_JSON,
	};
	int rc = EXIT_OK;

	if (out_init(&out, file) < 0)
		return fail("out of memory"), EXIT_FAILED;
	tables_begin(&tables);
	for (int i = 0; i < n && rc == EXIT_OK; i++)
		rc = print_one(m, &tables, &wanted[i]);
	if (rc == EXIT_OK)
		tables_end(&tables);
	if (out_finish(&out) < 0 && file != stdout) {
		fail_errno("cannot write '%s'", output);
		rc = EXIT_FAILED;
	}
	return rc;
}

/* ---- the traces ---- */

static struct model **models;
static size_t n_models;

/* Operands one by one, each a trace or a folder of them.  An exit status; 0: they are open. */
static int open_each(int argc, char **argv)
{
	char found[PATH_MAX];

	for (int i = 0; i < argc; i++) {
		const char *path = input_path(1, &argv[i], found, sizeof found);
		int rc;

		models[n_models] = path ? input_open(path) : NULL;
		if (!models[n_models])
			return EXIT_FAILED;
		rc = pick_apply(&pick, models[n_models++]);
		if (rc)
			return rc;
	}
	return EXIT_OK;
}

/* What counts as another tool does counts what that tool counts: whole traces.  An exit status; 0: there is none. */
static int refuse_parts(const struct wanted *wanted, int n)
{
	for (int i = 0; i < n && pick_given(&pick); i++) {
		const struct report *r = wanted[i].report;

		if (!r->ranks || !(r->twin || r->whole))
			continue;
		fail("report %s counts whole traces, as %s does: it takes no %s", r->name,
		     r->twin ? "Holistic Trace Analysis" : "TensorBoard's plugin", pick_given(&pick));
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

static int open_traces(int argc, char **argv, const struct wanted *wanted, int n)
{
	const struct report *other = NULL;
	char found[PATH_MAX];
	const char *path;

	if (refuse_parts(wanted, n))
		return EXIT_USAGE;
	for (int i = 0; i < n; i++)
		if (!wanted[i].report->ranks)
			other = wanted[i].report;
	for (int i = 0; i < n; i++)
		if (wanted[i].report->traces && (other || (int)wanted[i].report->traces != argc)) {
			fail("report %s takes %u traces, or folders of ranks", wanted[i].report->name, wanted[i].report->traces);
			return EXIT_USAGE;
		}
	models = calloc((size_t)argc + 1, sizeof *models);
	if (!models)
		return fail("out of memory"), EXIT_FAILED;
	if (argc > 1 && !other)
		return open_each(argc, argv);
	path = input_path(argc, argv, found, sizeof found);
	if (!path)
		return argc > 1 ? EXIT_USAGE : EXIT_FAILED;
	models[0] = input_open(path);
	if (!models[0])
		return EXIT_FAILED;
	n_models = 1;
	return pick_apply(&pick, models[0]);
}

static int run_reports(int argc, char **argv, char *list)
{
	bool to_file = output && strcmp(output, "-") != 0;
	struct wanted wanted[MOST_REPORTS];
	struct jobs jobs = { 0 };
	FILE *file;
	int n = find_reports(list, wanted), rc;

	if (n < 0)
		return EXIT_USAGE;
	rc = open_traces(argc, argv, wanted, n);
	if (rc)
		return rc;
	file = to_file ? fopen(output, "we") : stdout;
	if (!file) {
		fail_errno("cannot write '%s'", output);
		return EXIT_FAILED;
	}
	jobs.models = models;
	jobs.n = n_models;
	choice.jobs = &jobs;
	rc = print_reports(models[0], wanted, n, file);
	jobs_release(&jobs);
	if (to_file && fclose(file) != 0 && rc == EXIT_OK) {
		fail_errno("cannot write '%s'", output);
		rc = EXIT_FAILED;
	}
	for (size_t i = 0; i < n_models; i++)
		input_say_damage(models[i]);
	return rc;
}

/* An option that the page without -r does not take; NULL: none was given. */
static const char *option_without_report(void)
{
	const struct { bool given; const char *name; } all[] = {
		{ *format != 't', "--format" }, { output, "--output" }, { sort_key, "--sort" }, { limit, "--limit" },
		{ all_steps, "--all-steps" }, { sites, "--stacks" },
		{ *by != 'm', "--by" }, { choice.group, "--group-by-stack" }, { choice.file, "--file" },
		{ choice.function, "--function" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

static int run(int argc, char **argv)
{
	char found[PATH_MAX];
	const char *path;

	if (argc == 1 && strcmp(argv[0], "list") == 0)
		return list_reports();
	if (!names && option_without_report()) {
		fail("%s is for reports, and -r names none", option_without_report());
		hint("for example: gprof-trace report -r cuda_gpu_kern_sum; 'report list' names them all");
		return EXIT_USAGE;
	}
	choice.by = view_of(by);
	if (names)      /* the traces stay open: the process ends, and the kernel frees faster */
		return run_reports(argc, argv, names);
	path = input_path(argc, argv, found, sizeof found);
	if (!path)
		return argc > 1 ? EXIT_USAGE : EXIT_FAILED;
	return page_print(path, stdout, PAGE_ASKED, &pick);
}

const struct cmd cmd_report = {
	.name = "report",
	.args = "[list | TRACE...]",
	.help = "Say what happened: a page to start with, or the tables named with -r",
	.more = "Without -r: where the time went, on one page.  'report list' names all reports.\n"
		"Reports about jobs take several traces, a rank or a folder of ranks each.",
	.opts = opts,
	.run = run,
};
