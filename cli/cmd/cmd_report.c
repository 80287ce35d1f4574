/* gprof-trace report: prints the reports named with -r, or the summary page. */
#include "cli/input/input.h"
#include "cli/input/selection_options.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/page/page.h"
#include "cli/report/parts/choice.h"
#include "cli/report/all.h"
#include "cli/report/report_list.h"
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/new_file.h"
#include "cli/ui/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_REPORTS 48            /* in one command */
#define MOST_NAMES   160           /* names of reports that are compared for "did you mean" */

static char *names;
static const char *format = "table", *output, *sort_key;
static uint64_t limit;
static struct selection_options selection;
static bool all_steps, sites, all_reports, wide, full_names;
static const char *by = "mixed";
static struct report_choice choice;

static const struct opt opts[] = {
	{ 'r', "report", "NAME[,NAME]", opt_list, &names,
	  "reports to print; 'report list' lists them, 'stats' is the default set of 'nsys stats'",
	  "stats $(gprof-trace report list -f csv | sed \"1d; s/,.*//\")", 0 },
	{ 'f', "format", "FORMAT", opt_choice, &format, "table (default), csv or json", "table csv json", 0 },
	{ 'o', "output", "FILE", opt_text, &output, "write to FILE; - is standard output (default)", NULL, 0 },
	{ 's', "sort", "COLUMN", opt_text, &sort_key,
	  "sort by this column, largest number first; COLUMN:asc and COLUMN:desc set the order", NULL, 0 },
	{ 'n', "limit", "N", opt_u64, &limit, "print the first N rows of each report; 0 prints all (default)", NULL, 0 },
	{ 'w', "wide", NULL, opt_flag, &wide, "show all columns of a table, even if its lines are longer than the terminal's", NULL, 0 },
	{ 0, "full-names", NULL, opt_flag, &full_names, "do not fold or cut long names in a table", NULL, OPT_MORE },
	SELECTION_OPTIONS(selection),
	INPUT_OPTIONS,
	SCREEN_OPTIONS,
	{ 0, "all", NULL, opt_flag, &all_reports,
	  "processes, health: one row for each process, also of those that recorded nothing; report list: also list the compatibility "
	  "reports (hta_*), which count exactly as HTA does", NULL, 0 },
	{ .name = "", .help = "Options of single reports", .flags = OPT_TITLE },
	{ 0, "all-steps", NULL, opt_flag, &all_steps, "steps: also list steps outside the recorded windows", NULL, OPT_MORE },
	{ 0, "by", "FRAMES", opt_choice, &by,
	  "stacks: group by these frames: mixed (default), native, python, or line (only the program's own line)",
	  "native python mixed line", OPT_MORE },
	{ 0, "group-by-stack", "N", opt_u64, &choice.group,
	  "stacks: group by the N innermost of these frames; 0 is all (default); call_sites, range_sites: group by N frames instead "
	  "of by line", NULL, OPT_MORE },
	{ 0, "stacks", NULL, opt_flag, &sites, "cuda_api_sum, nvtx_sum: also print the call sites (call_sites, range_sites)", NULL,
	  OPT_MORE },
	{ 0, "file", "GLOB", opt_text, &choice.file, "lines: only files that match GLOB, such as train.py or '*/model/*'",
	  NULL, OPT_MORE },
	{ 0, "function", "GLOB", opt_text, &choice.function, "lines: only functions that match GLOB, such as 'Model.*'",
	  NULL, OPT_MORE },
	{ 0 },
};

/* A report of the command line. */
struct wanted_report {
	const struct report *report;
	const char *variant;
};

/* The reports that `nsys stats` prints by default, in its order. */
static const struct report *const stats_set[] = {
	&report_nvtx_pushpop_sum, &report_cuda_api_sum, &report_cuda_gpu_kern_sum, &report_cuda_gpu_mem_time_sum,
	&report_cuda_gpu_mem_size_sum,
};
#define STATS (sizeof stats_set / sizeof *stats_set)

static enum stack_view view_of(const char *word)
{
	return *word == 'n' ? VIEW_NATIVE : *word == 'p' ? VIEW_PYTHON : *word == 'l' ? VIEW_LINE : VIEW_MIXED;
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
	hint("'gprof-trace report list' lists all reports");
	return -1;
}

static bool is_of_ranges(const struct report *r)
{
	return r == &report_nvtx_sum || r == &report_nvtx_pushpop_sum || r == &report_nvtx_startend_sum;
}

