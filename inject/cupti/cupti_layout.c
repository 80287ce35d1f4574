#include "inject/cupti/cupti_layout.h"

#include <stddef.h>

#include "inject/cupti/cupti_abi.h"

/* `since` is a cuptiGetVersion() number: 13 is CUDA 11.0, 18 is 11.8, 28 is 12.9; from 13.0 on it reads xxyyzz.  Newest first. */

static const struct kernel_layout kernels[] = {
	/*  since size node graph cluster */
	{ 130000, 216, 144, 156,  176 },        /* 13.0 */
	{     20, 208, 144, 156,  176 },        /* 12.2 */
	{     18, 200, 144, 156,  176 },        /* 11.8: clusters; 12.0 and 12.1 report 18 as well, and write 208 bytes */
	{     17, 176, 144, 156,    0 },        /* 11.6 */
	{     15, 168, 144, 156,    0 },        /* 11.2 */
	{     14, 160, 144, 156,    0 },        /* 11.1: the graph id is valid */
	{     13, 160, 144,   0,    0 },        /* 11.0 */
};

static const struct memcpy_layout memcpys[] = {
	/*  since size node graph copies */
	{     26,  96,  64,  72,  88 },         /* 12.8: several copies in one record */
	{     17,  88,  64,  72,   0 },         /* 11.6 */
	{     14,  80,  64,  72,   0 },         /* 11.1 */
	{     13,  72,  64,   0,   0 },         /* 11.0 */
};

static const struct memcpy_layout memcpy2s[] = {
	/*  since size node graph copies */
	{     17,  96,  72,  80,   0 },         /* 11.6 */
	{     14,  88,  72,  80,   0 },         /* 11.1 */
	{     13,  80,  72,   0,   0 },         /* 11.0 */
};

static const struct memset_layout memsets[] = {
	/*  since size node graph */
	{     17,  88,  64,  72 },              /* 11.6 */
	{     14,  80,  64,  72 },              /* 11.1 */
	{     13,  72,  64,   0 },              /* 11.0 */
};

static const struct sync_layout syncs[] = {
	/*  since size result */
	{     26,  56,  48 },                   /* 12.8 */
	{     13,  40,   0 },
};

static const struct overhead_layout overheads[] = {
	/*  since size corr data */
	{     22,  56,  40,  48 },              /* 12.4: a pointer to details, which the reader frees */
	{     20,  48,  40,   0 },              /* 12.2 */
	{     13,  40,   0,   0 },
};

static const struct graph_layout graphs[] = {
	{     21,  56,  48 },                   /* 12.3 */
	{     17,  48,   0 },                   /* 11.7 */
};

static const struct memory_layout memories[] = {
	/*  since size used */
	{     24, 128, 112 },                   /* 12.6 */
	{     17, 120, 112 },                   /* 11.6 */
	{     15, 112,   0 },                   /* 11.2 */
};

static const struct memory_layout pools[] = {
	/*  since size used */
	{ 130000,  80,  64 },                   /* 13.0 */
	{     17,  72,  64 },                   /* 11.6 */
	{     15,  64,   0 },                   /* 11.2 */
};

static const struct jit_layout jits[] = {
	{     22,  72,  68 },                   /* 12.4 */
	{     18,  64,   0 },                   /* 11.8 */
};

/* Only the layouts since CUDA 7.0: no supported library writes the older one of 40 bytes. */
static const struct unified_layout unifieds[] = {
	/*  since size processors */
	{     26, 104,  64 },                   /* 12.8 */
	{     13,  64,   0 },
};

/* Only fields that exist since before 11.0 are read.  In device records of 184 bytes or more, the reader frees the name. */
static const struct plain_layout devices[]  = { { 13, 144, 184 } };
static const struct plain_layout contexts[] = { { 13, 16, 0 } };
static const struct plain_layout streams[]  = { { 13, 24, 0 } };

/* A green context's record, up to its number of multiprocessors. */
static const struct plain_layout greens[]   = { { 130200, 24, 0 } };

/* Never enabled; they come with kernels and, up to 12.8, with synchronization. */
static const struct plain_layout cdps[]     = { { 13, 144, 0 } };
static const struct plain_layout events[]   = { { 26, 56, 0 }, { 13, 24, 0 } };
static const struct plain_layout devgraphs[] = { { 26, 56, 0 } };

#define CHOOSE(layout, table)                                                                   \
	for (size_t i_ = 0; i_ < sizeof table / sizeof *table; i_++) {                          \
		if (version >= table[i_].since) {                                               \
			layout = table[i_];                                                     \
			break;                                                                  \
		}                                                                               \
	}

int cupti_layouts_choose(struct cupti_layouts *l, uint32_t version)
{
	*l = (struct cupti_layouts){ 0 };
	CHOOSE(l->kernel, kernels)
	CHOOSE(l->memcpy, memcpys)
	CHOOSE(l->memcpy2, memcpy2s)
	CHOOSE(l->memset, memsets)
	CHOOSE(l->sync, syncs)
	CHOOSE(l->overhead, overheads)
	CHOOSE(l->graph, graphs)
	CHOOSE(l->memory, memories)
	CHOOSE(l->pool, pools)
	CHOOSE(l->jit, jits)
	CHOOSE(l->unified, unifieds)
	CHOOSE(l->device, devices)
	CHOOSE(l->context, contexts)
	CHOOSE(l->stream, streams)
	CHOOSE(l->green, greens)
	CHOOSE(l->cdp, cdps)
	CHOOSE(l->event, events)
	CHOOSE(l->device_graph, devgraphs)
	return l->kernel.since ? 0 : -1;
}

uint32_t cupti_layouts_size(const struct cupti_layouts *l, uint32_t kind)
{
	switch (kind) {
	case KIND_KERNEL:
	case KIND_CONCURRENT_KERNEL:
		return l->kernel.size;
	case KIND_MEMCPY:
		return l->memcpy.size;
	case KIND_MEMCPY2:
		return l->memcpy2.size;
	case KIND_MEMSET:
		return l->memset.size;
	case KIND_SYNC:
		return l->sync.size;
	case KIND_OVERHEAD:
		return l->overhead.size;
	case KIND_JIT:
		return l->jit.size;
	case KIND_MEMORY:
		return l->memory.size;
	case KIND_MEMORY_POOL:
		return l->pool.size;
	case KIND_GRAPH:
		return l->graph.size;
	case KIND_UNIFIED:
		return l->unified.size;
	case KIND_DEVICE:
		return l->device.size;
	case KIND_CONTEXT:
		return l->context.size;
	case KIND_STREAM:
		return l->stream.size;
	case KIND_GREEN_CONTEXT:
		return l->green.size;
	case KIND_CDP_KERNEL:
		return l->cdp.size;
	case KIND_CUDA_EVENT:
		return l->event.size;
	case KIND_DEVICE_GRAPH:
		return l->device_graph.size;
	default:
		return 0;
	}
}
