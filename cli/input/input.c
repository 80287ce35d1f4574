#include "cli/input/input.h"

#include "cli/import/import.h"
#include "cli/model/model.h"
#include "cli/ui/fail.h"
#include "cli/ui/json_out.h"
#include "cli/ui/options.h"
#include "trace/error.h"
#include "trace/grow.h"
#include "trace/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".gtrace"
#define LINES_OF_DAMAGE 5

/* Whether a file is newer than the best one so far.  With equal times the later name wins, independent of readdir() order. */
static bool newer(const struct stat *st, const char *name, const struct stat *best, const char *best_name)
{
	if (!*best_name || st->st_mtim.tv_sec != best->st_mtim.tv_sec)
		return !*best_name || st->st_mtim.tv_sec > best->st_mtim.tv_sec;
	if (st->st_mtim.tv_nsec != best->st_mtim.tv_nsec)
		return st->st_mtim.tv_nsec > best->st_mtim.tv_nsec;
	return strcmp(name, best_name) > 0;
}

static const char *newest(char *buf, size_t size)
{
	struct stat best = { 0 }, st;
	DIR *here = opendir(".");
	struct dirent *e;

	*buf = '\0';
	if (!here) {
		fail_errno("cannot read the current folder");
		return NULL;
	}
	while ((e = readdir(here))) {
		size_t n = strlen(e->d_name);

		if (n <= sizeof SUFFIX - 1 || n >= size || strcmp(e->d_name + n - (sizeof SUFFIX - 1), SUFFIX) != 0)
			continue;
		if (stat(e->d_name, &st) < 0 || !S_ISREG(st.st_mode) || !newer(&st, e->d_name, &best, buf))
			continue;
		best = st;
		strcpy(buf, e->d_name);
	}
	closedir(here);
	if (!*buf) {
		fail("no *" SUFFIX " in the current folder; name a trace");
		hint("gprof-run -- PROGRAM writes a trace");
		return NULL;
	}
	note("reading '%s', the newest trace here", buf);
	return buf;
}

/* "-" is standard input; for a file with this name, use "./-". */
static const char *or_stdin(const char *name)
{
	return strcmp(name, "-") == 0 ? "/dev/stdin" : name;
}

const char *input_named(const char *name, char *buf, size_t size)
{
	struct stat st;

	name = or_stdin(name);
	if (stat(name, &st) < 0 && (size_t)snprintf(buf, size, "%s" SUFFIX, name) < size && stat(buf, &st) == 0 &&
	    S_ISREG(st.st_mode))
		return buf;
	return name;
}

/* ---- limits for traces that expand ---- */

static bool unlimited;

int input_unlimit(const struct opt *o, const char *value)
{
	return opt_flag(&(struct opt){ .name = o->name, .where = &unlimited }, value);
}

unsigned input_flags(void)
{
	return unlimited ? TRACE_ANY_SIZE : 0;
}

/*
 * Bytes that may be written for any trace, and bytes for each byte of the trace.  The number of rows is no limit: an export
 * repeats the name in each event, and the trace stores it once.
 */
#define WRITTEN_FREE  (1ull << 30)
#define WRITTEN_RATIO 10000u

uint64_t input_most_written(const struct model *m)
{
	uint64_t size = model_trace(m)->size;

	if (unlimited || size > UINT64_MAX / WRITTEN_RATIO)
		return 0;
	return size * WRITTEN_RATIO > WRITTEN_FREE ? size * WRITTEN_RATIO : WRITTEN_FREE;
}

int input_say_too_much(const struct model *m, const char *what)
{
	char most[32], size[32];

	return fail("cannot write '%s': it would be larger than %s, from a trace of %s; if you trust the trace, use --no-unpack-limit",
		    what, text_bytes(most, input_most_written(m)), text_bytes(size, model_trace(m)->size));
}

/* ---- traces of other profilers ---- */

#define MOST_FILES 4096u

static int add_file(struct input *in, const char *folder, const char *name)
{
	char *path;

	if (!GROW(in->files, in->n + 1, in->cap) ||
	    asprintf(&path, "%s%s%s", folder ? folder : "", folder ? "/" : "", name) < 0)
		return fail("out of memory");
	in->files[in->n++] = path;
	return 0;
}

static bool named_as_trace(const char *name)
{
	static const char *const ends[] = { ".json", ".json.gz", ".json.zst", ".gz", ".zst" };

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t n = strlen(name), end = strlen(ends[i]);

		if (n > end && strcmp(name + n - end, ends[i]) == 0)
			return *name != '.';
	}
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Removes files that are not traces from the list, from index `from` on, and names them in a note. */
static void leave_out(struct input *in, const char *folder, size_t from)
{
	char names[200];
	size_t kept = from, out = 0, at = 0;

	for (size_t i = from; i < in->n; i++) {
		if (import_may_be_trace(in->files[i])) {
			in->files[kept++] = in->files[i];
			continue;
		}
		if (out++ < 3 && at < sizeof names)
			at += (size_t)snprintf(names + at, sizeof names - at, "%s'%s'", at ? ", " : "",
					       in->files[i] + strlen(folder) + 1);
		free(in->files[i]);
	}
	in->n = kept;
	if (out > 3)
		note("files of '%s' left out, not a trace: %s and %zu more", folder, names, out - 3);
	else if (out)
		note("file%s of '%s' left out, not a trace: %s", out > 1 ? "s" : "", folder, names);
}

