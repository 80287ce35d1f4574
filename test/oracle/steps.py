"""Numbers of one step: what its calls launched, and what the GPU did inside of it."""
import bisect

from gpu import Work, inside
from intervals import length, union

KERNEL_CALLS = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernelMultiDevice",
                "cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel", "hipLaunchKernel", "hipExtLaunchKernel",
                "hipExtModuleLaunchKernel", "hipModuleLaunchKernel", "hipHccModuleLaunchKernel", "hipLaunchCooperativeKernel",
                "hipExtLaunchMultiKernelMultiDevice", "cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch")


class Steps:
    """The steps of one process: (start, end) each, in order."""

    def __init__(self, process, spans):
        self.process, self.spans = process, spans
        self.starts = [s for s, _ in spans]
        self.work = Work(process.gpu)
        self.calls = [[] for _ in spans]
        self.launched = [[] for _ in spans]
        for call in process.calls:
            i = self.at(call.start)
            if i is not None:
                self.calls[i].append(call)
        for row in process.gpu:
            i = self.at(row.call.start) if row.call is not None else None
            if i is not None:
                self.launched[i].append(row)

    def at(self, moment):
        i = bisect.bisect_right(self.starts, moment) - 1
        return i if i >= 0 and moment < self.spans[i][1] else None

    def numbers(self, i):
        start, end = self.spans[i]
        wall = end - start
        cut = inside(self.work, [(start, end)] if wall else [])
        rows = [r for r in self.launched[i] if r.timed()]
        has_gpu = bool(self.work.rows)
        out = {"wall_ns": wall, "gpu_busy_ns": cut["busy_ns"], "gpu_idle_ns": wall - cut["busy_ns"]}
        for name in ("compute_ns", "comm_ns", "comm_exposed_ns", "memcpy_ns", "memset_ns"):
            out[name] = cut[name]
        if not has_gpu:
            out = {k: (v if k == "wall_ns" else None) for k, v in out.items()}
        out["launched_start_ns"] = min(r.start for r in rows) if rows else None
        out["launched_end_ns"] = max(r.end for r in rows) if rows else None
        out["launched_busy_ns"] = length(union((r.start, r.end) for r in rows)) if rows else None
        out["api_ns"] = sum(c.end - c.start for c in self.calls[i]) if self.process.calls else None
        known = self.process.calls or self.process.gpu
        out["launches"] = sum(is_launch(c) for c in self.calls[i]) if known else None
        out["kernels"] = sum(r.kind == "kernel" for r in self.launched[i]) if known else None
        return out


def is_launch(call):
    """A call that launches a kernel or a graph, by its name."""
    name = call.name.split("_v")[0].split("_ptsz")[0].split("_spt")[0]
    return name in KERNEL_CALLS
