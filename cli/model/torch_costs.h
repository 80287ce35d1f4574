/* What each of PyTorch's ranges cost: on the host, on the GPU, in floating point operations. */
#ifndef MODEL_TORCH_COSTS_H
#define MODEL_TORCH_COSTS_H

#include "cli/model/torch.h"

enum torch_flops {
	FLOPS_UNCOUNTED,                /* no formula, or it is part of an operator that counts */
	FLOPS_KNOWN,
	FLOPS_UNSHAPED,                 /* shapes were not recorded */
	FLOPS_OPEN,                     /* they do not say it: of a convolution the other inputs are not known */
};

struct torch_cost {
	int64_t host, self;             /* ns; self without the ranges directly in it */
	int64_t gpu, self_gpu;          /* ns: sums of what ran on GPUs, launched in it; self: not launched in one of those */
	uint64_t flops;
	enum torch_flops counted;
};

/* By position in model_torch()'s list; free() it.  *gpu: the trace has rows of GPUs.  NULL: out of memory. */
struct torch_cost *torch_costs_make(struct model *m, const struct torch_ranges *t, const uint32_t *forwards, bool *gpu);

#endif
