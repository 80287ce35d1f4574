/* Tells Python files of the standard library and of installed packages from a program's own files, by path.  Allocates nothing. */
#ifndef TRACE_RULES_PYTHONLIB_H
#define TRACE_RULES_PYTHONLIB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the path (n bytes) goes through a folder of the standard library or of packages: site-packages, dist-packages; lib/python3.11,
 * lib64/python3; python3.11 anywhere; Lib in a folder of Python's source (Python-3.11.7/Lib, cpython/Lib, python-build.1234/Lib).
 */
bool pythonlib_has(const char *path, size_t n);

#endif
