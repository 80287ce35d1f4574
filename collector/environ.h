/* Selects what of a program's environment goes into a trace.  Pure functions: bytes in, facts out. */
#ifndef COLLECTOR_ENVIRON_H
#define COLLECTOR_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls put for each fact in env (zero-terminated NAME=value, n bytes in all): rank, local_rank and world_size, each with .from, the
 * variable that has it; container, if a variable names it; env.NAME for the names of the allow-list, with `all` for all names.  Secrets in
 * values become "***" (trace/rules/secrets.h).
 */
void environ_facts(const char *env, size_t n, bool all,
		   void (*put)(void *arg, const char *key, const char *value), void *arg);

/* True if the environment contains "NAME=value". */
bool environ_has(const char *env, size_t n, const char *name, const char *value);

#endif
