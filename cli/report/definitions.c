/* What the columns of each report mean, below its table: docs/reference/numbers.md in one line each. */
#include "cli/compat/hta/hta.h"
#include "cli/report/all.h"

#define OF_GPU \
	"comm: union of the communication kernels (NCCL and the like), also while compute kernels run\n" \
	"comm_exposed: the part of comm in which no compute kernel runs; the GPU only communicates\n"

#define OF_OPS \
	"host: host time of the calls, operators inside them included; self_host: without those\n" \
	"gpu: duration of the GPU rows launched by the operator and the operators inside it; self_gpu: launched by itself\n" \
	"backward: host time of the autograd nodes that the operator created; backward_gpu: their GPU time; host and gpu do not contain them\n" \
	"flops: floating point operations, counted from the shapes of the inputs\n" \
	"rows are sorted by self_gpu, then by self_host"

#define IDLE_REASONS \
	"reason: of the launch that ended the gap; host_wait: it was called after the gap began; kernel_wait: before, and the gap is below " \
	"30 us; other: before, and the gap is longer; unknown: its call was not recorded"

#define KERNEL_TYPES "kernel_type: memory: copies and memory sets; whole graph: a CUDA graph recorded as one row"

#define BREAKDOWN \
	"gpu: duration of the rank's GPU rows with this name; count: their number; mean, min, max: of one row\n" \
	KERNEL_TYPES

#define TYPES \
	"time: time in which GPU rows of exactly these types run, added up over all ranks\n" \
	KERNEL_TYPES

#define WAITING "launches that were called and have not started on the GPU"

#define MEDIAN_OF_TWO "the median of an even number is the mean of the two middle ones"

