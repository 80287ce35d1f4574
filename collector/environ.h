/* What of a program's environment goes into a trace.  Pure: bytes in, facts out. */
#ifndef COLLECTOR_ENVIRON_H
#define COLLECTOR_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls put for each fact in env (zero-terminated NAME=value, n bytes in all): rank, local_rank, world_size, each with
 * .from, the variable that said so; container, where a variable names it; env.NAME for the names of the allow-list, or
 * for all.  Values of names that sound like secrets are put as "***".
 */
void environ_facts(const char *env, size_t n, bool all,
		   void (*put)(void *arg, const char *key, const char *value), void *arg);

/* True when the environment has "NAME=value". */
bool environ_has(const char *env, size_t n, const char *name, const char *value);

#endif
