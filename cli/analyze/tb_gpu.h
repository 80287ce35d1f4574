/* How busy the GPUs of a run were, for the table and the advice. */
#ifndef ANALYZE_TB_GPU_H
#define ANALYZE_TB_GPU_H

#include "cli/analyze/tb.h"

struct tb_gpu {
	int32_t device;
	uint32_t process;               /* position in model_processes() of one that used it */
	struct spans kernels;           /* of the making */
	double utilization, efficiency; /* shares of the time of all steps; NAN: not known */
	double occupancy;               /* percent */
};

/* By device, those that ran kernels; free() *out.  Their number, or -1: out of memory.  The run has steps. */
int tb_gpus(const struct tb_run *r, struct tb_gpu **out);

/* Its properties, or NULL. */
const struct device_row *tb_device(const struct tb_run *r, const struct tb_gpu *g);

#endif