static int add_folder(struct input *in, const char *path)
{
	DIR *folder = opendir(path);
	size_t before = in->n;
	struct dirent *e;
	int rc = 0;

	if (!folder)
		return fail_errno("cannot read '%s'", path);
	while (rc == 0 && (e = readdir(folder)))
		if (named_as_trace(e->d_name))
			rc = in->n < MOST_FILES ? add_file(in, path, e->d_name) :
			     fail("folder '%s' has more than %u traces; name some of its files", path, MOST_FILES);
	closedir(folder);
	if (rc < 0)
		return -1;
	if (in->n > before) {
		qsort(in->files + before, in->n - before, sizeof *in->files, by_name);
		leave_out(in, path, before);
	}
	if (in->n == before)
		return fail("no trace in the folder '%s' (*.json, *.json.gz, *.json.zst); name a file", path);
	return 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void input_release(struct input *in)
{
	for (size_t i = 0; i < in->n; i++)
		free(in->files[i]);
	free(in->files);
	in->files = NULL;
	in->n = in->cap = 0;
}

int input_gather(struct input *in, int argc, char **argv)
{
	int rc = 0;

	in->path = argv[0];
	for (int i = 0; i < argc && rc == 0; i++)
		rc = is_folder(argv[i]) ? add_folder(in, argv[i]) : add_file(in, NULL, or_stdin(argv[i]));
	if (rc < 0)
		input_release(in);
	return rc;
}

void input_say_foreign(const struct import *im)
{
	for (size_t i = 0; i < im->n; i++)
		if (*im->files[i].trouble)
			note("'%s': %s", im->files[i].path, im->files[i].trouble);
}

/* Imports files into a trace in memory; model_close() frees it.  NULL after an error message. */
static struct model *import_model(const char *const *paths, size_t n, const char *name)
{
	struct import im = { .paths = paths, .n = n, .files = calloc(n, sizeof *im.files) };
	struct trace_error err = { 0 };
	struct model *m = NULL;
	struct trace t;

	if (!im.files) {
		trace_fail(&err, 0, "out of memory");
	} else if (import_rows(&im, name, &t, &err) == 0) {
		input_say_foreign(&im);
		for (size_t i = 0; i < n; i++)
			t.size += im.files[i].bytes;
		m = model_of(&t);
		if (!m)
			trace_fail(&err, 0, "out of memory");
	}
	if (!m && err.text[0])
		fail("%s", err.text);
	free(im.files);
	return m;
}

bool input_is_foreign(const struct input *in)
{
	return in->n || import_is_foreign(in->path);
}

struct model *input_open(struct input *in)
{
	struct trace_error err = { 0 };
	struct model *m;

	if (in->n) {
		m = import_model((const char *const *)in->files, in->n, in->n == 1 ? in->files[0] : in->path);
		input_release(in);
		return m;
	}
	if (import_is_foreign(in->path))
		return import_model(&in->path, 1, in->path);
	m = unlimited ? model_open_any_size(in->path, &err) : model_open(in->path, &err);
	if (!m)
		fail("%s", err.text);
	return m;
}

static bool all_foreign(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!is_folder(argv[i]) && !import_is_foreign(or_stdin(argv[i])))
			return false;
	return true;
}

static int select_one(struct input *in, int argc, char **argv)
{
	if (argc && (argc > 1 || is_folder(argv[0])) && all_foreign(argc, argv))
		return input_gather(in, argc, argv);
	for (int i = 0; argc > 1 && i < argc; i++)
		if (access(or_stdin(argv[i]), F_OK) < 0)
			return fail_errno("cannot open '%s'", argv[i]);
	if (argc > 1)
		return fail("this command reads one trace, but '%s' and '%s' were given", argv[0], argv[1]);
	in->path = argc ? input_named(argv[0], in->found, sizeof in->found) : newest(in->found, sizeof in->found);
	return in->path ? 0 : -1;
}

int input_select(struct input *in, int argc, char **argv)
{
	if (select_one(in, argc, argv) == 0)
		return EXIT_OK;
	return argc > 1 ? EXIT_USAGE : EXIT_FAILED;
}

/* The collector holds a lock on the file while it writes. */
bool input_being_written(const struct trace *t)
{
	if (flock(t->fd, LOCK_SH | LOCK_NB) == 0) {
		flock(t->fd, LOCK_UN);
		return false;
	}
	return true;
}

size_t input_say_damage(const struct model *m)
{
	const char *text;
	size_t n = 0;

	for (; (text = model_damage(m, n)); n++)
		if (n < LINES_OF_DAMAGE)
			fail("'%s' is damaged: %s cannot be read", model_path(m), text);
	if (n > LINES_OF_DAMAGE)
		hint("and %zu more places; 'gprof-trace check %s' lists them all", n - LINES_OF_DAMAGE, model_path(m));
	return n;
}
