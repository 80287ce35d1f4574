#include "cli/resolve_sources.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/stacks.h"
#include "cli/model/symbols.h"

struct reading {
	struct model *m;
	const char *symfs;
	void (*put)(void *arg, const char *name, const char *text, size_t n, uint32_t flags);
	void *arg;
	char *text;                     /* SOURCE_LARGEST bytes */
	size_t taken;
};

/* Where a file is here.  False: it is none ("<string>", "<frozen os>"), or there is no telling. */
static bool path_here(const struct reading *r, uint32_t file, uint32_t process, char *path, size_t size)
{
	const char *name = model_string(r->m, file), *folder = "";
	uint32_t n;

	if (!*name || *name == '<')
		return false;
	/* Before CPython 3.9 the script itself is named as on the command line. */
	if (*name != '/') {
		folder = process_attribute(&model_processes(r->m, &n)[process], "cwd");
		if (!folder || *folder != '/')
			return false;
	}
	return (size_t)snprintf(path, size, "%s%s%s%s", r->symfs ? r->symfs : "", folder, *folder ? "/" : "", name) <
	       size;
}

/* Is it the text that ran?  A file that was changed after the session is not. */
static int flags_of(const struct reading *r, const struct stat *st)
{
	int flags = st->st_size > SOURCE_LARGEST ? (int)SOURCE_CUT : 0;

	if (r->symfs)
		return flags;
	if (st->st_mtime > model_end(r->m) / 1000000000)
		return -1;
	return st->st_mtime > model_start(r->m) / 1000000000 ? flags | (int)SOURCE_CHANGED : flags;
}

static void read_one(struct reading *r, uint32_t file, uint32_t process)
{
	char path[PATH_MAX];
	struct stat st;
	size_t n = 0;
	ssize_t got;
	int fd, flags;

	if (!path_here(r, file, process, path, sizeof path))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (flags = flags_of(r, &st)) >= 0) {
		while (n < SOURCE_LARGEST && (got = read(fd, r->text + n, SOURCE_LARGEST - n)) > 0)
			n += (size_t)got;
		if (n && n <= SOURCES_ALL - r->taken) {
			r->taken += n;
			r->put(r->arg, model_string(r->m, file), r->text, n, (uint32_t)flags);
		}
	}
	close(fd);
}

/* The standard library, and what was installed. */
static bool of_packages(const char *path)
{
	return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/") || strstr(path, "/lib/python");
}

/* packages: those, else the others.  -1: out of memory. */
static int read_all(struct reading *r, bool packages, struct map *seen)
{
	size_t rows = model_rows(r->m, ROW_code), n;
	const uint32_t *file = MODEL_U32(r->m, code, file), *process = model_row_process(r->m, ROW_code);
	bool new;

	if (rows && (!file || !process))
		return -1;
	rows = model_rows(r->m, ROW_code);
	for (size_t i = 0; i < rows; i++) {
		if (file[i] & STRING_LOST || of_packages(model_string(r->m, file[i])) != packages)
			continue;
		if (!map_put(seen, file[i], 0, &new))
			return -1;
		if (new && !model_source_line(r->m, file[i], 1, &n))
			read_one(r, file[i], process[i]);
	}
	return 0;
}

int sources_read(struct model *m, const char *symfs,
		 void (*put)(void *arg, const char *name, const char *text, size_t n, uint32_t flags), void *arg)
{
	struct reading r = { .m = m, .symfs = symfs, .put = put, .arg = arg };
	struct map seen = { 0 };
	int rc = -1;

	if (!symfs && !model_ran_here(m))
		return 0;
	r.text = malloc(SOURCE_LARGEST);
	if (r.text && read_all(&r, false, &seen) == 0)
		rc = read_all(&r, true, &seen);
	map_release(&seen);
	free(r.text);
	return rc;
}
