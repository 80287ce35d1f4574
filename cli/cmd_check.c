/* gprof-trace check: is this file whole, and if not, what of it can be read? */
#include "cli/cmd.h"
#include "cli/fail.h"
#include "cli/options.h"
#include "trace/reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/import/import.h"
#include "cli/input.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"

static bool quiet;
static uint64_t max_errors = 10;

static const struct opt opts[] = {
	{ 'q', "quiet", NULL, opt_flag, &quiet, "print nothing, only set the exit code", NULL, 0 },
	{ 0, "max-errors", "N", opt_u64, &max_errors, "list N damaged places of a file (default 10)", NULL, 0 },
	{ 0 },
};

static void print_damage(const struct trace *t)
{
	for (size_t i = 0; i < t->n_damage && i < max_errors; i++)
		printf("  at byte %llu: %s\n", (unsigned long long)t->damage[i].offset, t->damage[i].text);
	if (t->n_damage > max_errors)
		printf("  and %zu more; --max-errors lists them\n", t->n_damage - (size_t)max_errors);
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
	printf("%s: %s, %zu chunks and %llu rows can be read", path,
	       damaged ? "damaged" : t->finished ? "whole" : live ? "whole, still being written" : "not finished",
	       whole, rows);
	if (damaged)
		printf(", %zu %s cannot", damaged, damaged == 1 ? "place" : "places");
	if (lost)
		printf(" (%llu rows at least)", lost);
	printf("\n");
	print_damage(t);
	if (!live && !t->finished)
		printf("  'gprof-trace recover %s' writes the index that it lacks\n", path);
}

/* A trace of another profiler: what is wrong in it is counted while it is read. */
static int check_foreign(const char *path)
{
	struct model *m = input_open(path);
	bool damaged = false;
	uint32_t n = 0;

	if (!m)
		return EXIT_FAILED;
	for (const struct process *p = model_processes(m, &n), *end = p + n; p < end; p++)
		for (size_t i = 0; i < p->n_health; i++)
			damaged |= strcmp(health_name(p->health[i].reason), "import_cut") == 0 ||
				   strcmp(health_name(p->health[i].reason), "import_broken") == 0;
	if (!quiet)
		printf("%s: a trace of another profiler, %s\n", path, damaged ? "damaged" : "whole");
	model_close(m);
	return damaged ? EXIT_FAILED : EXIT_OK;
}

/* EXIT_OK: every row ever written can be read. */
static int check_one(const char *path)
{
	struct trace t = TRACE_INIT;
	struct trace_error err = { 0 };
	size_t damaged;
	bool live;
	int rc;

	if (import_is_foreign(path))
		return check_foreign(path);
	if (trace_open(&t, path, 0, &err) < 0) {
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
	char found[PATH_MAX];
	const char *path;
	int rc = EXIT_OK;

	if (argc == 0) {
		path = input_path(argc, argv, found, sizeof found);
		return path ? check_one(path) : EXIT_FAILED;
	}
	for (int i = 0; i < argc; i++)
		if (check_one(input_named(argv[i], found, sizeof found)) != EXIT_OK)
			rc = EXIT_FAILED;
	return rc;
}

const struct cmd cmd_check = {
	.name = "check",
	.args = "[TRACE...]",
	.help = "Say whether traces are whole, and where the damage is",
	.more = "Exit code 0: every row can be read, and the file is finished or still being\nwritten.  Of a Kineto file: all of it is there, and is JSON.",
	.opts = opts,
	.run = run,
};
