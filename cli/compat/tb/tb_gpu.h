/* Utilization of the GPUs of a run, for tb_gpu_summary and tb_recommendations. */
#ifndef CLI_COMPAT_TB_TB_GPU_H
#define CLI_COMPAT_TB_TB_GPU_H

#include "cli/compat/tb/tb.h"

struct tb_gpu {
	int32_t device;
	uint32_t process;               /* position in model_processes() of a process that used it */
	struct spans kernels;           /* used by tb_gpus() only */
	double utilization, efficiency; /* shares (0 .. 1) of the time of all steps; NAN: not known */
	double occupancy;               /* percent; NAN: not known */
	double tensor;                  /* percent of the time of kernels that operators started; NAN: not known */
};

/*
 * The GPUs of a run that ran kernels, by device, into *out, which the caller frees.  The run must have steps.  tree NULL: without .tensor.
 * Returns their number, or -1 when out of memory.
 */
int tb_gpus(const struct tb_run *r, const struct tb_tree *tree, struct tb_gpu **out);

/* Properties of the GPU, or NULL: not in the trace. */
const struct device_row *tb_device(const struct tb_run *r, const struct tb_gpu *g);

#endif
