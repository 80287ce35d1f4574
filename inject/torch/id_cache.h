/*
 * A cache of string ids by a hash of what they describe.  Lookups take no lock; one thread at a time writes an entry.  The hash includes
 * the process's epoch: a forked child finds no entry of its parent's and need not clear them.
 */
#ifndef INJECT_TORCH_ID_CACHE_H
#define INJECT_TORCH_ID_CACHE_H

#include <stdbool.h>
#include <string.h>

#include "inject/core/memory.h"
#include "inject/core/stream.h"

#define ID_CACHE_SIZE 2048u             /* a power of two */
/* The key of an entry during a write; real keys are odd.  With another epoch, a thread of the parent left it: the child overwrites it. */
#define ID_CACHE_BEING_WRITTEN ((uint64_t)guest->epoch << 32 | 2)

struct id_cache {
	struct id_cache_entry {
		uint64_t key;
		uint32_t a, b;
	} *list, only;                  /* ID_CACHE_SIZE entries; `only` replaces them when there is no memory */
};

/* Hashes n words.  Takes two words per multiplication, because each multiplication waits for the one before. */
static inline uint64_t id_cache_key(const uint64_t *words, uint32_t n)
{
	const uint64_t k1 = 0xa0761d6478bd642full, k2 = 0xe7037ed1a0b428dbull;
	uint64_t key = k1 * (2 * ((uint64_t)guest->epoch << 32 | n) + 1);      /* not n itself: a word may equal it */

	for (uint32_t i = 0; i < n; i += 2) {
		__uint128_t product = (__uint128_t)(words[i] ^ k2) * ((i + 1 < n ? words[i + 1] : 0) ^ key);

		key = (uint64_t)product ^ (uint64_t)(product >> 64);
	}
	return key | 1;
}

/* The entry that a key may be in. */
static inline struct id_cache_entry *id_cache_entry(struct id_cache *m, uint64_t key)
{
	struct id_cache_entry *all = MEMORY_TABLE(m->list, ID_CACHE_SIZE);

	return likely(all != NULL) ? &all[key >> 17 & (ID_CACHE_SIZE - 1)] : &m->only;
}

/* Returns the two ids of a key; false: not cached. */
static inline bool id_cache_get(struct id_cache *m, uint64_t key, uint32_t *a, uint32_t *b)
{
	struct id_cache_entry *at = id_cache_entry(m, key);

	if (__atomic_load_n(&at->key, __ATOMIC_ACQUIRE) != key)
		return false;
	*a = __atomic_load_n(&at->a, __ATOMIC_RELAXED);
	*b = __atomic_load_n(&at->b, __ATOMIC_RELAXED);
	/* Both ids are read before the second read of the key, also on processors that reorder reads. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return likely(__atomic_load_n(&at->key, __ATOMIC_RELAXED) == key);
}

/* Stores two ids.  Does nothing if another thread is writing the entry; a concurrent id_cache_get() sees the key change. */
static inline void id_cache_put(struct id_cache *m, uint64_t key, uint32_t a, uint32_t b)
{
	struct id_cache_entry *at = id_cache_entry(m, key);
	uint64_t old = __atomic_load_n(&at->key, __ATOMIC_RELAXED), mark = ID_CACHE_BEING_WRITTEN;

	if (old == mark || !__atomic_compare_exchange_n(&at->key, &old, mark, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&at->a, a, __ATOMIC_RELAXED);
	__atomic_store_n(&at->b, b, __ATOMIC_RELAXED);
	__atomic_store_n(&at->key, key, __ATOMIC_RELEASE);
}

#endif
