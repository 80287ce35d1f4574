#include "cli/cmd/resolve_sources.h"

#include <ctype.h>
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
#include "cli/model/stacks/stacks.h"
#include "cli/model/stacks/symbols.h"
#include "trace/reader.h"

struct source_reader {
	struct model *m;
	const char *symfs;
	void (*put)(void *arg, const char *name, const char *text, size_t n, uint32_t flags);
	void *arg;
	char *text;                     /* SOURCE_LARGEST bytes */
	size_t taken;                   /* bytes of all files so far */
};

/* Path of a source file on this machine.  False: not a file ("<string>", "<frozen os>"), or its folder is unknown. */
static bool path_here(const struct source_reader *r, uint32_t file, uint32_t process, char *path, size_t size)
{
	const char *name = model_string(r->m, file), *folder = "";
	uint32_t n;

	if (!*name || *name == '<')
		return false;
	/* Before CPython 3.9, the main script's path is relative, as on the command line. */
	if (*name != '/') {
		folder = process_attribute(&model_processes(r->m, &n)[process], "cwd");
		if (!folder || *folder != '/')
			return false;
	}
	return (size_t)snprintf(path, size, "%s%s%s%s", r->symfs ? r->symfs : "", folder, *folder ? "/" : "", name) <
	       size;
}

/* Whether the trace was recorded on this machine since its last boot.  A host name can be forged; the boot id is hard to guess. */
static bool ran_since_boot(struct model *m)
{
	const struct file_header *h = &model_trace(m)->header;
	uint8_t boot[sizeof h->boot_id] = { 0 };
	size_t digits = 0;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	for (int c; f && digits < 2 * sizeof boot && (c = fgetc(f)) != EOF;) {
		if (!isxdigit(c))
			continue;
		boot[digits / 2] |= (uint8_t)((isdigit(c) ? c - '0' : tolower(c) - 'a' + 10) << (digits % 2 ? 0 : 4));
		digits++;
	}
	if (f)
		fclose(f);
	return digits == 2 * sizeof boot && memcmp(boot, h->boot_id, sizeof boot) == 0 && model_ran_here(m);
}

/* Whether a file is Python: by its suffix, or by its "#!" line. */
static bool is_python(const char *path, int fd)
{
	static const char *const suffixes[] = { ".py", ".pyw", ".pyi", ".pyx", ".pxd", ".pxi" };
	char line[128] = "";
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t s = strlen(suffixes[i]);

		if (n > s && path[n - s - 1] != '/' && strcmp(path + n - s, suffixes[i]) == 0)
			return true;
	}
	if (pread(fd, line, sizeof line - 1, 0) < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[strcspn(line, "\n")] = '\0';
	return strstr(line, "python") != NULL;
}

static bool may_be_read(const char *path, int fd, const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == 0) && is_python(path, fd);
}

/* Flags of the source row; -1: the file was changed after the session, so it is not the text that ran. */
static int flags_of(const struct source_reader *r, const struct stat *st)
{
	int flags = st->st_size > SOURCE_LARGEST ? (int)SOURCE_CUT : 0;

	if (r->symfs)
		return flags;
	if (st->st_mtime > model_end(r->m) / 1000000000)
		return -1;
	return st->st_mtime > model_start(r->m) / 1000000000 ? flags | (int)SOURCE_CHANGED : flags;
}

static void read_one(struct source_reader *r, uint32_t file, uint32_t process)
{
	char path[PATH_MAX];
	struct stat st;
	size_t n = 0;
	ssize_t got;
	int fd, flags;

	if (!path_here(r, file, process, path, sizeof path))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && may_be_read(path, fd, &st) && (flags = flags_of(r, &st)) >= 0) {
		while (n < SOURCE_LARGEST && (got = read(fd, r->text + n, SOURCE_LARGEST - n)) > 0)
			n += (size_t)got;
		if (n && n <= SOURCES_LARGEST - r->taken) {
			r->taken += n;
			r->put(r->arg, model_string(r->m, file), r->text, n, (uint32_t)flags);
		}
	}
	close(fd);
}

/* Reads the files of packages, or all others.  0, or -1: out of memory. */
static int read_all(struct source_reader *r, bool packages, struct map *seen)
{
	size_t rows = model_rows(r->m, ROW_code), n;
	const uint32_t *file = MODEL_U32(r->m, code, file), *process = model_row_process(r->m, ROW_code);
	bool new;

	if (rows && (!file || !process))
		return -1;
	rows = model_rows(r->m, ROW_code);
	for (size_t i = 0; i < rows; i++) {
		if (file[i] & STRING_LOST || file_is_users(model_string(r->m, file[i])) == packages)
			continue;
		if (!map_put(seen, file[i], 0, &new))
			return -1;
		if (new && !model_source_line(r->m, file[i], 1, &n))
			read_one(r, file[i], process[i]);
	}
	return 0;
}

int sources_read(struct model *m, const char *symfs, bool packages,
		 void (*put)(void *arg, const char *name, const char *text, size_t n, uint32_t flags), void *arg)
{
	struct source_reader r = { .m = m, .symfs = symfs, .put = put, .arg = arg };
	struct map seen = { 0 };
	int rc = -1;

	if (!symfs && !ran_since_boot(m))
		return 0;
	r.text = malloc(SOURCE_LARGEST);
	if (r.text && read_all(&r, false, &seen) == 0)
		rc = packages ? read_all(&r, true, &seen) : 0;
	map_release(&seen);
	free(r.text);
	return rc;
}
