/*
 * Memory that may not be there.  System calls (0.3 and 0.1 us), for what is read once, not for what a hot path reads; errno is kept, and
 * signal handlers may call them.
 *
 * Why not a handler for SIGSEGV: it is the program's.  Why not a list of the mappings: it is out of date as soon as it is made.
 */
#ifndef INJECT_PEEK_H
#define INJECT_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies n bytes from an address of this process.  False: not all of them can be read; what `to` holds is then undefined. */
bool peek(void *to, uint64_t from, size_t n);

/* n words, at most PEEK_WORDS, from as many places, by one system call. */
#define PEEK_WORDS 12u
bool peek_words(uint64_t *to, const uint64_t *from, uint32_t n);

/* A pointer that could point to an object: neither NULL and its neighbours nor beyond user space, and aligned. */
static inline bool peek_plausible(uint64_t address)
{
	return address - 0x10000 < 0x7fffffff0000 && !(address & 7);
}

/* Can the eight bytes at this multiple of eight be read just now? */
bool peek_mapped(uint64_t at);

#endif
