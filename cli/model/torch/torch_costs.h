/* Costs of each PyTorch range: host time, GPU time, floating point operations. */
#ifndef CLI_MODEL_TORCH_TORCH_COSTS_H
#define CLI_MODEL_TORCH_TORCH_COSTS_H

#include "cli/model/torch/torch.h"

enum torch_flops {
	FLOPS_UNCOUNTED,                /* no formula, or inside an operator that is counted */
	FLOPS_KNOWN,
	FLOPS_UNSHAPED,                 /* shapes were not recorded */
	FLOPS_OPEN,                     /* shapes do not suffice: a convolution without its other inputs */
};

struct torch_cost {
	int64_t host, self;             /* ns; self: without its direct children */
	int64_t gpu, self_gpu;          /* ns: sum of the GPU rows launched in it; self: without those launched in its children */
	uint64_t flops;
	enum torch_flops counted;
};

/*
 * Costs by position in model_torch()'s list; free() them.  forwards: torch_forwards().  *gpu: whether the trace has GPU rows.  NULL: out of
 * memory.
 */
struct torch_cost *torch_costs_make(struct model *m, const struct torch_ranges *t, const uint32_t *forwards, bool *gpu);

#endif
