/*
 * Finds the libcupti that the program's Python will load.  PyTorch's wheels bring one; the injected object must open the
 * same copy, because two copies in a process are two independent CUPTIs.  Only files are read: starting Python would take
 * 20 ms and run user code.
 */
#include "cli/run/run.h"
#include "trace/path.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PLACES 32

/* Folders of this Python's packages, in the order of sys.path, as patterns for glob(). */
struct search_paths {
	char *glob[MAX_PLACES];
	size_t n;
};

/* Escapes a path for glob(). */
static void escape(char *out, size_t size, const char *path)
{
	size_t n = 0;

	for (; *path && n + 2 < size; path++) {
		if (strchr("*?[\\", *path))
			out[n++] = '\\';
		out[n++] = *path;
	}
	out[n] = '\0';
}

static void add_place(struct search_paths *p, const char *folder, const char *pattern)
{
	char plain[PATH_MAX];

	escape(plain, sizeof plain, folder);
	if (p->n < MAX_PLACES && asprintf(&p->glob[p->n], "%s%s", plain, pattern) >= 0)
		p->n++;
}

/* The prefix of an installation: "/a" for "/a/bin/python3". */
static void prefix_of(char *out, size_t size, const char *program)
{
	snprintf(out, size, "%s", program);
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(out, '/');

		if (slash)
			*slash = '\0';
	}
}

/* Reads a value from a file of lines "key = value", or Python's "key: type = 'value'".  False: no such key. */
static bool read_key(const char *path, const char *key, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t len = strlen(key);
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f)) {
		char *value = strchr(line, '=');

		if (!value || strncmp(line, key, len) != 0 || !strchr(" :=", line[len]))
			continue;
		value += 1 + strspn(value + 1, " '\"");
		value[strcspn(value, "'\"\r\n")] = '\0';
		snprintf(out, size, "%s", value);
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

/* ---- folders of packages ---- */

/* "python3.11" if /usr/bin/python3 is a link to python3.11; "python3*" if the file's name has no version. */
static void version_pattern(char *out, size_t size, const char *program)
{
	char *real = realpath(program, NULL), *base = real ? strrchr(real, '/') : NULL;
	unsigned major, minor;

	if (base && sscanf(base, "/python%u.%u", &major, &minor) == 2)
		snprintf(out, size, "python%u.%u", major, minor);
	else
		snprintf(out, size, "python3*");
	free(real);
}

static void add_prefix(struct search_paths *p, const char *prefix, const char *version)
{
	char pattern[128];

	snprintf(pattern, sizeof pattern, "/lib/%s/site-packages", version);
	add_place(p, prefix, pattern);
	snprintf(pattern, sizeof pattern, "/lib64/%s/site-packages", version);
	add_place(p, prefix, pattern);
}

static void add_system(struct search_paths *p, const char *program, const char *version)
{
	char *real = realpath(program, NULL), prefix[PATH_MAX], pattern[128];

	snprintf(pattern, sizeof pattern, "/lib/%s/dist-packages", version);
	add_place(p, "/usr/local", pattern);
	if (real) {
		prefix_of(prefix, sizeof prefix, real);
		add_prefix(p, prefix, version);
	}
	prefix_of(prefix, sizeof prefix, program);
	add_prefix(p, prefix, version);
	add_place(p, "/usr/lib/python3", "/dist-packages");
	free(real);
}

static void add_user(struct search_paths *p, const struct env *e, const char *version)
{
	const char *base = env_get(e, "PYTHONUSERBASE"), *home = env_get(e, "HOME"),
		   *off = env_get(e, "PYTHONNOUSERSITE");
	char pattern[128];

	if (off && *off)
		return;
	snprintf(pattern, sizeof pattern, "%s/lib/%s/site-packages", base ? "" : "/.local", version);
	if (base || home)
		add_place(p, base ? base : home, pattern);
}

static void add_pythonpath(struct search_paths *p, const struct env *e)
{
	const char *list = env_get(e, "PYTHONPATH");
	char folder[PATH_MAX];

	while (list && *list) {
		int n = (int)strcspn(list, ":");

		if (n && snprintf(folder, sizeof folder, "%.*s", n, list) < (int)sizeof folder)
			add_place(p, folder, "");
		list += n + (list[n] == ':');
	}
}

static void find_places(struct search_paths *p, const char *program, const struct env *e)
{
	char prefix[PATH_MAX], config[PATH_MAX + 16], version[32], value[64] = "";

	version_pattern(version, sizeof version, program);
	add_pythonpath(p, e);
	prefix_of(prefix, sizeof prefix, program);
	if (path_join(config, sizeof config, prefix, "pyvenv.cfg") == 0 && access(config, R_OK) == 0) {
		add_prefix(p, prefix, version);
		if (!read_key(config, "include-system-site-packages", value, sizeof value) ||
		    strcmp(value, "true") != 0)
			return;
	}
	add_user(p, e, version);
	add_system(p, program, version);
}

/* ---- the interpreter ---- */

static bool is_python(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return strncmp(base, "python", 6) == 0 && (!base[6] || isdigit((unsigned char)base[6]));
}

/* Reads the first word of a file.  False: none. */
static bool first_word(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(out, (int)size, f);

	if (f)
		fclose(f);
	if (ok)
		out[strcspn(out, " \t\r\n:")] = '\0';
	return ok && *out;
}

/* Replaces a shell script of pyenv, ROOT/shims/python3, by the Python it runs, ROOT/versions/VERSION/bin/python3. */
static void see_through_pyenv(char *program, size_t size, const struct env *e)
{
	char *shims = strstr(program, "/shims/"), version[64], file[PATH_MAX + 64], real[2 * PATH_MAX];
	const char *told = env_get(e, "PYENV_VERSION");
	int root = (int)(shims ? shims - program : 0);

	if (!shims)
		return;
	snprintf(version, sizeof version, "%.*s", told ? (int)strcspn(told, ":") : 0, told ? told : "");
	snprintf(file, sizeof file, "%.*s/version", root, program);
	if (!*version && !first_word(".python-version", version, sizeof version) &&
	    !first_word(file, version, sizeof version))
		return;
	if (snprintf(real, sizeof real, "%.*s/versions/%s/bin/%s", root, program, version, shims + 7) < (int)size &&
	    access(real, X_OK) == 0)
		strcpy(program, real);
}

/* The program's Python: the program, its interpreter, or the Python in PATH, which a shell script most likely runs. */
static bool find_python(const struct target *t, const struct env *e, char *out, size_t size)
{
	const char *path = env_get(e, "PATH");

	if (is_python(t->path))
		snprintf(out, size, "%s", t->path);
	else if (is_python(t->image))
		snprintf(out, size, "%s", t->image);
	else if (!path || (path_search("python3", path, out, size) < 0 && path_search("python", path, out, size) < 0))
		return false;
	see_through_pyenv(out, size, e);
	return true;
}

/* ---- the library ---- */

/* 13 for "libcupti.so.13", 11 for "libcupti.so.11.8"; 0 for other files and for link targets (libcupti.so.2025.3.1). */
static unsigned major_of(const char *path)
{
	const char *number = strstr(path, "libcupti.so.");
	unsigned major;

	number = number ? number + strlen("libcupti.so.") : "";
	major = number[strspn(number, "0123456789.")] ? 0 : (unsigned)atoi(number);
	return major < 1000 ? major : 0;
}

/* The best match of a pattern: with the major version `wanted`, else the newest.  Returns its version; 0: no match. */
static unsigned best_match(const char *folder, const char *rest, unsigned wanted, char *out, size_t size)
{
	unsigned best = 0;
	char *pattern;
	glob_t g = { 0 };

	if (asprintf(&pattern, "%s%s", folder, rest) < 0)
		return 0;
	if (glob(pattern, 0, NULL, &g) != 0)
		g.gl_pathc = 0;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		unsigned v = major_of(g.gl_pathv[i]);

		if (v == 0 || v == best || best == (wanted ? wanted : UINT_MAX) || (v != wanted && v < best))
			continue;
		if (access(g.gl_pathv[i], R_OK) == 0 && strlen(g.gl_pathv[i]) < size) {
			strcpy(out, g.gl_pathv[i]);
			best = v;
		}
	}
	globfree(&g);
	free(pattern);
	return best;
}

