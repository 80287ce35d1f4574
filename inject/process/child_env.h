/*
 * The environment of a program that is about to be executed.
 *
 * Where it was cleaned or rewritten (subprocess.run(env={}), env -i, a script that sets LD_PRELOAD), the profiler's variables are put
 * back; all other variables stay unchanged.  Not changed: an environment that has GPROF_SESSION, even if empty, unless its LD_PRELOAD is
 * new; and any environment if GPROF_RESTORE=0 (--restore-environment=false).
 *
 * The executable is examined (trace/image.h).  If the injected object cannot be loaded into it (32-bit program, another processor, the
 * object's file not reachable as in a chroot), the object is removed from LD_PRELOAD and the collector is told.  If a seccomp filter of
 * this process would kill the new program because of the profiler, all of the profiler's variables are removed and the collector is told.
 * For a program that needs AddressSanitizer's library, that library is put first in LD_PRELOAD; child_env_begin() in that program removes
 * it again, so that its children do not get it.  Static programs and musl programs keep the variables, so that the programs they start are
 * recorded.
 *
 * Runs in vfork children and signal handlers: no allocation, no lock, no change to the parent's memory.  The new list lies on the caller's
 * stack:
 *
 *	struct child_plan plan;
 *	size_t room = child_env_plan(&plan, envp, &(struct child_file){ AT_FDCWD, path });
 *	if (room)
 *		envp = child_env_fill(&plan, alloca(room), envp);
 */
#ifndef INJECT_PROCESS_CHILD_ENV_H
#define INJECT_PROCESS_CHILD_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/image.h"

enum child_preload { CHILD_AS_IS, CHILD_FIRST, CHILD_WITHOUT };

struct child_file {
	int dir;                        /* as for openat(); path "": dir is the file's descriptor */
	const char *path;
	bool search;                    /* look the name up in PATH */
};

struct child_plan {
	bool restore;                   /* put the profiler's variables back */
	bool alone;                     /* remove the profiler's variables */
	enum child_preload preload;
	char first[IMAGE_NAME];         /* CHILD_FIRST: the first entry of LD_PRELOAD */
};

/* Remembers the profiler's variables; object: path of the injected object's file.  Once, at load. */
void child_env_init(const char *object);

/* Removes from this process's environment what child_env_fill() added for this program only.  Once, at load, after child_env_init(). */
void child_env_begin(void);

/* Bytes that child_env_fill() needs; 0: leave the environment unchanged.  Async-signal-safe, keeps errno. */
size_t child_env_plan(struct child_plan *plan, char *const envp[], const struct child_file *file);

/*
 * Builds the new environment in `room`, whose size child_env_plan() returned; entries point into envp, `room` and static memory.
 * Async-signal-safe.
 */
char *const *child_env_fill(const struct child_plan *plan, void *room, char *const envp[]);

#endif