/* Splits list, which it changes, into reports.  Returns their number, or -1 after an error message. */
static int find_reports(char *list, struct wanted_report *out)
{
	size_t n = 0;

	for (char *name; (name = strsep(&list, ","));) {
		if (n + STATS + 1 > MOST_REPORTS)
			return fail("more than %zu reports in one command; use several commands", MOST_REPORTS - STATS - 1);
		for (size_t i = 0; i < STATS && strcmp(name, "stats") == 0; i++)
			out[n++] = (struct wanted_report){ stats_set[i], NULL };
		if (!*name || strcmp(name, "stats") == 0)
			continue;
		out[n].report = report_find(name, &out[n].variant);
		if (!out[n++].report)
			return unknown(name);
		if (sites && out[n - 1].report == &report_cuda_api_sum)
			out[n++] = (struct wanted_report){ &report_call_sites, NULL };
		else if (sites && is_of_ranges(out[n - 1].report))
			out[n++] = (struct wanted_report){ &report_range_sites, NULL };
	}
	return n ? (int)n : fail("--report needs the name of a report");
}

static enum table_format format_of(const char *word)
{
	return *word == 't' ? TABLE_TEXT : *word == 'c' ? TABLE_CSV : TABLE_JSON;
}

/* Adds notes on the selected part of the trace, and on sums over several processes. */
static void note_part(const struct report *r, struct model *m, struct table *t)
{
	char part[SELECTION_OPTIONS_WORDS];
	uint32_t with = model_processes_with(m, r->adds);

	if (with > 1)
		table_note(t, "sums of %u processes; --process N selects one", with);
	if (r->whole && (selection.step || selection.window))
		table_note(t, "this report covers the whole program: --step and --window have no effect");
	else if (selection_options_given(&selection))
		table_note(t, "only %s", selection_options_words(&selection, part, sizeof part));
}

static const char *variant_of(const struct wanted_report *w)
{
	bool all = w->report == &report_steps ? all_steps : all_reports && (w->report == &report_processes || w->report == &report_health);

	return all ? "all" : w->variant;
}

static int print_one(struct model *m, struct tables *tables, const struct wanted_report *w)
{
	const struct report *r = w->report;
	struct table t;
	int rc;

	if (table_begin(&t, tables, r->name, r->title, r->columns, r->n_columns) < 0)
		return EXIT_USAGE;
	rc = report_run(r, m, &t, variant_of(w), &choice);
	note_part(r, m, &t);
	table_define(&t, report_definitions(r));
	if (rc < 0)
		fail("out of memory");
	return table_end(&t) < 0 || rc < 0 ? EXIT_FAILED : EXIT_OK;
}

static int print_reports(struct model *m, const struct wanted_report *wanted, int n, FILE *file)
{
	struct out out;
	struct tables tables = {
		.out = &out, .sort = sort_key, .limit = limit, .width = wide ? 0 : screen_width(file), .full_names = full_names,
		.several = n > 1,
		.format = format_of(format),
	};
	int rc = EXIT_OK;

	if (out_init(&out, file) < 0)
		return fail("out of memory"), EXIT_FAILED;
	out.most = input_most_written(m);
	tables_begin(&tables);
	for (int i = 0; i < n && rc == EXIT_OK; i++)
		rc = print_one(m, &tables, &wanted[i]);
	if (rc == EXIT_OK)
		tables_end(&tables);
	if (out_finish(&out) < 0 && (out.full || file != stdout)) {
		out.full ? input_say_too_much(m, file == stdout ? "standard output" : output) : fail_errno("cannot write '%s'", file == stdout ? "standard output" : output);
		rc = EXIT_FAILED;
	}
	return rc;
}

/* ---- the traces ---- */

static struct model **models;
static size_t n_models;

/* Opens each operand as a trace of its own; a folder is one trace.  0, or an exit status after an error message. */
static int open_each(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		struct input in = { 0 };
		int rc = input_select(&in, 1, &argv[i]);

		models[n_models] = rc ? NULL : input_open(&in);
		if (!models[n_models])
			return EXIT_FAILED;
		rc = selection_options_apply(&selection, models[n_models++]);
		if (rc)
			return rc;
	}
	return EXIT_OK;
}

/*
 * Rejects --step, --window and --process for reports that reproduce the numbers of another tool, which counts whole traces.
 * 0, or an exit status after an error message.
 */
