"""What a process's GPU did in a span of time: docs/reference/numbers.md, "GPU quantities"."""
from intervals import intersect, length, subtract, union
from rows import is_communication


class Work:
    """Unions of GPU rows, made once, cut to a span as often as wanted."""

    def __init__(self, rows):
        timed = [r for r in rows if r.timed()]
        kernels = [r for r in timed if r.kind == "kernel"]
        classes = {name: is_communication(name) for name in {r.name for r in kernels}}
        self.rows = timed
        self.busy = spans(timed)
        self.comm = spans(r for r in kernels if classes[r.name])
        self.compute = spans(r for r in kernels if not classes[r.name])
        self.memcpy = spans(r for r in timed if r.kind == "memcpy")
        self.memset = spans(r for r in timed if r.kind == "memset")
        self.exposed = subtract(self.comm, self.compute)
        self.overlap = intersect(self.comm, self.compute)
        self.graphs = any(r.kind == "graph" for r in timed)
        self.span = [(min(r.start for r in timed), max(r.end for r in timed))] if timed else []


def spans(rows):
    return union((r.start, r.end) for r in rows)


def inside(work, span):
    """busy_ns, idle_ns, compute_ns, comm_ns, comm_exposed_ns, overlap_ns, memcpy_ns, memset_ns inside a span (a set)."""
    cut = {name: length(intersect(getattr(work, name), span))
           for name in ("busy", "compute", "comm", "exposed", "overlap", "memcpy", "memset")}
    out = {"span_ns": length(span), "busy_ns": cut["busy"], "idle_ns": length(span) - cut["busy"], "compute_ns": cut["compute"],
           "comm_ns": cut["comm"], "comm_exposed_ns": cut["exposed"], "overlap_ns": cut["overlap"],
           "memcpy_ns": cut["memcpy"], "memset_ns": cut["memset"]}
    if work.graphs:
        for name in ("compute_ns", "comm_ns", "comm_exposed_ns", "overlap_ns"):
            out[name] = None
    return out
