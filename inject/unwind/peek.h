/*
 * Reads memory that may not be mapped.  Each function makes a system call (peek() 0.3 us, peek_mapped() 0.1 us): too slow for hot paths.
 * They preserve errno and are safe in signal handlers.
 *
 * Why no SIGSEGV handler: the signal belongs to the program.  Why no list of mappings: it is outdated as soon as it is made.
 */
#ifndef INJECT_UNWIND_PEEK_H
#define INJECT_UNWIND_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies n bytes from an address of this process.  Returns false if any of them cannot be read; the contents of `to` are then undefined. */
bool peek(void *to, uint64_t from, size_t n);

/* Copies n 8-byte words (n <= PEEK_WORDS) from n addresses with one system call.  Returns false if any cannot be read. */
#define PEEK_WORDS 12u
bool peek_words(uint64_t *to, const uint64_t *from, uint32_t n);

/* True if the address could point to an object: aligned to 8 bytes, at least 64 KB, and in user space. */
static inline bool peek_plausible(uint64_t address)
{
	return address - 0x10000 < 0x7fffffff0000 && !(address & 7);
}

/* True if the 8 bytes at `at`, a multiple of 8, are readable now. */
bool peek_mapped(uint64_t at);

/* True if these n bytes are readable now. */
bool peek_all_mapped(uint64_t from, size_t n);

#endif