bool cupti_in_folder(const char *folder, char *out, size_t size)
{
	char plain[PATH_MAX];

	escape(plain, sizeof plain, folder);
	return best_match(plain, "/libcupti.so.*", 0, out, size);
}

/* Major version of the CUDA that the installed PyTorch was built with (version.py: cuda: Optional[str] = '12.8'); 0: unknown. */
static unsigned torch_cuda(const struct search_paths *p)
{
	char *pattern, value[64] = "";

	for (size_t i = 0; i < p->n && !*value; i++) {
		glob_t g = { 0 };

		if (asprintf(&pattern, "%s/torch/version.py", p->glob[i]) < 0)
			return 0;
		if (glob(pattern, 0, NULL, &g) == 0)
			read_key(g.gl_pathv[0], "cuda", value, sizeof value);
		globfree(&g);
		free(pattern);
	}
	return (unsigned)atoi(value);
}

void cupti_hint(const struct target *t, const struct request *r, const struct env *e, char *out, size_t size)
{
	const char *conda = env_get(e, "CONDA_PREFIX");
	char python[PATH_MAX], found[PATH_MAX], prefix[PATH_MAX] = "";
	struct search_paths p = { .n = 0 };
	unsigned wanted, version;

	out[0] = '\0';
	if (*r->config.cupti_lib || !r->config.trace_cuda || size > sizeof found)
		return;
	if (find_python(t, e, python, sizeof python)) {
		find_places(&p, python, e);
		prefix_of(prefix, sizeof prefix, python);
	}
	wanted = torch_cuda(&p);
	for (size_t i = 0; i < p.n; i++) {
		version = best_match(p.glob[i], "/nvidia/*/lib/libcupti.so.*", wanted, found, size);
		if (version && (!*out || version == wanted))
			strcpy(out, found);
		if (version && version == wanted)
			break;
	}
	for (size_t i = 0; i < p.n; i++)
		free(p.glob[i]);
	p.n = 0;
	if (!*out && conda)
		add_place(&p, conda, "/lib/libcupti.so.*");
	if (!*out && is_python(t->image))
		add_place(&p, prefix, "/lib/libcupti.so.*");
	for (size_t i = 0; i < p.n; i++) {
		if (!*out && best_match(p.glob[i], "", wanted, found, size))
			strcpy(out, found);
		free(p.glob[i]);
	}
}
