#include "inject/lifecycle.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/module.h"
#include "inject/session.h"
#include "inject/stream.h"

#define EXPORT __attribute__((visibility("default")))

/* The process whose state this is.  A vfork child runs in our memory with another id: it must leave everything alone. */
static int own_pid;

static bool ours(void)
{
	return own_pid && session_real_pid() == own_pid;
}

/* Before the process image goes away. */
static void before_end(void)
{
	int saved = errno;

	if (ours())
		modules_stop();
	errno = saved;
}

static void at_exit(void)
{
	before_end();
}

void lifecycle_at_exit(void)
{
	atexit(at_exit);
	at_quick_exit(at_exit);
}

static void fork_child(void)
{
	int saved = errno;

	own_pid = session_real_pid();
	modules_forked();
	errno = saved;
}

void lifecycle_init(void)
{
	own_pid = session_real_pid();
	pthread_atfork(NULL, NULL, fork_child);
}

/* Runs after the driver's own exit handler: CUPTI is out of reach by now, and was flushed before. */
__attribute__((destructor)) static void unloaded(void)
{
	struct arena *a = guest->arena;

	if (a && ours() && __atomic_load_n(&a->life, __ATOMIC_RELAXED) != LIFE_ENDED) {
		__atomic_store_n(&a->last_time, clock_now(), __ATOMIC_RELAXED);
		__atomic_store_n(&a->life, LIFE_ENDED, __ATOMIC_RELEASE);
	}
}

/* ---- interposed: the ends that no exit handler sees ---- */

EXPORT __attribute__((noreturn)) void _exit(int status)
{
	before_end();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}

/* Only a failed exec returns: the program goes on, and so do we. */
static int exec_failed(int result)
{
	struct arena *a = guest->arena;

	if (a && ours())
		__atomic_store_n(&a->life, LIFE_RUNNING, __ATOMIC_RELEASE);
	return result;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	before_end();
	return exec_failed((int)syscall(SYS_execve, path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

/* The search through PATH is libc's; looked up at load, since dlsym may not be called in a vfork child. */
static int (*real_execvpe)(const char *, char *const[], char *const[]);

__attribute__((constructor(101))) static void find_real(void)
{
	void *fn = dlsym(RTLD_NEXT, "execvpe");

	*(void **)&real_execvpe = fn;
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	if (!real_execvpe)      /* a library that replaces the program before our turn to be loaded */
		find_real();
	if (!real_execvpe) {
		errno = ENOSYS;
		return -1;
	}
	before_end();
	return exec_failed(real_execvpe(file, argv, envp));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}
