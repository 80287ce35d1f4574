/* gprof-trace import: traces of other profilers as a trace of ours. */
#include "cli/cmd.h"
#include "cli/fail.h"
#include "cli/import/import.h"
#include "cli/input.h"
#include "cli/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *output;
static bool force, quiet;

static const struct opt opts[] = {
	{ 'o', "output", "FILE", opt_text, &output, "name of the trace; NAME.gtrace of NAME.json.gz where this is not given", NULL,
	  0 },
	{ 'f', "force-overwrite", NULL, opt_flag, &force, "replace a file of that name", NULL, 0 },
	{ 'q', "quiet", NULL, opt_flag, &quiet, "print only what was not understood", NULL, 0 },
	{ 0 },
};

/* The last part of the first file's name, without what says its format. */
static int name_output(const char *first, char *path, size_t size)
{
	static const char *const ends[] = { ".gz", ".zst", ".json", ".trace", ".pt", ".sqlite" };
	const char *slash = strrchr(first, '/'), *name = slash ? slash + 1 : first;
	size_t n;

	if (output) {
		n = strlen(output);
		return (size_t)snprintf(path, size, "%s%s", output,
					n > 7 && strcmp(output + n - 7, ".gtrace") == 0 ? "" : ".gtrace") < size ? 0 : -1;
	}
	n = strlen(name);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t end = strlen(ends[i]);

		if (n > end && strncmp(name + n - end, ends[i], end) == 0)
			n -= end;
	}
	return (size_t)snprintf(path, size, "%.*s.gtrace", (int)n, name) < size ? 0 : -1;
}

static void say(const struct import *im, const char *path)
{
	uint64_t events = 0, rows = 0, unpacked = 0;
	struct stat st;

	for (size_t i = 0; i < im->n; i++) {
		events += im->files[i].events;
		rows += im->files[i].rows;
		unpacked += im->files[i].unpacked;
	}
	printf("%s  (%.1f MB; %llu of %llu events are rows, the rest are names and arrows; %.1f MB of JSON)\n", path,
	       stat(path, &st) == 0 ? (double)st.st_size / 1e6 : 0.0, (unsigned long long)rows, (unsigned long long)events,
	       (double)unpacked / 1e6);
}

/* Written beside, and renamed when it is whole. */
static int write_trace(struct import *im, const char *path)
{
	struct trace_error err = { 0 };
	char part[PATH_MAX + 8];
	int fd, rc;

	if (!force && access(path, F_OK) == 0)
		return fail("'%s' is there already; -f replaces it", path);
	snprintf(part, sizeof part, "%s.part", path);
	fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail_errno("cannot write '%s'", path);
	rc = import_files(im, fd, &err);
	if (rc < 0)
		fail("%s", err.text);
	else if (rename(part, path) < 0)
		rc = fail_errno("cannot rename '%s' to '%s'", part, path);
	if (rc < 0)
		unlink(part);
	return rc;
}

static int run(int argc, char **argv)
{
	struct import im = { 0 };
	char path[PATH_MAX];
	int rc = -1;

	if (!argc)
		return fail("import needs files: gprof-trace import NAME.json.gz -o OUT.gtrace"), EXIT_USAGE;
	if (input_gather(argc, argv, &im.paths, &im.n) < 0)
		return EXIT_FAILED;
	im.files = calloc(im.n, sizeof *im.files);
	if (!im.files)
		fail("out of memory");
	else if (name_output(im.paths[0], path, sizeof path) < 0)
		fail("the name of the trace is too long");
	else
		rc = write_trace(&im, path);
	if (rc == 0) {
		input_say_foreign(&im);
		if (!quiet)
			say(&im, path);
	}
	free(im.files);
	input_forget();
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}

const struct cmd cmd_import = {
	.name = "import",
	.args = "FILE...",
	.help = "Make a trace of torch.profiler's JSON (Kineto) or nsys's SQLite",
	.more = "Kineto's JSON may be plain, .gz or .zst; of a .nsys-rep, 'nsys export --type\n"
		"sqlite' makes what is read here, with libsqlite3.  Several files are ranks of one\n"
		"job and become one trace; a folder stands for the *.json, *.json.gz and\n"
		"*.json.zst in it.  The other commands take such files, too, and read them anew\n"
		"each time: gprof-trace report NAME.pt.trace.json.gz",
	.opts = opts,
	.run = run,
};
