/* Demangles names of C++ and Rust functions. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Demangles a C++ or Rust name; free() the result.  NULL: neither, or demangling is not possible here. */
char *demangle(const char *name);

/* Whether C++ names can be demangled: libstdc++.so.6 was found.  Rust names always can. */
bool demangle_knows_cpp(void);

/* Demangles a C++ name, which begins with _Z; free() the result.  NULL: not a C++ name, or the result would exceed 64 KiB. */
char *demangle_cpp(const char *name);

/*
 * Demangles a Rust name of either scheme (v0: _R..., legacy: _ZN...17h<hash>E), without the hash at its end.  Writes at most size - 1
 * bytes and a zero.  False: not a Rust name.
 */
bool demangle_rust(const char *name, char *out, size_t size);

/* demangle_rust() for the legacy scheme; name begins with _ZN. */
bool demangle_rust_legacy(const char *name, char *out, size_t size);

#endif