static const struct {
	const struct report *report;
	const char *lines;
} definitions[] = {
	{ &report_steps,
	  "wall: from the step's start to its end on the host\n"
	  "gpu_busy: time in the step in which at least one GPU row (kernel, copy, memory set) runs, whichever step launched it; gpu_idle: wall minus gpu_busy\n"
	  "compute: union of the kernels that do not communicate; memcpy: of copies\n"
	  OF_GPU
	  "api: time in CUDA calls on the host, of all threads, waiting for the GPU included; launches: number of calls that launch kernels\n"
	  "launched_start, launched_end, launched_busy: first start, last end and union of the GPU rows that the step launched" },
	{ &report_phases,
	  "wall: from the step's start to its end on the host; data, forward, backward, optimizer, zero_grad and other add up to it\n"
	  "phases are host times; on a GPU, forward and backward launch kernels that may run later\n"
	  "data: the step's thread fetches the batch (DataLoader); forward: the model; backward: autograd's nodes; optimizer: Optimizer.step()\n"
	  "other: the rest of wall, such as waiting for the GPU (loss.item()); kind: train or inference\n"
	  OF_GPU
	  "a phase is -: nothing of it was recorded, so its time is part of another phase; a note above says why\n"
	  "data_gpu_idle, forward_gpu_idle, backward_gpu_idle, optimizer_gpu_idle, other_gpu_idle: no GPU row runs, in that phase" },
	{ &report_temporal,
	  "busy: at least one GPU row (kernel, copy, memory set) runs; idle: span minus busy\n"
	  "compute: union of the kernels that do not communicate; memcpy, memset: of copies, of memory sets\n"
	  OF_GPU
	  "why the GPU is idle: gprof-trace report -r idle_stacks (what the CPU did; needs -s cpu), -r idle (gaps of each stream)" },
	{ &report_overlap,
	  "comm: time in which communication kernels run\n"
	  "overlap: the part of comm in which a compute kernel runs too\n"
	  "overlap_pct: the larger, the better; communication is hidden behind compute\n"
	  "comm_exposed: comm minus overlap" },
	{ &report_cuda_gpu_kern_occupancy,
	  "gpu: duration of the kernels with this name and launch configuration; count: their number; mean: gpu divided by count\n"
	  "limited_by: the resource that leaves no room for a further block; blocks_per_sm: blocks that a multiprocessor holds at once\n"
	  "waves: blocks of the grid divided by the blocks that the whole GPU holds at once; below 1 a part of the GPU has no block\n"
	  "grid, block: blocks of the grid, threads of a block (x y z); shared: static and dynamic shared memory of a block" },
	{ &report_cuda_graph_kern_sum,
	  "gpu: duration of the kernels launched by CUDA graphs; count: their number\n"
	  "mean, median, min, max, stddev: of the duration of one kernel; " MEDIAN_OF_TWO "\n"
	  "captured_in: the NVTX ranges that were open when the kernel was captured, the outermost first" },
	{ &report_cuda_sync_sum,
	  "total: time of the waits; count: their number\n"
	  "mean, median, min, max, stddev: of one wait; " MEDIAN_OF_TWO },
	{ &report_lib_api_sum,
	  "total: host time of the calls, calls inside them included; calls: their number\n"
	  "mean, median, min, max, stddev: of one call; " MEDIAN_OF_TWO },
	{ &report_cuda_events,
	  "start: when the program asked, since the session's start\n"
	  "elapsed: time between the two events as the program read it (cudaEventElapsedTime); difference: elapsed minus recorded\n"
	  "first_at, second_at: when the GPU reached the events, since the session's start; stream: that of the second event" },
	{ &report_cuda_mem_usage,
	  "memory_kind: Device, Pinned, Managed and the like, as CUPTI tells it; (pool): allocated from a memory pool\n"
	  "peak: the most memory allocated at once; peak_at: when, since the session's start; left: not released at the end\n"
	  "largest: the largest allocation; allocated: sum of all allocations\n"
	  "allocations, releases: their number" },
	{ &report_cuda_devices,
	  "mig: GPU instance, compute instance and UUID of the MIG device that the process uses; no: the whole GPU\n"
	  "sm_count: multiprocessors; memory: of the device; l2: size of its L2 cache; clock_mhz: its highest clock; cc: compute capability\n"
	  "kernels: those that the process launched on the device" },
	{ &report_cuda_jit,
	  "start: since the session's start; duration: time of the compilation or of the access to the cache\n"
	  "entry: what was translated into what; size: of the code; cache: folder of the driver's cache" },
	{ &report_nvtx_payloads,
	  "start: of the payload, since the session's start; event: it came with the begin or end of a range, or with a mark\n"
	  "schema, field, value: as the program declared them; range: domain:name of the range or mark" },
	{ &report_nvtx_resources,
	  "start: when the name was given, since the session's start\n"
	  "id: number of the device, stream or context in this trace; handle: the program's handle; name: what the program calls it" },
	{ &report_health,
	  "count: how often the reason occurred; first, last: when, since the session's start\n"
	  "detail, next: below each row: where it occurred, and what to do" },
	{ &report_overhead,
	  "count: how often it was done; total: time of all; mean: total divided by count\n"
	  "the program waits for the sum, and not for rows of other threads; steps and ranges contain the part that falls into them" },
	{ &report_ops, OF_OPS },
	{ &report_ops_by_shape, OF_OPS },
	{ &report_ops_by_stack, OF_OPS },
	{ &report_modules,
	  "host: host time of the module's calls, modules inside it included; self_host: without those\n"
	  "gpu: duration of the GPU rows launched in the module; self_gpu: not in a module inside it\n"
	  "backward, backward_gpu: host and GPU time of the backward nodes that belong to the module" },
	{ &report_idle_stacks,
	  "samples: CPU samples of the main thread while the GPU was idle; their stack is below each row\n"
	  "call: time in CUDA calls made with this stack while the GPU was idle" },
	{ &report_ranks,
	  "wall: median duration of a step on the host; span: from the first to the last GPU row\n"
	  OF_GPU
	  "wait: how much longer the rank's collectives took than the shortest of the same collective; step_wait: in one step\n"
	  "last: number of collectives that this rank entered last" },
	{ &report_cpu_sum,
	  "self_samples: the function itself ran; total_samples: it or a function that it called" },
	{ &report_launch_sites,
	  "gpu: duration of the kernels launched by the line; kernels: their number; mean: of one kernel\n"
	  "launches: calls that launched them; names: different kernels; kernel: the one with the most GPU time" },
	{ &report_windows,
	  "cause: what began the window; start: since the session's start; duration: from its start to its end on the host\n"
	  "steps, kernels, api_calls: number in the window; complete: 1, or 0 where the end of the window is missing" },
	{ &report_critical_path,
	  "time: length of the segments of this kind on the path; segments: their number\n"
	  "most: the longest time of one name, added up over its segments; mostly: that name" },
	{ &report_critical_path_segments,
	  "start: of the segment, since the step's start; duration: of the segment\n"
	  "kind: what the step did or waited for; where: on which thread or stream" },
	{ &report_queue_length,
	  "launches: launches on the stream\n"
	  "mean, median, p95, max: queue depth after a launch: " WAITING ", this one included" },
	{ &report_queue_length_series,
	  "time: of a change, since the session's start; queue_length: " WAITING ", after the change" },
	{ &report_queue_full,
	  "full: time in which 1024 launches or more wait in the stream's queue" },
	{ &report_idle,
	  "idle: time in which no GPU row of the stream runs, between two of its rows; other streams may be busy\n" IDLE_REASONS },
	{ &report_idle_intervals,
	  "count: gaps between GPU rows of the stream; mean, min, median, p95, max: length of one gap\n" IDLE_REASONS },
	{ &report_kernel_breakdown, BREAKDOWN },
	{ &report_kernel_breakdown_top10, BREAKDOWN "\nname: others: all other names of the type in one row" },
	{ &report_kernel_types, TYPES },
	{ &report_kernel_types_no_memory, TYPES },
	{ &report_gpu_annotations,
	  "total: duration of the annotations with this name on the GPU; count: their number; mean, min, max: of one annotation" },
	{ &report_cpu_annotations,
	  "total: duration of the annotations with this name on the host; count: their number; mean, min, max: of one annotation" },
	{ &report_lines,
	  "a row: the line of a call stack, which is the innermost Python line of the user's code, else the innermost line of any code\n"
	  "gpu: duration of the kernels launched by the line; launches: their launches\n"
	  "bytes: copied by calls of the line; blocked: host time in CUDA calls of the line\n"
	  "python_samples, native_samples: CPU samples whose innermost frame is Python, or native\n"
	  "source -: the trace does not have the text of the file" },
	{ &report_stacks,
	  "gpu: duration of the GPU rows launched with this stack; kernels: kernels launched; bytes: copied\n"
	  "call: host time of the CUDA calls made with this stack; calls: their number; samples: CPU samples\n"
	  "ranges, range: number and duration of the NVTX ranges that began with this stack" },
	{ &report_call_sites,
	  "total: host time of the function's calls from this line; calls: their number; mean, max: of one call\n"
	  "call_site: the line of the program that made the calls" },
	{ &report_range_sites,
	  "total: duration of the ranges that began at this line; instances: their number; mean, max: of one range\n"
	  "begun_at: the line of the program that began the ranges" },
	{ &report_aten_kernels,
	  "count: runs of the operator that launched these kernels in this order\n"
	  "call_delay: mean time from the start of the operator to the start of its first launch call\n"
	  "gpu_delay: mean time from the start of that call to the start of its kernel" },
	{ &report_kernel_sequences,
	  "count: how often these kernels follow each other below the operator\n"
	  "gpu: duration of the kernels; host: host time of the operators; pattern: operator|kernel|kernel, of the first rank" },
	{ &report_compare_traces,
	  "control_count, control: number and duration of the rows with this name in a step of the first trace\n"
	  "test_count, test: of the second trace; diff_count, diff: second trace minus first trace\n"
	  "change: +, - or =: the name occurs more often, less often or as often in the second trace" },
	{ &report_ops_diff,
	  "change: how often the name occurs in the second trace, compared with the first trace" },
	{ &report_memory_bandwidth_series,
	  "time: of a change, since the session's start; gb_per_s: bytes divided by duration, of all copies of this kind that run after "
	  "the change" },
	{ &report_memory_by_category,
	  "ts: time of a change, as in the file; all other columns: memory of the category after the change" },
	{ &report_launch_delay_sum,
	  "call: time in launch calls on the host; gpu: duration of the GPU rows that they launched\n"
	  "delay: from the end of a launch call to the start of its GPU row; 0 if the row starts earlier" },
	{ &report_launch_delays,
	  "call: duration of the launch call on the host; gpu: duration of the GPU rows that it launched\n"
	  "delay: from the end of the call to the start of its first GPU row; 0 if the row starts earlier" },
	{ &report_processes,
	  "wall: from when the process was first seen to its end; cpu: user and system time of all its threads" },
	{ &report_torch_memory,
	  "peak: the most memory handed out at once; peak_at: when, since the session's start; peak_in: the range at that time\n"
	  "left: not freed at the end" },
	{ &report_memory_bandwidth,
	  "time: union of the copies of this kind; gb_per_s: bytes divided by time; median_gb_per_s, max_gb_per_s: of single copies" },
	{ &report_cuda_gpu_kern_sum,
	  "Instances: runs of the kernel on the GPU; Avg, Med: mean and median duration of one run" },
	{ &report_cuda_api_sum,
	  "times are those of the calls on the host: a launch call returns without waiting for its kernel; in a Synchronize call the host waits "
	  "for the GPU" },
	{ &report_cuda_gpu_mem_time_sum,
	  "Count: copies or memory sets; times are those on the GPU" },
};

const char *report_definitions(const struct report *r)
{
	for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
		if (definitions[i].report == r)
			return definitions[i].lines;
	return NULL;
}
