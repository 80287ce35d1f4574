#include "cli/symbols/find.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "trace/file.h"

#define DEBUG_ROOT "/usr/lib/debug"

static bool same_id(const struct elf *e, const uint8_t *id, size_t n)
{
	size_t n_own = 0;
	const uint8_t *own = elf_build_id(e, &n_own);

	return own && n_own == n && memcmp(own, id, n) == 0;
}

/* Whether the file is the mapped one: by build id; without build id by path, if it has not been changed since. */
static bool is_it(const struct wanted *w, const struct elf *e)
{
	if (w->n_id)
		return same_id(e, w->id, w->n_id);
	return w->trusted && (*w->symfs || !w->when || e->changed <= w->when);
}

int find_module(const struct wanted *w, struct elf *out)
{
	char path[PATH_MAX];

	if (strcmp(w->path, "[vdso]") == 0 || strncmp(w->path, "linux-vdso", 10) == 0) {
		if (elf_vdso(out) == 0 && w->n_id && same_id(out, w->id, w->n_id))
			return 0;
		elf_close(out);
		return -1;
	}
	if (*w->path != '/' || snprintf(path, sizeof path, "%s%s", w->symfs, w->path) >= (int)sizeof path ||
	    elf_open(out, path) < 0)
		return -1;
	if (is_it(w, out))
		return 0;
	elf_close(out);
	return -1;
}

static int by_id(const struct wanted *w, const char *root, struct elf *out)
{
	char path[PATH_MAX], hex[2 * 64 + 1];

	if (w->n_id < 2 || w->n_id > 64)
		return -1;
	for (size_t i = 0; i < w->n_id; i++)
		snprintf(hex + 2 * i, 3, "%02x", w->id[i]);
	if (snprintf(path, sizeof path, "%s%s/.build-id/%.2s/%s.debug", w->symfs, root, hex, hex + 2) >=
		    (int)sizeof path || elf_open(out, path) < 0)
		return -1;
	if (same_id(out, w->id, w->n_id))
		return 0;
	elf_close(out);
	return -1;
}

/* Opens a debug file named by the module, if it has the module's build id or, without one, the checksum in the module. */
static int linked(const struct wanted *w, const char *path, uint32_t crc, struct elf *out)
{
	if (elf_open(out, path) < 0)
		return -1;
	if (w->n_id ? same_id(out, w->id, w->n_id) : crc32_of(0, out->map, out->size) == crc)
		return 0;
	elf_close(out);
	return -1;
}

static int by_link(const struct wanted *w, const struct elf *module, struct elf *out)
{
	/* In the module's folder, in its .debug folder, and under DEBUG_ROOT. */
	static const struct { const char *root, *in; } places[] = { { "", "/" }, { "", "/.debug/" }, { DEBUG_ROOT, "/" } };
	const char *slash = strrchr(w->path, '/'), *name;
	char path[PATH_MAX];
	uint32_t crc;

	name = module->map ? elf_debug_link(module, &crc) : NULL;
	if (!name || !slash)
		return -1;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (snprintf(path, sizeof path, "%s%s%.*s%s%s", w->symfs, places[i].root, (int)(slash - w->path),
			     w->path, places[i].in, name) < (int)sizeof path && linked(w, path, crc, out) == 0)
			return 0;
	return -1;
}

int find_symbols(const struct wanted *w, const struct elf *module, struct elf *out)
{
	*out = (struct elf)ELF_INIT;
	if (by_id(w, DEBUG_ROOT, out) == 0 || by_link(w, module, out) == 0)
		return 0;
	/* symfs may itself be a folder of debug files, with .build-id directly below it. */
	return *w->symfs ? by_id(w, "", out) : -1;
}
