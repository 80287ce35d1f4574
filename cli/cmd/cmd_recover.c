/* gprof-trace recover: rewrites header and index of a damaged or unfinished trace. */
#include "cli/input/input.h"
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/options.h"
#include "cli/ui/screen.h"
#include "trace/reader.h"

#include <limits.h>
#include <stdio.h>

static const struct opt opts[] = {
	INPUT_OPTIONS,
	{ 0 },
};

static int recover_one(const char *path)
{
	struct trace_error err = { 0 };
	long chunks = trace_recover(path, input_flags(), &err);

	if (chunks < 0) {
		fail("%s", err.text);
		return EXIT_FAILED;
	}
	screen_print("%s: header and index are rewritten; %ld chunks can be read\n", path, chunks);
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	char found[PATH_MAX];
	int rc = EXIT_OK;

	if (!argc)
		return fail("recover changes the trace, so it needs its name: gprof-trace recover TRACE"), EXIT_USAGE;
	for (int i = 0; i < argc; i++)
		if (recover_one(input_named(argv[i], found, sizeof found)) != EXIT_OK)
			rc = EXIT_FAILED;
	return rc;
}

const struct cmd cmd_recover = {
	.name = "recover",
	.args = "TRACE...",
	.help = "Repair a damaged or unfinished trace in place (header and index)",
	.more = "Damaged parts stay in the file, but the new index does not list them.\n"
		"'gprof-trace check' lists the damaged parts.",
	.opts = opts,
	.run = run,
};
