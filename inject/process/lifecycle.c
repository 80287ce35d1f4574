#include "inject/process/lifecycle.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/core/carrier.h"
#include "inject/core/libc.h"
#include "inject/core/module.h"
#include "inject/core/seccomp.h"
#include "inject/core/self.h"
#include "inject/core/session.h"
#include "inject/core/stream.h"
#include "inject/process/child_env.h"
#include "inject/stacks/sample.h"

#define EXPORT __attribute__((visibility("default")))

/* Stores the process's CPU time for the collector, which cannot always ask the kernel. */
static void note_cpu(struct arena *a)
{
	struct timespec t;

	if (seccomp_allows(SECCOMP_END) && clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0)
		__atomic_store_n(&a->cpu, t.tv_sec * 1000000000ll + t.tv_nsec, __ATOMIC_RELAXED);
}

static void note_exit(int status, void *unused)
{
	struct arena *a = guest->arena;
	int saved = errno;

	(void)unused;
	if (session_is_own()) {
		note_cpu(a);
		__atomic_store_n(&a->exit_status, 256u + (status & 255u), __ATOMIC_RELAXED);
		carrier_finish();
	}
	errno = saved;
}

/* Delivers what was recorded, before the process ends or executes another program. */
static void before_end(void)
{
	int saved = errno;

	if (session_is_own())
		modules_stop();
	errno = saved;
}

static void at_exit(void)
{
	before_end();
}

static void at_quick(void *unused)
{
	(void)unused;
	before_end();
}

void lifecycle_at_exit(void)
{
	atexit(at_exit);
	libc_at_quick_exit(at_quick);
}

static void fork_child(void)
{
	int saved = errno;

	modules_forked();
	sample_forked();
	errno = saved;
}

void lifecycle_init(void)
{
	Dl_info info;

	if (dladdr((void *)lifecycle_init, &info) && info.dli_fname)
		child_env_init(info.dli_fname);
	child_env_begin();
	libc_at_fork(fork_child);
	on_exit(note_exit, NULL);       /* this object is never unloaded */
}

/* Runs after the driver's exit handler: CUPTI cannot be used any more, and was flushed earlier. */
__attribute__((destructor)) static void unloaded(void)
{
	struct arena *a = guest->arena;

	if (!session_is_own())
		return;
	if (__atomic_load_n(&a->life, __ATOMIC_RELAXED) != LIFE_ENDED) {
		sample_process_ends();  /* lifecycle_at_exit() was never called */
		__atomic_store_n(&a->last_time, clock_now(), __ATOMIC_RELAXED);
		__atomic_store_n(&a->life, LIFE_ENDED, __ATOMIC_RELEASE);
	}
	carrier_finish();       /* later exit handlers may have written rows */
}

/* ---- interposed: ends without exit handlers ---- */

EXPORT __attribute__((noreturn)) void _exit(int status)
{
	note_exit(status, NULL);
	before_end();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}

/* Only a failed exec returns: the program continues, and so does recording. */
static int exec_failed(int result)
{
	struct arena *a = guest->arena;

	if (session_is_own())
		__atomic_store_n(&a->life, LIFE_RUNNING, __ATOMIC_RELEASE);
	return result;
}

/* ---- exec: delivers the rows before the image is replaced ---- */

/* Missing in the headers of older libcs. */
int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags);

/* The environment for this file (fields of struct child_file), on the caller's stack. */
#define ENV_FOR(envp, ...) ({                                                           \
	struct child_plan plan_;                                                        \
	size_t room_ = child_env_plan(&plan_, envp, &(struct child_file){ __VA_ARGS__ }); \
	room_ ? child_env_fill(&plan_, alloca(room_), envp) : (envp);                   \
})

/*
 * libc functions that do more than a system call are called through.  Looked up at load, since dlsym() may not be called in a vfork child.
 */
enum real {
	REAL_execvpe, REAL_fexecve, REAL_pthread_create, REAL_thrd_create, REAL_pthread_exit, REAL_posix_spawn, REAL_posix_spawnp, N_REAL
};
static void *real_functions[N_REAL];

#define REAL(function) ((__typeof__(&function))real_function(REAL_##function))

__attribute__((constructor(101))) static void find_real(void)
{
	static const char *const names[] = { "execvpe", "fexecve", "pthread_create", "thrd_create", "pthread_exit",
					     "posix_spawn", "posix_spawnp" };

	for (int i = 0; i < N_REAL; i++) {
		/* x86-64 glibc has two versions of posix_spawn; the one before 2.15 runs scripts without "#!" through the shell. */
		if (i >= REAL_posix_spawn && libc_is_ours())
			real_functions[i] = dlvsym(RTLD_NEXT, names[i], "GLIBC_2.15");
		if (!real_functions[i])
			real_functions[i] = dlsym(RTLD_NEXT, names[i]);
	}
	dlerror();      /* the program must not see this error */
}

/* A constructor that runs earlier may call exec. */
static void *real_function(enum real which)
{
	if (!real_functions[which])
		find_real();
	if (!real_functions[which])
		errno = ENOSYS;
	return real_functions[which];
}

/*
 * Only if the file can be executed: PATH searches call execve() for one folder after the other, and the final flush delivers running
 * kernels without their end, irrevocably.
 */
