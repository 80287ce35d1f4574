/* The environment of the program: gprof-run's, the user's -n and -e, and the variables that load the injected object. */
#include "cli/run/run.h"
#include "cli/ui/fail.h"
#include "trace/grow.h"
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
	*e = (struct env){ .vars = calloc(n + 1, sizeof *e->vars), .cap = n + 1 };
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
	char **old = find(e, name), *var;

	if (asprintf(&var, "%s=%s", name, value) < 0)
		return out_of_memory();
	if (old) {
		free(*old);
		*old = var;
		return 0;
	}
	if (!GROW(e->vars, e->n + 2, e->cap)) {
		free(var);
		return out_of_memory();
	}
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
	memmove(v, v + 1, (size_t)(e->vars + e->n - v) * sizeof *v);    /* including the NULL */
	e->n--;
}

void env_release(struct env *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->vars[i]);
	free(e->vars);
	*e = (struct env){ 0 };
}

/* Sets variables from a list "A=B,C=D".  A piece without '=' belongs to the value before it. */
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

/* ---- variables that load the injected object ---- */

/* Whether a path is an injected object, of any build, of an outer session: two in one process would record everything twice. */
static bool is_ours(const char *path, size_t len)
{
	static const char *const names[] = { "/libgprof_inject.so", "/inject" };        /* the second is a link in a session's folder */

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);

		if (len >= n && strncmp(path + len - n, names[i], n) == 0 &&
		    (i == 0 || memmem(path, len, "/gprof-", 7)))
			return true;
	}
	return false;
}

/* Copies the entries of a LD_PRELOAD list that are not injected objects, separated by colons. */
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

/*
 * Puts the library `first` at the start of LD_PRELOAD, for the program only: the injected object removes it before main(), so
 * that children do not inherit it (inject/process/child_env.c).
 */
static int put_first(struct env *e, const char *first, char **list)
{
	char *longer;

	if (!*first || strncmp(*list, first, strlen(first)) == 0)
		return 0;
	if (asprintf(&longer, "%s:%s", first, *list) < 0)
		return out_of_memory();
	free(*list);
	*list = longer;
	return env_set(e, WIRE_ENV_FIRST, first);
}

/* Puts the injected object before the old entries of LD_PRELOAD; after them if one is a sanitizer, which must come first. */
static int set_preload(struct env *e, const char *inject, const char *first)
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
	rc = put_first(e, first, &list);
	if (rc == 0)
		rc = env_set(e, "LD_PRELOAD", list);
out:
	free(list);
	free(others);
	return rc;
}

/*
 * The CUDA driver and NVTX load one injection library each.  A library of another tool moves to the variable `next`; the
 * injected object loads it from there.
 */
static int set_injection(struct env *e, const char *name, const char *next, const char *inject)
{
	const char *old = env_get(e, name);

	if (old && *old && !is_ours(old, strlen(old)) && env_set(e, next, old) < 0)
		return -1;
	return env_set(e, name, inject);
}

/* Removes the variable if it names an injected object of an outer session; another tool's library stays. */
static void unset_injection(struct env *e, const char *name)
{
	const char *old = env_get(e, name);

	if (old && is_ours(old, strlen(old)))
		env_unset(e, name);
}

int env_open_doors(struct env *e, const char *session, const char *inject, const struct target *t, bool nvtx)
{
	env_unset(e, WIRE_ENV_FIRST);
	if (env_set(e, WIRE_ENV, session) < 0)
		return -1;
	if (!inject)
		return 0;
	if (t->preload && set_preload(e, inject, t->first) < 0)
		return -1;
	if (set_injection(e, "CUDA_INJECTION64_PATH", "GPROF_NEXT_CUDA_INJECTION", inject) < 0)
		return -1;
	if (nvtx)
		return set_injection(e, "NVTX_INJECTION64_PATH", "GPROF_NEXT_NVTX_INJECTION", inject);
	unset_injection(e, "NVTX_INJECTION64_PATH");
	return 0;
}
