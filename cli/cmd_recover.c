/* gprof-trace recover: makes a damaged or unfinished trace a finished one again. */
#include "cli/cmd.h"
#include "cli/fail.h"
#include "cli/input.h"
#include "trace/reader.h"

#include <limits.h>
#include <stdio.h>

static int recover_one(const char *path)
{
	struct trace_error err = { 0 };
	long chunks = trace_recover(path, &err);

	if (chunks < 0) {
		fail("%s", err.text);
		return EXIT_FAILED;
	}
	printf("%s: %ld chunks are whole; header and index are rewritten\n", path, chunks);
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	char found[PATH_MAX];
	int rc = EXIT_OK;

	if (!argc)
		return fail("recover changes a file, so name it: gprof-trace recover TRACE"), EXIT_USAGE;
	for (int i = 0; i < argc; i++)
		if (recover_one(input_named(argv[i], found, sizeof found)) != EXIT_OK)
			rc = EXIT_FAILED;
	return rc;
}

const struct cmd cmd_recover = {
	.name = "recover",
	.args = "TRACE...",
	.help = "Rewrite header and index of a damaged or unfinished trace, in place",
	.more = "Damaged parts stay in the file; they are only left out of the index.\n"
		"'gprof-trace check' says what they were.",
	.run = run,
};
