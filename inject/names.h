/*
 * Names that the program holds handles to: NVTX domains and registered strings.  A handle is an index, never a pointer, so that a stale
 * or foreign one is harmless; and it outlives a fork, after which the child describes the name anew.
 */
#ifndef INJECT_NAMES_H
#define INJECT_NAMES_H

#include "inject/stream.h"

/* Handle of a domain of that name; the same name gives the same handle.  NULL (the default domain) when there is no room. */
const void *names_domain(struct stream *s, const char *text, size_t n);

/* Id of a domain handle, described in this process; 0, the default domain, for NULL and for what is no handle of ours. */
uint32_t names_domain_id(struct stream *s, const void *handle);

/* Handle of a string; NULL when there is no room. */
const void *names_string(struct stream *s, const char *text, size_t n);

/* Its name and length; "" for what is no handle of ours. */
const char *names_domain_text(const void *handle, size_t *n);

/* Is it the domain of a CUDA library (trace/libraries.def)? */
bool names_domain_of_library(const void *handle);

/* Bits of the libraries whose domains were created. */
uint32_t names_libraries_seen(void);

/* String id of a handle; 0 for what is no handle of ours. */
uint32_t names_string_id(struct stream *s, const void *handle);

/* Its text and length; "" for what is no handle of ours. */
const char *names_string_text(const void *handle, size_t *n);

#endif
