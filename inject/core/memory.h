/*
 * Memory that lives as long as the process: names, tables.  Never malloc(): a hook may run inside malloc().  Mapped on first use and not
 * locked, so that it does not count against RLIMIT_MEMLOCK of a program that called mlockall(MCL_FUTURE).  Any thread may call these
 * functions; none takes a lock.
 */
#ifndef INJECT_CORE_MEMORY_H
#define INJECT_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns size zeroed bytes, 16-byte aligned, that are never freed; NULL when the system has no memory or forbids mmap(). */
void *memory_take(size_t size);

/* Maps size zeroed private bytes.  Restores errno.  Returns NULL on failure; free with memory_unmap() and the same size. */
void *memory_map(size_t size);
void memory_unmap(void *p, size_t size);

/* Maps the first size bytes of fd (-1 with MAP_ANONYMOUS: zeroes), with mmap()'s flags.  Returns NULL and sets errno on failure. */
void *memory_map_file(size_t size, int flags, int fd);

/* Whether the program has mlockall(MCL_FUTURE) in force; set by limits.c, which interposes mlockall() and munlockall(). */
void memory_set_locking(bool on);
bool memory_is_locking(void);

/* Unlocks (munlock) the region that memory_take() currently hands out. */
void memory_unlock(void);

/*
 * Returns the table of n elements that the static pointer `table` refers to; maps it, zeroed, on first use.  NULL when the system has no
 * memory.  Used instead of an array in .bss, which would cost memory in every process, also in the many that record nothing.
 */
#define MEMORY_TABLE(table, n) ({                                                                                       \
	__typeof__(table) at_ = __atomic_load_n(&(table), __ATOMIC_ACQUIRE), fresh_;                                    \
	if (__builtin_expect(!at_, 0) && (fresh_ = memory_map((n) * sizeof *fresh_))) {                                 \
		if (__atomic_compare_exchange_n(&(table), &at_, fresh_, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))     \
			at_ = fresh_;                                                                                   \
		else                                                                                                    \
			memory_unmap(fresh_, (n) * sizeof *fresh_);                                                     \
	}                                                                                                               \
	at_;                                                                                                            \
})

#endif
