"""Reports that take little: phases where no rule is needed, call sites without stacks, devices, ranks."""
from fractions import Fraction

from intervals import intersect, length, union
from phases import Phases
from sums import by
from tables import steps_of
from steps import Steps
from values import near


def issued(process):
    """The moments in which a call that issues a collective runs, on any thread."""
    return union((r.start, r.end) for r in process.ranges if r.name.startswith(("nccl:", "gloo:")))


def phases(job):
    printed = {(r["process"], r["step"]) for r in job.printed.rows}
    for p in job.traces[0].processes:
        made, comm, rule = Steps(p, steps_of(p)), issued(p), Phases(p)
        trains = any(r.kind == "backward" or r.name.startswith("Optimizer.step#") for r in p.ranges)
        for i, mark in enumerate(p.steps):
            process, step = job.numbers.get(p.pid), int(mark.name.split("#")[1])
            if (str(process), str(step)) not in printed:
                continue                # PyTorch announced nothing in it
            numbers = made.numbers(i)
            yield {"process": process, "step": step, "kind": "train" if trains else "inference", "wall_ns": numbers["wall_ns"], "comm_ns": numbers["comm_ns"],
                   "comm_exposed_ns": numbers["comm_exposed_ns"],
                   "comm_host_ns": length(intersect(comm, [(mark.start, mark.end)])) if comm else None,
                   **rule.numbers(mark.start, mark.end, made.work.busy if made.work.rows else None, made.launched[i])}


def windows(job):
    """A file is one window of each process."""
    for p in job.processes():
        steps = {"steps": len(p.steps)} if p.steps else {}
        yield {**steps, "process": job.numbers.get(p.pid), "window": 1, "complete": 1, "kernels": sum(r.kind == "kernel" for r in p.gpu),
               "api_calls": len(p.calls)}


def devices(job):
    """Kernels of each device that the file describes."""
    for p in sorted(job.processes(), key=lambda p: -len(p.calls))[:1]:
        for number, facts in p.devices.items():
            capability = "%d.%d" % (facts["computeMajor"], facts["computeMinor"]) if "computeMajor" in facts else None
            yield {"pid": p.pid, "device": number, "sm_count": facts.get("numSms"), "cc": capability,
                   "kernels": sum(r.kind == "kernel" and r.device == number for r in p.gpu), "name": facts.get("name"),
                   "memory_mb": near(Fraction(facts["totalGlobalMem"], 10 ** 6)) if facts.get("totalGlobalMem") else None}


def call_sites(job):
    """Without stacks each function is one site."""
    groups = by((c for p in job.processes() for c in p.calls), lambda c: c.name)
    for name, calls in groups.items():
        times = [c.end - c.start for c in calls]
        yield {"name": name, "total_ns": sum(times), "name_pct": near(100 if sum(times) else 0), "calls": len(calls),
               "mean_ns": near(Fraction(sum(times), len(times)), 1), "max_ns": max(times), "call_site": None}
