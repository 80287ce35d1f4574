/* Memory of this process that may not be there: a copy of it, or false.  One system call (0.3 us); keeps errno, safe in signal handlers. */
#ifndef INJECT_PEEK_H
#define INJECT_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool peek(void *to, uint64_t from, size_t n);

/* A pointer that could point to an object: neither NULL and its neighbours nor beyond user space, and aligned. */
static inline bool peek_plausible(uint64_t address)
{
	return address - 0x10000 < 0x7fffffff0000 && !(address & 7);
}

#endif