static void before_exec(int dir, const char *path)
{
	int saved = errno;

	if (session_is_own() && seccomp_allows(SECCOMP_END) && syscall(SYS_faccessat, dir, path, X_OK) == 0)
		before_end();
	errno = saved;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	envp = ENV_FOR(envp, AT_FDCWD, path, false);
	before_exec(AT_FDCWD, path);
	return exec_failed((int)syscall(SYS_execve, path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	if (!REAL(execvpe))
		return -1;
	envp = ENV_FOR(envp, AT_FDCWD, file, true);
	before_end();
	return exec_failed(REAL(execvpe)(file, argv, envp));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

EXPORT int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
	envp = ENV_FOR(envp, dir, path, false);
	if (flags & AT_EMPTY_PATH)
		before_end();
	else
		before_exec(dir, path);
	return exec_failed((int)syscall(SYS_execveat, dir, path, argv, envp, flags));
}

/* Through libc, which also works on kernels and in sandboxes without execveat(). */
EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	if (!REAL(fexecve))
		return -1;
	envp = ENV_FOR(envp, fd, "", false);
	before_end();
	return exec_failed(REAL(fexecve)(fd, argv, envp));
}

/* ---- exec with an argument list ---- */

static size_t count_words(const char *word, va_list more)
{
	size_t n = 0;

	for (; word; word = va_arg(more, const char *))
		n++;
	return n;
}

/* Copies the arguments, up to and including NULL; `more` then points at the environment of execle(). */
#define TAKE_WORDS(argv, word, more) do {                                                       \
	va_start(more, word);                                                                   \
	(argv) = alloca((count_words(word, more) + 1) * sizeof *(argv));                        \
	va_end(more);                                                                           \
	va_start(more, word);                                                                   \
	(argv)[0] = (char *)(uintptr_t)(word);                                                  \
	for (size_t i_ = 0; (argv)[i_]; )                                                       \
		(argv)[++i_] = va_arg(more, char *);                                            \
} while (0)

EXPORT int execl(const char *path, const char *word, ...)
{
	va_list more;
	char **argv;

	TAKE_WORDS(argv, word, more);
	va_end(more);
	return execve(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *word, ...)
{
	va_list more;
	char **argv;

	TAKE_WORDS(argv, word, more);
	va_end(more);
	return execvpe(file, argv, environ);
}

EXPORT int execle(const char *path, const char *word, ...)
{
	char *const *envp;
	va_list more;
	char **argv;

	TAKE_WORDS(argv, word, more);
	envp = va_arg(more, char *const *);
	va_end(more);
	return execve(path, argv, envp);
}

/* ---- posix_spawn: this process continues, nothing to deliver ---- */

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	if (!REAL(posix_spawn))
		return ENOSYS;
	return REAL(posix_spawn)(pid, path, actions, attr, argv, ENV_FOR(envp, AT_FDCWD, path, false));
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	if (!REAL(posix_spawnp))
		return ENOSYS;
	return REAL(posix_spawnp)(pid, file, actions, attr, argv, ENV_FOR(envp, AT_FDCWD, file, true));
}

/* ---- threads ---- */

extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

static bool is_ours(const void *caller)
{
	return (const char *)caller >= __ehdr_start && (const char *)caller < _end;
}

/*
 * Before glibc 2.34 these functions are in libpthread.  If only a plugin loaded libpthread for itself, dlsym(RTLD_NEXT) does not find it,
 * and yet the plugin's calls arrive here.
 */
static void *real_of_threads(enum real which, const char *name)
{
	void *library, *function = real_function(which);

	if (likely(function != NULL))
		return function;
	library = dlopen("libpthread.so.0", RTLD_LAZY | RTLD_NOLOAD);
	function = library ? dlsym(library, name) : NULL;
	dlerror();
	return real_functions[which] = function;
}

/* Threads to be sampled start in sample_run().  The profiler's threads are not sampled.  Without sampling the call is passed on. */
EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	__typeof__(&pthread_create) real = (__typeof__(&pthread_create))real_of_threads(REAL_pthread_create, "pthread_create");
	struct sampler *t;
	int error;

	if (!real)
		return EAGAIN;
	t = is_ours(__builtin_return_address(0)) ? NULL : sample_thread_new((void *)start, arg);
	error = t ? real(thread, attr, sample_run, t) : real(thread, attr, start, arg);
	sample_thread_made(t, error == 0);
	return error;
}

/* Declared here, since <threads.h> has it from glibc 2.28 on only.  glibc's function does not call pthread_create(). */
#define THRD_ERROR 2
int thrd_create(pthread_t *thread, int (*start)(void *), void *arg);

EXPORT int thrd_create(pthread_t *thread, int (*start)(void *), void *arg)
{
	__typeof__(&thrd_create) real = (__typeof__(&thrd_create))real_of_threads(REAL_thrd_create, "thrd_create");
	struct sampler *t;
	int error;

	if (!real)
		return THRD_ERROR;
	t = sample_thread_new((void *)start, arg);
	error = t ? real(thread, sample_run_c11, t) : real(thread, start, arg);
	sample_thread_made(t, error == 0);
	return error;
}

/* ---- main() ends, its threads continue ---- */

EXPORT __attribute__((noreturn)) void pthread_exit(void *result)
{
	if (session_is_own() && self_id() == session_pid())
		carrier_end_thread();
	while (!REAL(pthread_exit))     /* never: every libc with threads has it */
		pause();
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}
