/* The environment of the program: ours, what the user asked for, and the doors through which our object comes in. */
#include "cli/fail.h"
#include "cli/run.h"
#include "trace/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(void)
{
	return fail("out of memory");
}

int env_copy(struct env *e, char *const *from)
{
	size_t n = 0;

	while (from && from[n])
		n++;
	*e = (struct env){ .vars = calloc(n + 1, sizeof *e->vars) };
	if (!e->vars)
		return out_of_memory();
	for (; e->n < n; e->n++)
		if (!(e->vars[e->n] = strdup(from[e->n])))
			return out_of_memory();
	return 0;
}

static char **find(const struct env *e, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < e->n; i++)
		if (strncmp(e->vars[i], name, len) == 0 && e->vars[i][len] == '=')
			return &e->vars[i];
	return NULL;
}

const char *env_get(const struct env *e, const char *name)
{
	char **v = find(e, name);

	return v ? *v + strlen(name) + 1 : NULL;
}

int env_set(struct env *e, const char *name, const char *value)
{
	char **old = find(e, name), **grown, *var;

	if (asprintf(&var, "%s=%s", name, value) < 0)
		return out_of_memory();
	if (old) {
		free(*old);
		*old = var;
		return 0;
	}
	grown = realloc(e->vars, (e->n + 2) * sizeof *grown);
	if (!grown) {
		free(var);
		return out_of_memory();
	}
	e->vars = grown;
	e->vars[e->n++] = var;
	e->vars[e->n] = NULL;
	return 0;
}

void env_unset(struct env *e, const char *name)
{
	char **v = find(e, name);

	if (!v)
		return;
	free(*v);
	memmove(v, v + 1, (size_t)(e->vars + e->n - v) * sizeof *v);    /* with the NULL */
	e->n--;
}

void env_release(struct env *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->vars[i]);
	free(e->vars);
	*e = (struct env){ 0 };
}

/* "A=B" and, behind it, pieces without '=' that belong to the value. */
static int set_variables(struct env *e, char *list)
{
	while (*list) {
		char *end = list, *equals = strchr(list, '=');

		do {
			end += *end == ',' && end > list;
			end += strcspn(end, ",");
		} while (*end && strcspn(end + 1, "=") >= strcspn(end + 1, ","));
		char *next = *end ? end + 1 : end;

		*end = '\0';
		*equals = '\0';
		if (env_set(e, list, equals + 1) < 0)
			return -1;
		list = next;
	}
	return 0;
}

int env_of_request(struct env *e, const struct request *r, char *const *ours)
{
	char *list = r->variables ? strdup(r->variables) : NULL;
	int rc = -1;

	if (r->variables && !list)
		return out_of_memory();
	if (env_copy(e, r->inherit ? ours : NULL) < 0)
		goto out;
	if (list && set_variables(e, list) < 0)
		goto out;
	rc = 0;
out:
	free(list);
	return rc;
}

/* ---- doors ---- */

/* Our object, of this or another build, as an outer session put it there: two in one process would record everything twice. */
static bool is_ours(const char *path, size_t len)
{
	static const char *const names[] = { "/libgprof_inject.so", "/inject" };        /* the second one is a link in a session's folder */

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);

		if (len >= n && strncmp(path + len - n, names[i], n) == 0 &&
		    (i == 0 || memmem(path, len, "/gprof-", 7)))
			return true;
	}
	return false;
}

/* The entries of a LD_PRELOAD list that are not ours, with colons between them. */
static void foreign_entries(char *out, const char *list)
{
	*out = '\0';
	while (*(list += strspn(list, ": "))) {
		size_t n = strcspn(list, ": ");

		if (!is_ours(list, n))
			strncat(strcat(out, *out ? ":" : ""), list, n);
		list += n;
	}
}

/* Ours in front of what was there; behind it where that is a sanitizer, which refuses to run unless it is the first. */
static int set_preload(struct env *e, const char *inject)
{
	const char *old = env_get(e, "LD_PRELOAD");
	char *others = malloc((old ? strlen(old) : 0) + 1), *list = NULL;
	int rc = -1;

	if (!others)
		return out_of_memory();
	foreign_entries(others, old ? old : "");
	bool behind = strstr(others, "libasan") || strstr(others, "libtsan");

	if (asprintf(&list, "%s%s%s", behind ? others : inject, *others ? ":" : "", behind ? inject : others) < 0) {
		list = NULL;
		out_of_memory();
		goto out;
	}
	rc = env_set(e, "LD_PRELOAD", list);
out:
	free(list);
	free(others);
	return rc;
}

/* The driver and NVTX take one path each: a foreign one moves to a variable of ours, and our object goes on to it. */
static int set_injection(struct env *e, const char *name, const char *next, const char *inject)
{
	const char *old = env_get(e, name);

	if (old && *old && !is_ours(old, strlen(old)) && env_set(e, next, old) < 0)
		return -1;
	return env_set(e, name, inject);
}

/* A foreign one stays; ours is of an outer session. */
static void unset_injection(struct env *e, const char *name)
{
	const char *old = env_get(e, name);

	if (old && is_ours(old, strlen(old)))
		env_unset(e, name);
}

int env_open_doors(struct env *e, const char *session, const char *inject, bool preload, bool nvtx)
{
	if (env_set(e, WIRE_ENV, session) < 0)
		return -1;
	if (!inject)
		return 0;
	if (preload && set_preload(e, inject) < 0)
		return -1;
	if (set_injection(e, "CUDA_INJECTION64_PATH", "GPROF_NEXT_CUDA_INJECTION", inject) < 0)
		return -1;
	if (nvtx)
		return set_injection(e, "NVTX_INJECTION64_PATH", "GPROF_NEXT_NVTX_INJECTION", inject);
	unset_injection(e, "NVTX_INJECTION64_PATH");
	return 0;
}
