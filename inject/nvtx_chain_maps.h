/* What a chained injection calls things, by what we call them. */
#ifndef INJECT_NVTX_CHAIN_MAPS_H
#define INJECT_NVTX_CHAIN_MAPS_H

#include <stdbool.h>

#include "inject/nvtx_abi.h"

/* Handles are small numbers (names.h), so a table of tables serves. */
struct chain_map {
	uint64_t *groups[1024];
};

extern struct chain_map chain_domains, chain_strings, chain_resources, chain_schemas;

void chain_map_set(struct chain_map *m, uint64_t ours, uint64_t theirs);
uint64_t chain_map_get(struct chain_map *m, uint64_t ours);

/*
 * An id for a range that has one with each of us; 0: no room.  False of take: it was not given out, or was taken
 * before.
 */
uint64_t chain_range_put(uint64_t ours, uint64_t theirs);
bool chain_range_take(uint64_t id, uint64_t *ours, uint64_t *theirs);

/* A schema's id as they call it; those of the program are the same. */
uint64_t chain_schema(uint64_t id);

#define CHAIN_PAYLOADS 16u

/* Room for attributes with their handles and schema ids. */
struct chain_attributes {
	struct nvtx_attributes a;
	struct nvtx_payload data[CHAIN_PAYLOADS];
};

const struct nvtx_attributes *chain_attributes(struct chain_attributes *room, const struct nvtx_attributes *a);
/* Of n payloads chain_count(n) are passed on: there is room for no more. */
const struct nvtx_payload *chain_payloads(struct nvtx_payload *room, const struct nvtx_payload *data, size_t n);

static inline size_t chain_count(size_t n)
{
	return n < CHAIN_PAYLOADS ? n : CHAIN_PAYLOADS;
}

static inline const void *chain_domain(const void *domain)
{
	return domain ? (const void *)(uintptr_t)chain_map_get(&chain_domains, (uintptr_t)domain) : NULL;
}

#endif
