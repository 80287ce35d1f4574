#include "cli/input.h"

#include "cli/fail.h"
#include "cli/model/model.h"
#include "trace/error.h"
#include "trace/reader.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define SUFFIX ".gtrace"
#define LINES_OF_DAMAGE 5

/* Newer wins; of two of the same moment the later name, so that the answer does not depend on the order of the
 * folder. */
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
		fail("there is no *" SUFFIX " in the current folder; name a trace");
		hint("gprof-run -- PROGRAM writes one");
		return NULL;
	}
	note("reading '%s', the newest trace here", buf);
	return buf;
}

const char *input_named(const char *name, char *buf, size_t size)
{
	struct stat st;

	if (stat(name, &st) < 0 && (size_t)snprintf(buf, size, "%s" SUFFIX, name) < size && stat(buf, &st) == 0 &&
	    S_ISREG(st.st_mode))
		return buf;
	return name;
}

const char *input_path(int argc, char **argv, char *buf, size_t size)
{
	if (argc > 1) {
		fail("one trace at a time, not '%s' and '%s'", argv[0], argv[1]);
		return NULL;
	}
	return argc ? input_named(argv[0], buf, size) : newest(buf, size);
}

struct model *input_open(const char *path)
{
	struct trace_error err = { 0 };
	struct model *m = model_open(path, &err);

	if (!m)
		fail("%s", err.text);
	return m;
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
