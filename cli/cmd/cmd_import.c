/* gprof-trace import: converts traces of other profilers to a .gtrace. */
#include "cli/import/import.h"
#include "cli/input/input.h"
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/new_file.h"
#include "cli/ui/options.h"
#include "cli/ui/screen.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *output;
static bool force, quiet;

static const struct opt opts[] = {
	{ 'o', "output", "FILE", opt_text, &output, "name of the new trace (default: NAME.gtrace for NAME.json.gz)", NULL,
	  0 },
	{ 'f', "force-overwrite", NULL, opt_flag, &force, "replace an existing file", NULL, 0 },
	{ 'q', "quiet", NULL, opt_flag, &quiet, "print only warnings", NULL, 0 },
	{ 0 },
};

/* Path of the new trace: from -o, else the name of the first file without folder and suffixes.  0, or -1: too long. */
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

static void print_summary(const struct import *im, const char *path)
{
	uint64_t events = 0, rows = 0, unpacked = 0;
	char json[64] = "";
	struct stat st;

	for (size_t i = 0; i < im->n; i++) {
		events += im->files[i].events;
		rows += im->files[i].rows;
		unpacked += im->files[i].unpacked;
	}
	if (unpacked)
		snprintf(json, sizeof json, " from %.1f MB of JSON", (double)unpacked / 1e6);
	screen_print("%s  (%.1f MB%s; %llu of %llu events became rows; names and flow arrows do not)\n", path,
		     stat(path, &st) == 0 ? (double)st.st_size / 1e6 : 0.0, json, (unsigned long long)rows, (unsigned long long)events);
}

static int write_trace(struct import *im, const char *path)
{
	struct trace_error err = { 0 };
	struct new_file made;

	if (new_file_open(&made, path, force) < 0)
		return -1;
	if (import_files(im, made.fd, &err) == 0)
		return new_file_keep(&made);
	new_file_drop(&made);
	return fail("%s", err.text);
}

static int run(int argc, char **argv)
{
	struct import im = { 0 };
	struct input in = { 0 };
	char path[PATH_MAX];
	int rc = -1;

	if (!argc)
		return fail("import needs files: gprof-trace import NAME.json.gz -o OUT.gtrace"), EXIT_USAGE;
	if (input_gather(&in, argc, argv) < 0)
		return EXIT_FAILED;
	im.paths = (const char *const *)in.files;
	im.n = in.n;
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
			print_summary(&im, path);
	}
	free(im.files);
	input_release(&in);
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}

const struct cmd cmd_import = {
	.name = "import",
	.args = "FILE...",
	.help = "Convert torch.profiler's JSON (Kineto) or nsys's SQLite to a trace",
	.more = "Kineto files can be .json, .json.gz or .json.zst.  For a .nsys-rep, first run\n"
		"'nsys export --type sqlite'; reading SQLite needs libsqlite3.  Several files are\n"
		"the ranks of one job and become one trace.  A folder stands for all Kineto files\n"
		"in it.  The other commands also read such files directly, without this step:\n"
		"  gprof-trace report NAME.pt.trace.json.gz",
	.opts = opts,
	.run = run,
};
