/* gprof-trace check: whether a trace is complete, and which parts of a damaged one can be read. */
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/options.h"
#include "cli/ui/screen.h"
#include "trace/reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/import/import.h"
#include "cli/input/input.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"

static bool quiet;
static uint64_t max_errors = 10;

static const struct opt opts[] = {
	{ 'q', "quiet", NULL, opt_flag, &quiet, "print nothing; only set the exit status", NULL, 0 },
	{ 0, "max-errors", "N", opt_u64, &max_errors, "list at most N damaged places of each file (default 10)", NULL, 0 },
	INPUT_OPTIONS,
	{ 0 },
};

static void print_damage(const struct trace *t)
{
	for (size_t i = 0; i < t->n_damage && i < max_errors; i++)
		screen_print("  at byte %llu: %s\n", (unsigned long long)t->damage[i].offset, t->damage[i].text);
	if (t->n_damage > max_errors)
		screen_print("  and %zu more; --max-errors lists them\n", t->n_damage - (size_t)max_errors);
}

static void print_state(const struct trace *t, const char *path, bool live, size_t damaged)
{
	unsigned long long rows = 0, lost = 0;
	size_t whole = 0;

	for (size_t i = 0; i < t->n_chunks; i++)
		if (!t->chunks[i].bad) {
			whole++;
			rows += t->chunks[i].head.rows;
		}
	for (size_t i = 0; i < t->n_damage; i++)
		lost += t->damage[i].rows;
	screen_print("%s: %s, %zu chunks and %llu rows can be read", path,
	       damaged ? "damaged" : t->finished ? "complete" : live ? "complete so far, still being written" : "not finished",
	       whole, rows);
	if (damaged)
		screen_print(", %zu %s cannot", damaged, damaged == 1 ? "place" : "places");
	if (lost)
		screen_print(" (at least %llu rows)", lost);
	screen_print("\n");
	print_damage(t);
	if (!live && !t->finished)
		screen_print("  reports use the rows that can be read; 'gprof-trace recover %s' writes the missing index, and "
			     "brings no rows back\n",
			     path);
}

/* A trace of another profiler is damaged if the import counted truncation or invalid JSON. */
static int check_foreign(const char *path)
{
	struct model *m = input_open(&(struct input){ .path = path });
	bool damaged = false;
	uint32_t n = 0;

	if (!m)
		return EXIT_FAILED;
	for (const struct process *p = model_processes(m, &n), *end = p + n; p < end; p++)
		for (size_t i = 0; i < p->n_health; i++)
			damaged |= strcmp(health_name(p->health[i].reason), "import_cut") == 0 ||
				   strcmp(health_name(p->health[i].reason), "import_broken") == 0;
	if (!quiet)
		screen_print("%s: a trace of another profiler, %s\n", path, damaged ? "damaged" : "complete");
	model_close(m);
	return damaged ? EXIT_FAILED : EXIT_OK;
}

/* EXIT_OK: all rows can be read, and the file is finished or still being written. */
static int check_one(const char *path)
{
	struct trace t = TRACE_INIT;
	struct trace_error err = { 0 };
	size_t damaged;
	bool live;
	int rc;

	if (import_is_foreign(path))
		return check_foreign(path);
	if (trace_open(&t, path, input_flags(), &err) < 0) {
		if (!quiet)
			fail("%s", err.text);
		return EXIT_FAILED;
	}
	damaged = trace_check(&t);
	live = !t.finished && input_being_written(&t);
	if (!quiet)
		print_state(&t, path, live, damaged);
	rc = damaged || (!t.finished && !live) ? EXIT_FAILED : EXIT_OK;
	trace_close(&t);
	return rc;
}

static int run(int argc, char **argv)
{
	struct input in = { 0 };
	int rc = EXIT_OK;

	if (argc == 0) {
		rc = input_select(&in, argc, argv);
		return rc ? rc : check_one(in.path);
	}
	for (int i = 0; i < argc; i++)
		if (check_one(input_named(argv[i], in.found, sizeof in.found)) != EXIT_OK)
			rc = EXIT_FAILED;
	return rc;
}

const struct cmd cmd_check = {
	.name = "check",
	.args = "[TRACE...]",
	.help = "Check whether traces are complete, and list the damage",
	.more = "Exit status 0: every row can be read, and the file is finished or still being\n"
		"written.  For a Kineto file: the file is complete and is valid JSON.",
	.opts = opts,
	.run = run,
};
