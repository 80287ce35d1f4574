#include "inject/nvtx/nvtx_chain_maps.h"

#include "inject/core/memory.h"
#include "trace/payload.h"

#define GROUP  1024u
#define RANGES 65536u           /* most start/end ranges open at once */

struct chain_map chain_domains, chain_strings, chain_resources, chain_schemas;

static struct pair {
	uint64_t id;                    /* 0: free, 1: being written */
	uint64_t ours, theirs;
} *ranges;

static uint64_t *place(struct chain_map *m, uint64_t ours, bool make)
{
	uint64_t **group, *none = NULL, *fresh;

	if (ours / GROUP >= 1024)
		return NULL;
	group = &m->groups[ours / GROUP];
	if (!__atomic_load_n(group, __ATOMIC_ACQUIRE)) {
		fresh = make ? memory_take(GROUP * sizeof **group) : NULL;
		if (!fresh)
			return NULL;
		__atomic_compare_exchange_n(group, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	}
	return __atomic_load_n(group, __ATOMIC_ACQUIRE) + ours % GROUP;
}

void chain_map_set(struct chain_map *m, uint64_t ours, uint64_t theirs)
{
	uint64_t *at = place(m, ours, true);

	if (at)
		__atomic_store_n(at, theirs, __ATOMIC_RELEASE);
}

uint64_t chain_map_get(struct chain_map *m, uint64_t ours)
{
	uint64_t *at = place(m, ours, false);

	return at ? __atomic_load_n(at, __ATOMIC_ACQUIRE) : 0;
}

uint64_t chain_range_put(uint64_t ours, uint64_t theirs)
{
	static uint64_t count;
	struct pair *all = MEMORY_TABLE(ranges, RANGES);

	for (uint32_t tries = 0; all && tries < RANGES; tries++) {
		uint64_t n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED), free = 0;
		struct pair *p = &all[n % RANGES];

		if (!__atomic_compare_exchange_n(&p->id, &free, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		p->ours = ours;
		p->theirs = theirs;
		/*
		 * The id names the slot and the round, so that it differs from earlier ids of the same slot.  It is at least RANGES, so
		 * never 0 or 1.
		 */
		__atomic_store_n(&p->id, n + RANGES, __ATOMIC_RELEASE);
		return n + RANGES;
	}
	return 0;
}

bool chain_range_take(uint64_t id, uint64_t *ours, uint64_t *theirs)
{
	struct pair *all = __atomic_load_n(&ranges, __ATOMIC_ACQUIRE), *p = all ? &all[id % RANGES] : NULL;

	if (!p || id < RANGES || !__atomic_compare_exchange_n(&p->id, &id, 1, false, __ATOMIC_ACQ_REL,
	    __ATOMIC_RELAXED))
		return false;
	*ours = p->ours;
	*theirs = p->theirs;
	__atomic_store_n(&p->id, 0, __ATOMIC_RELEASE);
	return true;
}

uint64_t chain_schema(uint64_t id)
{
	return id >= PAYLOAD_DYNAMIC_ID ? chain_map_get(&chain_schemas, id - PAYLOAD_DYNAMIC_ID) : id;
}

const struct nvtx_payload *chain_payloads(struct nvtx_payload *room, const struct nvtx_payload *data, size_t n)
{
	if (!data)
		return NULL;
	for (size_t i = 0; i < chain_count(n); i++) {
		room[i] = data[i];
		room[i].schema = chain_schema(data[i].schema);
	}
	return room;
}

const struct nvtx_attributes *chain_attributes(struct chain_attributes *room, const struct nvtx_attributes *a)
{
	size_t n;

	if (!a || a->size < sizeof *a || (a->message_type != NVTX_REGISTERED &&
	    a->payload_type != NVTX_PAYLOAD_EXTENDED))
		return a;
	room->a = *a;
	room->a.size = sizeof room->a;
	if (a->message_type == NVTX_REGISTERED)
		room->a.message.registered = (const void *)(uintptr_t)chain_map_get(&chain_strings,
			(uintptr_t)a->message.registered);
	if (a->payload_type == NVTX_PAYLOAD_EXTENDED && a->payload && a->reserved > 0) {
		n = (size_t)a->reserved;
		room->a.payload = (uint64_t)(uintptr_t)chain_payloads(room->data, (const void *)(uintptr_t)a->payload,
			n);
		room->a.reserved = (int32_t)chain_count(n);
	}
	return &room->a;
}
