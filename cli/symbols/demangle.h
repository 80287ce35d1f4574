/* Names of functions as their authors wrote them. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* A C++ or Rust name made readable, to be freed; NULL: it is neither, or cannot be read here. */
char *demangle(const char *name);

/* Whether C++ names can be: libstdc++.so.6 was found.  Rust names always can. */
bool demangle_knows_cpp(void);

/*
 * Rust's names alone, of both schemes (_R..., and _ZN...17h<hash>E), without the hashes that they end with.  Writes at
 * most size - 1 bytes.  False: it is no such name.
 */
bool demangle_rust(const char *name, char *out, size_t size);

/* The second of them, for a name that begins with _ZN. */
bool demangle_rust_legacy(const char *name, char *out, size_t size);

#endif
