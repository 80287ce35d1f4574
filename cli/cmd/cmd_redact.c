/* gprof-trace redact: copies a trace without private texts. */
#include "cli/cmd/redact.h"
#include "cli/input/input.h"
#include "cli/model/model.h"
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/new_file.h"
#include "cli/ui/options.h"
#include "cli/ui/screen.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *output;
static char *names, *keep;
static bool force, quiet;

static const struct opt opts[] = {
	{ 'o', "output", "FILE", opt_text, &output, "name of the redacted trace", NULL, 0 },
	{ 'n', "names", "GLOB[,GLOB]", opt_list, &names,
	  "also replace matching names of kernels, ranges, functions, modules, threads and programs, by kernel_1 and so on; "
	  "'*' matches all", NULL, 0 },
	{ 'k', "keep-names", "GLOB[,GLOB]", opt_list, &keep, "names to keep, although --names matches them", NULL, 0 },
	{ 'f', "force-overwrite", NULL, opt_flag, &force, "replace an existing file", NULL, OPT_WORD },
	{ 'q', "quiet", NULL, opt_flag, &quiet, "print nothing", NULL, 0 },
	INPUT_OPTIONS,
	{ 0 },
};

static int write_redacted(struct model *m, const char *path)
{
	struct trace_error err = { 0 };
	struct new_file made;

	if (new_file_open(&made, path, force) < 0)
		return -1;
	if (redact_write(m, made.fd, names, keep, &err) == 0)
		return new_file_keep(&made);
	new_file_drop(&made);
	return fail("cannot write '%s': %s", path, err.text);
}

static int run(int argc, char **argv)
{
	struct input in = { 0 };
	char path[PATH_MAX];
	size_t n = output ? strlen(output) : 0;
	struct model *m;
	int rc = input_select(&in, argc, argv);

	if (rc)
		return rc;
	if (!output)
		return fail("redact needs the name of the new trace: gprof-trace redact TRACE -o OUT.gtrace"), EXIT_USAGE;
	if (input_is_foreign(&in))
		return fail("'%s' is not a trace of gprof-run; convert it first with 'gprof-trace import'", in.path), EXIT_USAGE;
	if ((size_t)snprintf(path, sizeof path, "%s%s", output, n > 7 && strcmp(output + n - 7, ".gtrace") == 0 ? "" : ".gtrace") >=
	    sizeof path)
		return fail("the name of the trace is too long"), EXIT_USAGE;
	m = input_open(&in);
	if (!m)
		return EXIT_FAILED;
	rc = write_redacted(m, path);
	input_say_damage(m);
	model_close(m);
	if (rc == 0 && !quiet)
		screen_print("%s: host, paths, arguments, environment and sources are left out; names%s%s%s\n", path,
		       names ? " that match '" : " stay", names ? names : "", names ? "' are replaced" : "; --names=GLOB replaces names");
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}

const struct cmd cmd_redact = {
	.name = "redact",
	.args = "TRACE -o OUT",
	.help = "Copy a trace without host, paths, arguments, environment, sources",
	.more = "All numbers stay.  Names stay, unless --names selects them.  Names that CUDA,\n"
		"NCCL and PyTorch define (aten::mm, ncclAllReduce, ProfilerStep#3) always stay,\n"
		"because reports group by these names.  Resolve a trace before you redact it:\n"
		"'gprof-trace resolve' needs the paths, and a redacted trace has no paths.\n"
		"docs/reference/privacy.md lists what a trace contains.",
	.opts = opts,
	.run = run,
};
