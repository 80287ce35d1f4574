/*
 * Functions that glibc has and musl lacks, as weak references: a musl program inherits LD_PRELOAD, and its loader would refuse to start it
 * over a missing symbol.  In a musl program the object does nothing; glibc programs that it starts are recorded.
 */
#ifndef INJECT_CORE_LIBC_H
#define INJECT_CORE_LIBC_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#pragma weak dladdr1
#pragma weak dlvsym
#pragma weak on_exit

/* pthread_atfork() and at_quick_exit() are static wrappers of these, linked into each object. */
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *object) __attribute__((weak));
int __cxa_at_quick_exit(void (*function)(void *), void *object) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* False under musl. */
static inline bool libc_is_ours(void)
{
	return __register_atfork != NULL;
}

/* As pthread_atfork(NULL, NULL, child); does nothing under musl. */
static inline void libc_at_fork(void (*child)(void))
{
	if (__register_atfork)
		__register_atfork(NULL, NULL, child, __dso_handle);
}

/* As at_quick_exit(), with a NULL argument for the function; does nothing under musl. */
static inline void libc_at_quick_exit(void (*function)(void *))
{
	if (__cxa_at_quick_exit)
		__cxa_at_quick_exit(function, __dso_handle);
}

#endif
