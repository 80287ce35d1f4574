/*
 * Demangles C++ names with libstdc++'s __cxa_demangle().  Back references can double a name again and again: 240 letters can become 100 MB.
 * Names that may become long are therefore demangled in a child process with limited memory and CPU time.
 */
#include "cli/symbols/demangle.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST     (64u << 10)           /* bytes; longer names are refused */
#define MOST_DIRECT (4u << 20)          /* longest estimated result that is demangled without a child */
#define MOST_MORE   (64u << 20)           /* bytes of memory that the child may use in addition to the parent's size */
#define MOST_TIME   1                   /* CPU seconds of the child */
#define MOST_BAD    3u                   /* failed long names after which no further long name is tried */

/* Loaded at run time, so that the program does not depend on libstdc++. */
static char *(*cxa_demangle)(const char *mangled, char *buf, size_t *size, int *status);
static pthread_once_t cxa_once = PTHREAD_ONCE_INIT;
static unsigned bad;

static void find_cxa(void)
{
	void *lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

	if (lib)
		*(void **)&cxa_demangle = dlsym(lib, "__cxa_demangle");
}

bool demangle_knows_cpp(void)
{
	pthread_once(&cxa_once, find_cxa);
	return cxa_demangle != NULL;
}

/*
 * Whether the demangled name may be longer than MOST_DIRECT.  Each reference (S_, S0_, T_ ...) can stand for everything before the first of
 * its kind, so the bound is the number of letters, times (1 + number of references) for each kind.
 */
static bool may_be_long(const char *name)
{
	uint64_t length = strlen(name) * 4;     /* some letters stand for words: j is unsigned int */
	uint16_t seen[2][64] = { 0 };

	for (const char *p = name; *p && length <= MOST_DIRECT; p++) {
		unsigned n = 0, kind = *p == 'T';
		const char *d = p + 1;

		if (*p != 'S' && *p != 'T')
			continue;
		for (; (*d >= '0' && *d <= '9') || (*d >= 'A' && *d <= 'Z'); d++)
			n = n * 36 + (unsigned)(*d <= '9' ? *d - '0' : *d - 'A' + 10) + 1;
		if (*d != '_')
			continue;
		n %= 64;
		length = length / (seen[kind][n] + 1u) * (seen[kind][n] + 2u);
		seen[kind][n] += seen[kind][n] < UINT16_MAX;
	}
	return length > MOST_DIRECT;
}

/* Size of this process's address space in bytes; 0: unknown. */
static uint64_t own_size(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (file && fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* In the child: lowers a resource limit to `most`, unless it is lower already. */
static void limit(int resource, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now) < 0)
		_exit(1);
	now.rlim_cur = now.rlim_max = most < now.rlim_max ? most : now.rlim_max;
	if (setrlimit(resource, &now) < 0)
		_exit(1);
}

static void child(int to, const char *name, uint64_t size)
{
	int status;
	char *shown;

	limit(RLIMIT_AS, size + MOST_MORE);
	limit(RLIMIT_CPU, MOST_TIME);
	limit(RLIMIT_CORE, 0);
	signal(SIGXCPU, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	shown = cxa_demangle(name, NULL, NULL, &status);
	if (!shown || strlen(shown) > LONGEST)
		_exit(shown ? 1 : 2);
	for (size_t n = strlen(shown); n;) {
		ssize_t done = write(to, shown, n);

		if (done <= 0)
			_exit(1);
		shown += done;
		n -= (size_t)done;
	}
	_exit(0);
}

static char *read_all(int from)
{
	char *text = malloc(LONGEST + 1);
	size_t n = 0;
	ssize_t got = 1;

	while (text && n < LONGEST && (got > 0 || (got < 0 && errno == EINTR))) {
		got = read(from, text + n, LONGEST - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (text)
		text[n] = '\0';
	return text;
}

/* Demangles in a child process.  NULL: not a C++ name, or the child exceeded its limits. */
static char *aside(const char *name)
{
	uint64_t size = own_size();
	int ends[2], status = 0;
	char *text;
	pid_t pid;

	if (!size || __atomic_load_n(&bad, __ATOMIC_RELAXED) >= MOST_BAD || pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	pid = fork();
	if (pid == 0)
		child(ends[1], name, size);
	close(ends[1]);
	text = pid > 0 ? read_all(ends[0]) : NULL;
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && text && *text)
		return text;
	free(text);
	if (pid > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 2))
		__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
	return NULL;
}

char *demangle_cpp(const char *name)
{
	char *shown;
	int status;

	if (!demangle_knows_cpp())
		return NULL;
	if (may_be_long(name))
		return aside(name);
	shown = cxa_demangle(name, NULL, NULL, &status);
	if (!shown || strlen(shown) <= LONGEST)
		return shown;
	free(shown);
	return NULL;
}
