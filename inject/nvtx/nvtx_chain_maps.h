/* Maps this profiler's NVTX handles and ids to those of the chained injection library.  Any thread; no locks. */
#ifndef INJECT_NVTX_NVTX_CHAIN_MAPS_H
#define INJECT_NVTX_NVTX_CHAIN_MAPS_H

#include <stdbool.h>

#include "inject/nvtx/nvtx_abi.h"

/* Two-level table indexed by handle: handles are small numbers (names.h).  Entries are never removed. */
struct chain_map {
	uint64_t *groups[1024];
};

extern struct chain_map chain_domains, chain_strings, chain_resources, chain_schemas;

/* Stores or looks up a handle.  Without memory, or for an unknown handle, chain_map_get() returns 0. */
void chain_map_set(struct chain_map *m, uint64_t ours, uint64_t theirs);
uint64_t chain_map_get(struct chain_map *m, uint64_t ours);

/*
 * chain_range_put() returns a new id for a start/end range that both injections know, 0 when the table is full.  chain_range_take() frees
 * the id and returns both range ids; false if the id is unknown or already taken.
 */
uint64_t chain_range_put(uint64_t ours, uint64_t theirs);
bool chain_range_take(uint64_t id, uint64_t *ours, uint64_t *theirs);

/* Translates a dynamic schema id; ids that the program chose itself are returned unchanged. */
uint64_t chain_schema(uint64_t id);

#define CHAIN_PAYLOADS 16u

/* Buffer for a copy of attributes with translated handles and schema ids. */
struct chain_attributes {
	struct nvtx_attributes a;
	struct nvtx_payload data[CHAIN_PAYLOADS];
};

/* Returns `a`, or a copy of it in *room whose handles and schema ids are translated. */
const struct nvtx_attributes *chain_attributes(struct chain_attributes *room, const struct nvtx_attributes *a);
/* As chain_attributes(), for n payloads; room has CHAIN_PAYLOADS elements, so only the first chain_count(n) are copied. */
const struct nvtx_payload *chain_payloads(struct nvtx_payload *room, const struct nvtx_payload *data, size_t n);

/* How many of n payloads are passed on. */
static inline size_t chain_count(size_t n)
{
	return n < CHAIN_PAYLOADS ? n : CHAIN_PAYLOADS;
}

/* Translates a domain handle; NULL, the default domain, stays NULL. */
static inline const void *chain_domain(const void *domain)
{
	return domain ? (const void *)(uintptr_t)chain_map_get(&chain_domains, (uintptr_t)domain) : NULL;
}

#endif