static int refuse_parts(const struct wanted_report *wanted, int n)
{
	for (int i = 0; i < n && selection_options_given(&selection); i++) {
		const struct report *r = wanted[i].report;

		if (!r->ranks || !(r->compat || r->whole))
			continue;
		fail("report %s counts whole traces, as %s does: it takes no %s", r->name,
		     r->compat ? "Holistic Trace Analysis" : "TensorBoard's plugin", selection_options_given(&selection));
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

static int open_traces(int argc, char **argv, const struct wanted_report *wanted, int n)
{
	const struct report *other = NULL;
	struct input in = { 0 };
	int rc;

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
	rc = input_select(&in, argc, argv);
	if (rc)
		return rc;
	models[0] = input_open(&in);
	if (!models[0])
		return EXIT_FAILED;
	n_models = 1;
	return selection_options_apply(&selection, models[0]);
}

static int run_reports(int argc, char **argv, char *list)
{
	bool to_file = output && strcmp(output, "-") != 0;
	struct wanted_report wanted[MOST_REPORTS];
	struct jobs jobs = { 0 };
	struct new_file made;
	FILE *file;
	int n = find_reports(list, wanted), rc;

	if (n < 0)
		return EXIT_USAGE;
	rc = open_traces(argc, argv, wanted, n);
	if (rc)
		return rc;
	if (to_file && new_file_open(&made, output, true) < 0)
		return EXIT_FAILED;
	file = to_file ? fdopen(made.fd, "w") : stdout;
	if (!file) {
		fail_errno("cannot write '%s'", output);
		new_file_drop(&made);
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
	if (to_file && rc != EXIT_OK)
		new_file_drop(&made);
	else if (to_file && new_file_keep(&made) < 0)
		rc = EXIT_FAILED;
	for (size_t i = 0; i < n_models; i++)
		input_say_damage(models[i]);
	return rc;
}

/* An option on the command line that is only for reports; NULL: none. */
static const char *option_without_report(void)
{
	const struct { bool given; const char *name; } all[] = {
		{ *format != 't', "--format" }, { output, "--output" }, { sort_key, "--sort" }, { limit, "--limit" },
		{ wide, "--wide" }, { full_names, "--full-names" }, { all_steps, "--all-steps" }, { sites, "--stacks" },
		{ all_reports, "--all" }, { *by != 'm', "--by" }, { choice.group, "--group-by-stack" }, { choice.file, "--file" },
		{ choice.function, "--function" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

/* An option on the command line that `report list` does not have; NULL: none. */
static const char *option_beyond_list(void)
{
	return names ? "-r" : output ? "--output" : sort_key ? "--sort" : limit ? "--limit" : NULL;
}

/* report list; operands: a trace, or none. */
static int list_reports(int argc, char **argv)
{
	struct input in = { 0 };
	struct model *m = argc && input_select(&in, argc, argv) == EXIT_OK ? input_open(&in) : NULL;
	struct out out;
	struct tables tables = { .out = &out, .width = wide ? 0 : screen_width(stdout), .quiet = true, .format = format_of(format) };
	bool failed;
	int rc;

	if (argc && !m)
		return EXIT_FAILED;
	if (out_init(&out, stdout) < 0)
		return fail("out of memory"), EXIT_FAILED;
	tables_begin(&tables);
	rc = report_list(&tables, m, all_reports);
	tables_end(&tables);
	failed = out_finish(&out) < 0 || rc < 0;
	model_close(m);
	return failed ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct input in = { 0 };
	int rc;

	if (argc >= 1 && strcmp(argv[0], "list") == 0 && option_beyond_list())
		return fail("report list takes no option %s; leave it out", option_beyond_list()), EXIT_USAGE;
	if (argc >= 1 && strcmp(argv[0], "list") == 0)
		return list_reports(argc - 1, argv + 1);
	if (!names && option_without_report()) {
		fail("%s needs a report: name it with -r", option_without_report());
		hint("add -r NAME to this command, for example -r cuda_gpu_kern_sum; 'gprof-trace report list' lists the names");
		return EXIT_USAGE;
	}
	choice.by = view_of(by);
	if (names)      /* the models are not closed: the process ends, and the kernel frees them faster */
		return run_reports(argc, argv, names);
	rc = input_select(&in, argc, argv);
	if (rc)
		return rc;
	return page_print(&in, stdout, PAGE_ASKED, &selection);
}

const struct cmd cmd_report = {
	.name = "report",
	.args = "[list [TRACE] | TRACE...]",
	.help = "Print a summary page, or the reports named with -r",
	.more = "Without -r, one page shows where the time went.\n"
		"Reports about jobs take several traces: one per rank, or a folder of all ranks.",
	.opts = opts,
	.run = run,
};
