"""Which function says what a report must print, and why a column has none."""
import json

import operators
import sums
import tables
import jobs
import ranks
import more

OF_TRACE, OF_JOB = "trace", "job"


class Report:
    """rows(job) gives dicts, or None: nothing is computed for such a trace.  key: the columns that tell rows apart; without: column ->
    why nothing is computed for it."""

    def __init__(self, rows, key, scope=OF_TRACE, without=None):
        self.rows, self.key, self.scope, self.without = rows, key, scope, without or {}


FLOPS = {"flops": "test/e2e/pytorch-operators-are-those-of-torch-profiler.sh and pytorch-convolutions-...sh hold them against "
                  "torch.utils.flop_counter",
         "flop_per_s": "flops over GPU time, which is compared"}
NUMBERED = "what the importer and the collector call it"
STREAM = ("rank", "device", "stream")


def by_name(job):
    return operators.table(job.processes(), lambda r: r.name)


def by_shape(job):
    for row in operators.table(job.processes(), lambda r: (r.name, shapes(r))):
        row["name"], row["input_dims"] = row["name"]
        yield row


def shapes(r):
    """As the file writes them, without spaces."""
    return None if not r.shapes or r.kind == "user" else json.dumps(r.shapes)


def steps(job):
    """As the file marks them; where it marks none, begin and length on the host are those printed, and the rest follows from the rows."""
    trace = job.traces[0]
    if any(p.steps for p in trace.processes):
        return tables.steps(trace, job.numbers)
    return tables.given_steps(trace, job.printed, job.zero, job.numbers)


def phases(job):
    return more.phases(job) if any(p.steps for p in job.processes()) else None


def of_ranks(function, *more):
    return lambda job: function(job.ranks(), *more)


REPORTS = {
    "cuda_gpu_kern_sum": Report(lambda job: sums.kernel_sum(job.processes()), ("Name",)),
    "cuda_api_sum": Report(lambda job: sums.api_sum(job.processes()), ("Name",)),
    "cuda_gpu_mem_time_sum": Report(lambda job: sums.memory_time(job.processes()), ("Operation",)),
    "cuda_gpu_mem_size_sum": Report(lambda job: sums.memory_size(job.processes()), ("Operation",)),
    "cuda_gpu_trace": Report(lambda job: tables.gpu_trace(job.traces[0]), ("CorrId", "Name", "Strm")),
    "occupancy": Report(lambda job: tables.occupancy(job.traces[0]),
                        ("name", "device", "grid", "block", "registers_per_thread", "shared_bytes")),
    "processes": Report(lambda job: tables.processes(job.traces[0]), ("pid",)),
    "ops": Report(by_name, ("name",), without=FLOPS),
    "steps": Report(steps, ("process", "step", "kind")),
    "ranks": Report(ranks.table, ("rank",), OF_JOB, without={"process": NUMBERED, "host": NUMBERED, "name": "the file's"}),
    "phases": Report(phases, ("process", "step")),
    "windows": Report(more.windows, ("process",)),
    "cuda_devices": Report(more.devices, ("pid", "device")),
    "call_sites": Report(more.call_sites, ("name",)),
    "ops_by_shape": Report(by_shape, ("name", "input_dims"), without=FLOPS),
    "temporal": Report(of_ranks(jobs.temporal), ("rank",), OF_JOB),
    "overlap": Report(of_ranks(jobs.overlap), ("rank",), OF_JOB),
    "idle": Report(of_ranks(jobs.idle), (*STREAM, "reason"), OF_JOB),
    "idle_intervals": Report(of_ranks(jobs.idle_intervals), (*STREAM, "reason"), OF_JOB),
    "launch_delays": Report(of_ranks(jobs.launch_delays), ("rank", "correlation"), OF_JOB),
    "launch_delay_sum": Report(of_ranks(jobs.launch_delay_sum), ("rank",), OF_JOB),
    "queue_length": Report(of_ranks(jobs.queue_length), STREAM, OF_JOB),
    "queue_length_series": Report(of_ranks(jobs.queue_series), (*STREAM, "queue_length"), OF_JOB),
    "queue_full": Report(of_ranks(jobs.queue_full), STREAM, OF_JOB),
    "memory_bandwidth": Report(of_ranks(jobs.bandwidth), ("rank", "name"), OF_JOB),
    "memory_bandwidth_series": Report(of_ranks(jobs.bandwidth_series), ("rank", "name"), OF_JOB),
    "kernel_breakdown": Report(of_ranks(jobs.kernel_breakdown), ("name", "rank", "kernel_type"), OF_JOB),
    "kernel_breakdown_top10": Report(of_ranks(jobs.top10), ("name", "rank", "kernel_type"), OF_JOB),
    "kernel_types": Report(of_ranks(jobs.kernel_types), ("kernel_type",), OF_JOB),
    "kernel_types_no_memory": Report(of_ranks(jobs.kernel_types, False), ("kernel_type",), OF_JOB),
    "aten_kernels": Report(of_ranks(operators.launched), ("rank", "operator", "kernels"), OF_JOB),
    "gpu_annotations": Report(of_ranks(jobs.annotations, "gpu"), ("name", "rank"), OF_JOB),
    "cpu_annotations": Report(of_ranks(jobs.annotations, "cpu"), ("name", "rank"), OF_JOB),
}

# Reports that do not print what is defined yet: looked at when they are named alone.
PENDING = set()
