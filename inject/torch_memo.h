/* Ids of what was seen before, by a hash of it: looked up without a lock, written by one at a time, forgotten by a forked child. */
#ifndef INJECT_TORCH_MEMO_H
#define INJECT_TORCH_MEMO_H

#include <stdbool.h>
#include <string.h>

#include "inject/stream.h"

#define MEMO_SIZE 2048u                 /* a power of two */
#define MEMO_BEING_WRITTEN 2u           /* no key: those are odd */

struct torch_memo {
	struct {
		uint64_t key;
		uint32_t a, b;
	} list[MEMO_SIZE];
	uint32_t epoch;                 /* of the process that it is of */
};

/* Two words a multiplication: each waits for the one before. */
static inline uint64_t memo_key(const uint64_t *words, uint32_t n)
{
	const uint64_t k1 = 0xa0761d6478bd642full, k2 = 0xe7037ed1a0b428dbull;
	uint64_t key = k1 * (2 * (uint64_t)n + 1);     /* not n itself: a word may be it */

	for (uint32_t i = 0; i < n; i += 2) {
		__uint128_t product = (__uint128_t)(words[i] ^ k2) * ((i + 1 < n ? words[i + 1] : 0) ^ key);

		key = (uint64_t)product ^ (uint64_t)(product >> 64);
	}
	return key | 1;
}

static inline uint32_t memo_place(uint64_t key)
{
	return key >> 17 & (MEMO_SIZE - 1);
}

static inline bool memo_get(struct torch_memo *m, uint64_t key, uint32_t *a, uint32_t *b)
{
	uint32_t i = memo_place(key);

	if (unlikely(m->epoch != guest->epoch)) {
		memset(m->list, 0, sizeof m->list);
		m->epoch = guest->epoch;
	}
	if (__atomic_load_n(&m->list[i].key, __ATOMIC_ACQUIRE) != key)
		return false;
	*a = m->list[i].a;
	*b = m->list[i].b;
	return likely(__atomic_load_n(&m->list[i].key, __ATOMIC_ACQUIRE) == key);
}

/* Who reads meanwhile finds another key before or after. */
static inline void memo_put(struct torch_memo *m, uint64_t key, uint32_t a, uint32_t b)
{
	uint32_t i = memo_place(key);
	uint64_t old = __atomic_load_n(&m->list[i].key, __ATOMIC_RELAXED);

	if (old == MEMO_BEING_WRITTEN || !__atomic_compare_exchange_n(&m->list[i].key, &old, MEMO_BEING_WRITTEN, false, __ATOMIC_ACQ_REL,
								      __ATOMIC_RELAXED))
		return;
	m->list[i].a = a;
	m->list[i].b = b;
	__atomic_store_n(&m->list[i].key, key, __ATOMIC_RELEASE);
}

#endif
