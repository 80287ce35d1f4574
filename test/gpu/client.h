/* What our own small CUPTI clients share: the library that the check found, and a report that survives whatever comes after a line. */
#ifndef TEST_GPU_CLIENT_H
#define TEST_GPU_CLIENT_H

#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* X(function): a pointer p_function, bound late as a profiler does; NULL where the library has no such function. */
#define CLIENT_POINTER(fn) static __typeof__(fn) *p_##fn;
#define CLIENT_BIND(fn) *(void **)&p_##fn = dlsym(library, #fn);

/* The copy that the process has already, or the one named, or what the loader finds. */
static inline void *client_open_cupti(void)
{
	const char *path = getenv("GPU_CHECK_LIBCUPTI");
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);

	if (!library)
		library = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
	if (!library && path && *path)
		library = dlopen(path, RTLD_NOW);
	if (!library)
		library = dlopen("libcupti.so.13", RTLD_NOW);
	return library ? library : dlopen("libcupti.so.12", RTLD_NOW);
}

/* One line, appended and in the file when this returns: the next call may be the one that crashes. */
__attribute__((format(printf, 1, 2))) static inline void client_report(const char *format, ...)
{
	const char *path = getenv("GPU_CHECK_REPORT");
	char line[400];
	va_list args;
	int fd, n;

	va_start(args, format);
	n = vsnprintf(line, sizeof line - 1, format, args);
	va_end(args);
	if (!path || n < 0 || (fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) < 0)
		return;
	if (n > (int)sizeof line - 2)
		n = sizeof line - 2;
	line[n++] = '\n';
	if (write(fd, line, (size_t)n) != n)
		fprintf(stderr, "client: cannot write '%s'\n", path);
	close(fd);
}

#endif
