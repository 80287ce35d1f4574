/* gprof-trace resolve: adds symbols and sources, so that the trace can be read where the recorded files are missing. */
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/input/input.h"
#include "cli/ui/options.h"
#include "cli/ui/screen.h"
#include "cli/cmd/resolve.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *symfs, *sources = "own";
static uint64_t time_limit;
static bool quiet, no_sources;

static const struct opt opts[] = {
	{ 0, "symfs", "DIR", opt_text, &symfs,
	  "search for all files only below DIR, a copy of / of the recorded machine", NULL, 0 },
	{ 0, "sources", "WHICH", opt_choice, &sources,
	  "Python source text to store: own files (default; without the standard library and packages), all, or none", "own all none", 0 },
	{ 0, "no-sources", NULL, opt_flag, &no_sources, "the same as --sources=none", NULL, 0 },
	{ 0, "time-limit", "SECONDS", opt_u64, &time_limit, "stop after SECONDS and keep what was found", NULL, 0 },
	{ 'q', "quiet", NULL, opt_flag, &quiet, "print nothing", NULL, 0 },
	INPUT_OPTIONS,
	{ 0 },
};

static int64_t deadline(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return time_limit ? (now.tv_sec + (int64_t)time_limit) * 1000000000 + now.tv_nsec : 0;
}

static enum sources which_sources(void)
{
	return no_sources || *sources == 'n' ? SOURCES_NONE : *sources == 'a' ? SOURCES_ALL : SOURCES_OWN;
}

static int resolve_one(const char *path)
{
	const struct resolve how = { symfs, deadline(), which_sources() };
	struct resolved r;

	if (resolve_trace(path, &how, &r) < 0)
		return EXIT_FAILED;
	if (quiet)
		return EXIT_OK;
	if (!r.addresses && !r.sources)
		screen_print("%s: there is nothing to resolve\n", path);
	else
		screen_print("%s: of %zu addresses %zu have a name and %zu a line; new: %zu addresses, %zu source files%s%s\n",
		       path, r.addresses, r.known, r.lined, r.added, r.sources,
		       r.sources ? " (gprof-trace info lists them)" : "",
		       r.late ? "; stopped at the time limit, 'gprof-trace resolve' continues" : "");
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	char found[PATH_MAX];
	struct stat st;
	int rc = EXIT_OK;

	if (!argc)
		return fail("resolve changes the trace, so it needs its name: gprof-trace resolve TRACE"), EXIT_USAGE;
	if (time_limit > 1000000)
		return fail("--time-limit needs seconds, at most a million"), EXIT_USAGE;
	if (symfs && (stat(symfs, &st) < 0 || !S_ISDIR(st.st_mode)))
		return fail("--symfs: no folder '%s'", symfs), EXIT_USAGE;
	for (int i = 0; i < argc; i++)
		if (resolve_one(input_named(argv[i], found, sizeof found)) != EXIT_OK)
			rc = EXIT_FAILED;
	return rc;
}

const struct cmd cmd_resolve = {
	.name = "resolve",
	.args = "TRACE...",
	.help = "Add functions, lines and Python sources of call stacks to traces",
	.more = "gprof-run resolves a trace when its session ends.  Run this command again after\n"
		"debug files were installed, or with a folder of them in --symfs: it adds names\n"
		"that were not found before.  A file is used if it has the build id of the file\n"
		"that ran.  Symbols come from the file, from DIR/usr/lib/debug/.build-id, and\n"
		"from the file's debug link.  Packed symbols of stripped files (.gnu_debugdata)\n"
		"need liblzma.so.5.  Lines and inlined functions need libdw.so.1 (elfutils).  The\n"
		"command uses no network.  Python sources are read on the recorded machine until\n"
		"its next boot; after that, and on other machines, only from --symfs DIR.",
	.opts = opts,
	.run = run,
};
