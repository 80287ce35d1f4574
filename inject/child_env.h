/*
 * The environment of a program that is about to be executed, where it was cleaned or written anew
 * (subprocess.run(env={}), env -i, a script that sets LD_PRELOAD): our variables are put back, all others stay as they
 * are.
 *
 * Called in vfork children and signal handlers: no allocation, no lock, nothing of the parent is changed.  The new list
 * lies on the caller's stack:
 *
 *	size_t room = child_env_room(envp);
 *	if (room)
 *		envp = child_env_fill(alloca(room), envp);
 *
 * Left alone: one in which GPROF_SESSION stands, if only empty, unless LD_PRELOAD was set anew; all when GPROF_RESTORE=0
 * was said (--restore-environment=false); all where our object cannot be read, as in a chroot.
 */
#ifndef INJECT_CHILD_ENV_H
#define INJECT_CHILD_ENV_H

#include <stddef.h>

/* Remembers our variables; object: the path by which we were loaded.  Once, at load. */
void child_env_init(const char *object);

/* Bytes for child_env_fill(); 0: nothing is to be changed. */
size_t child_env_room(char *const envp[]);

char *const *child_env_fill(void *room, char *const envp[]);

#endif
