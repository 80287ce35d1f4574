/* gprof-trace resolve: a trace that can be read where the files that ran are not. */
#include "cli/cmd.h"
#include "cli/fail.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/resolve.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *symfs;
static uint64_t time_limit;
static bool quiet, no_sources;

static const struct opt opts[] = {
	{ 0, "symfs", "DIR", opt_text, &symfs,
	  "look for all files below DIR, as if it were / of the machine that ran; nowhere else", NULL, 0 },
	{ 0, "no-sources", NULL, opt_flag, &no_sources, "leave the text of Python files out", NULL, 0 },
	{ 0, "time-limit", "SECONDS", opt_u64, &time_limit, "end after that time, with what there is by then", NULL, 0 },
	{ 'q', "quiet", NULL, opt_flag, &quiet, "print nothing", NULL, 0 },
	{ 0 },
};

static int64_t deadline(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return time_limit ? (now.tv_sec + (int64_t)time_limit) * 1000000000 + now.tv_nsec : 0;
}

static int resolve_one(const char *path)
{
	const struct resolve how = { symfs, deadline(), !no_sources };
	struct resolved r;

	if (resolve_trace(path, &how, &r) < 0)
		return EXIT_FAILED;
	if (quiet)
		return EXIT_OK;
	if (!r.addresses && !r.sources)
		printf("%s: there is nothing to resolve\n", path);
	else
		printf("%s: of %zu addresses %zu have a name and %zu a line; new: %zu addresses, %zu source files%s\n",
		       path, r.addresses, r.known, r.lined, r.added, r.sources,
		       r.late ? "; the time was up, 'gprof-trace resolve' goes on" : "");
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	char found[PATH_MAX];
	struct stat st;
	int rc = EXIT_OK;

	if (!argc)
		return fail("resolve changes a file, so name it: gprof-trace resolve TRACE"), EXIT_USAGE;
	if (time_limit > 1000000)
		return fail("--time-limit is seconds, up to a million"), EXIT_USAGE;
	if (symfs && (stat(symfs, &st) < 0 || !S_ISDIR(st.st_mode)))
		return fail("--symfs: there is no folder '%s'", symfs), EXIT_USAGE;
	for (int i = 0; i < argc; i++)
		if (resolve_one(input_named(argv[i], found, sizeof found)) != EXIT_OK)
			rc = EXIT_FAILED;
	return rc;
}

const struct cmd cmd_resolve = {
	.name = "resolve",
	.args = "TRACE...",
	.help = "Write functions, lines and Python sources of call stacks into traces",
	.more = "gprof-run does this when a session ends.  Again, it adds what was not found\n"
		"before: with debug files installed since, or a folder of them in --symfs.\n"
		"A file counts when its build id is that of the one that ran.  Symbols are those\n"
		"of the file, of DIR/usr/lib/debug/.build-id, and of the file that its debug\n"
		"link names; packed symbols of stripped files (.gnu_debugdata) need liblzma.so.5,\n"
		"lines and inlined functions libdw.so.1 (elfutils).  Nothing is fetched over a\n"
		"network.",
	.opts = opts,
	.run = run,
};
