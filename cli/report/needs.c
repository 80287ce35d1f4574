/* The rows that each report needs, and the option of gprof-run that records them. */
#include "cli/report/parts/report.h"

#include "cli/model/model.h"
#include "cli/model/steps/steps.h"
#include "cli/model/torch/torch.h"
#include "trace/records.h"

static const struct {
	unsigned char kinds[5];         /* ROW_ kinds, 0 ends the list; rows of any one of them are enough */
	const char *what, *option;      /* option of gprof-run that records the rows; NULL: there is none */
} needs[] = {
	[NEED_GPU] = { { ROW_kernel, ROW_memcpy, ROW_memset, ROW_graph }, "GPU rows", "-t cuda" },
	[NEED_KERNELS] = { { ROW_kernel }, "kernels", "-t cuda" },
	[NEED_COPIES] = { { ROW_memcpy, ROW_memset }, "copies or memory sets", "-t cuda" },
	[NEED_CALLS] = { { ROW_api }, "CUDA calls", "-t cuda" },
	[NEED_SYNC] = { { ROW_sync }, "waits for the GPU", "-t cuda" },
	[NEED_EVENTS] = { { ROW_event_elapsed }, "times between CUDA events", "-t cuda" },
	[NEED_GRAPHS] = { { ROW_graph_node, ROW_graph }, "CUDA graphs", NULL },
	[NEED_RANGES] = { { ROW_range, ROW_gpu_range }, "ranges", "-t cuda,nvtx" },
	[NEED_GPU_RANGES] = { { ROW_gpu_range }, "annotations on the GPU, which only files of torch.profiler have", NULL },
	[NEED_RANGE_STACKS] = { { ROW_range_stack }, "call stacks of ranges", "--nvtx-backtrace" },
	[NEED_PAYLOADS] = { { ROW_payload }, "NVTX payloads", "-t cuda,nvtx" },
	[NEED_RESOURCES] = { { ROW_resource }, "names of resources", "-t cuda,nvtx" },
	[NEED_STEPS] = { { 0 }, "steps", "--step" },
	[NEED_STACKS] = { { ROW_stack }, "call stacks", "--cudabacktrace=all, --python-launch-site or -s cpu" },
	[NEED_SAMPLES] = { { ROW_sample }, "CPU samples", "-s cpu" },
	[NEED_TORCH] = { { 0 }, "PyTorch ranges", "-t cuda,nvtx,torch" },
	[NEED_OPS] = { { ROW_op }, "PyTorch operators", "-t cuda,nvtx,torch-ops" },
	[NEED_MODULES] = { { ROW_modules }, "nn.Modules", "--torch-modules" },
	[NEED_ALLOC] = { { ROW_alloc }, "allocations of PyTorch", "--torch-memory" },
	[NEED_MEMORY] = { { ROW_memory }, "memory allocations", "--cuda-memory-usage=true" },
	[NEED_UNIFIED] = { { ROW_unified }, "unified memory transfers or faults", "--cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true" },
	[NEED_JIT] = { { ROW_jit, ROW_module }, "compilations or modules", "-t cuda,nvtx,cuda-jit" },
};

const char *report_lacks(const struct report *r, struct model *m, const char **option)
{
	const unsigned char *kinds = needs[r->needs].kinds;

	*option = NULL;
	if (r->needs == NEED_NOTHING)
		return NULL;
	for (size_t i = 0; i < sizeof needs->kinds && kinds[i]; i++)
		if (model_rows(m, kinds[i]))
			return NULL;
	if (r->needs == NEED_STEPS) {
		const struct steps *s = model_steps(m);

		if (s && s->n)
			return NULL;
	}
	if (r->needs == NEED_TORCH && model_has_torch(m))
		return NULL;
	*option = needs[r->needs].option;
	return needs[r->needs].what;
}
