/*
 * Names that the program holds handles of: NVTX domains and registered strings.  A handle is an index + 1, not a pointer: a stale or
 * foreign handle is looked up safely.  Handles stay valid after fork(); the child describes each name to the collector again.  Any thread;
 * `s` is the calling thread's stream, entered.
 */
#ifndef INJECT_RANGES_NAMES_H
#define INJECT_RANGES_NAMES_H

#include "inject/core/stream.h"

/* Returns the handle of the domain of that name; equal names have equal handles.  NULL, the default domain, when there is no room. */
const void *names_domain(struct stream *s, const char *text, size_t n);

/* Returns the domain's id and writes its row once per process.  0, the default domain, for NULL or an unknown handle. */
uint32_t names_domain_id(struct stream *s, const void *handle);

/* Registers a string.  Returns its handle, NULL when there is no room. */
const void *names_string(struct stream *s, const char *text, size_t n);

/* Returns the domain's name and its length in *n; "" for an unknown handle. */
const char *names_domain_text(const void *handle, size_t *n);

/* True if the domain belongs to a CUDA library (trace/rules/libraries.def). */
bool names_domain_of_library(const void *handle);

/* Returns a mask, bit i for enum library_id i, of the libraries that created their domain. */
uint32_t names_libraries_seen(void);

/* Returns the string id of a registered string; 0 for an unknown handle. */
uint32_t names_string_id(struct stream *s, const void *handle);

/* Returns the registered string's text and its length in *n; "" for an unknown handle. */
const char *names_string_text(const void *handle, size_t *n);

#endif
