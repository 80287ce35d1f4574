"""What a Kineto trace says that a program did with its GPUs, and the plan of it for test/programs/play.

Times are ns from the first row on.  Only Python's own JSON reader is used: nothing of the importer.
"""
import collections
import gzip
import json
import re
from decimal import Decimal

CALLS = ("cuda_runtime", "cuda_driver", "Runtime")
KERNEL, MEMCPY, MEMSET, SYNC, GRAPH = 0, 1, 2, 3, 6     # enum op_type of test/sim/engine.h
GPU = {"kernel": KERNEL, "Kernel": KERNEL, "gpu_memcpy": MEMCPY, "Memcpy": MEMCPY, "gpu_memset": MEMSET, "Memset": MEMSET,
       "cuda_sync": SYNC}
COPIES = {"HtoD": 1, "DtoH": 2, "HtoA": 3, "AtoH": 4, "AtoA": 5, "AtoD": 6, "DtoA": 7, "DtoD": 8, "HtoH": 9, "PtoP": 10}
MEMORIES = {"Pageable": 1, "Pinned": 2, "Device": 3, "Array": 4, "Managed": 5, "Host": 1}
SYNCS = {"Event Sync": 1, "Stream Wait Event": 2, "Stream Sync": 3, "Context Sync": 4}
NONE = 2**32 - 1
DRIVER, RUNTIME = 1, 2

# AMD's traces have CUDA graphs, which NVIDIA's here have not: their calls are played as CUDA's.  Domain, callback id, name.
HIP = {
    "hipLaunchKernel": (RUNTIME, 211, "cudaLaunchKernel"), "hipExtLaunchKernel": (RUNTIME, 211, "cudaLaunchKernel"),
    "hipExtModuleLaunchKernel": (DRIVER, 307, "cuLaunchKernel"), "hipModuleLaunchKernel": (DRIVER, 307, "cuLaunchKernel"),
    "hipGraphLaunch": (RUNTIME, 311, "cudaGraphLaunch"), "hipMemcpyAsync": (RUNTIME, 41, "cudaMemcpyAsync"),
    "hipMemcpyWithStream": (RUNTIME, 41, "cudaMemcpyAsync"), "hipMemsetAsync": (RUNTIME, 51, "cudaMemsetAsync"),
    "hipStreamWaitEvent": (RUNTIME, 147, "cudaStreamWaitEvent"), "hipEventSynchronize": (RUNTIME, 137, "cudaEventSynchronize"),
    "hipDeviceSynchronize": (RUNTIME, 165, "cudaDeviceSynchronize"), "hipMalloc": (RUNTIME, 20, "cudaMalloc"),
}
HIP_OTHER = (RUNTIME, 11, "cudaPeekAtLastError")
GRAPH_LAUNCHES = {(RUNTIME, 311), (DRIVER, 514)}

Call = collections.namedtuple("Call", "thread domain cbid name corr start end")
Op = collections.namedtuple("Op", "type start end corr device context stream name grid block registers shared bytes copy src dst value "
                                  "graph node event event_of event_stream")


def ns(v):
    return int((Decimal(v) * 1000).to_integral_value()) if v.__class__ is str else int(v) * 1000


def whole(v, otherwise=0):
    return otherwise if v is None else int(v) % 2**32


def load(path):
    with (gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")) as f:
        return json.load(f, parse_float=str, strict=False)


class Work:
    """calls in the order of each thread, ops as the file has them, streams, names of threads, and the rows of the GPU as they are"""

    def __init__(self, path):
        trace = load(path)
        events = [e for e in trace["traceEvents"] if e.get("ph") == "X" and (e.get("cat") in CALLS or e.get("cat") in GPU)]
        self.path = path
        self.rows = [e for e in events if e["cat"] in GPU]
        self.sms = whole((trace.get("deviceProperties") or [{}])[0].get("numSms"))
        self.zero = min((ns(e["ts"]) for e in events), default=0)
        self.end = max((ns(e["ts"]) + ns(e.get("dur", 0)) for e in events), default=self.zero) - self.zero
        self.threads, self.thread_names = [], []
        self.read_calls([e for e in events if e["cat"] in CALLS], self.names_of_threads(trace))
        self.read_ops()
        self.streams = sorted({(o.device, o.context, s) for o in self.ops for s in (o.stream, o.event_stream) if s != NONE})
        self.streams = self.streams or [(0, 1, 7)]
        self.cuts, self.part = [], {}
        self.contexts = {s[:2] for s in self.streams}
        self.devices = max(s[0] for s in self.streams) + 1

    @staticmethod
    def names_of_threads(trace):
        names = {}
        for e in trace["traceEvents"]:
            if e.get("ph") == "M" and e.get("name") == "thread_name":
                m = re.match(r"thread \d+ \((.*)\)$", e["args"]["name"])
                if m:
                    names[str(e["pid"]), str(e["tid"])] = m[1][:15]
        return names

    def span(self, e):
        start = ns(e["ts"]) - self.zero
        return start, start + ns(e.get("dur", 0))

    # Whole microseconds put calls of one thread at one time; correlation ids count calls.
    def read_calls(self, events, names):
        self.calls = []
        for e in sorted(events, key=lambda e: (ns(e["ts"]), e["args"]["correlation"])):
            thread = str(e["pid"]), str(e["tid"])
            if thread not in self.threads:
                self.threads.append(thread)
                self.thread_names.append(names.get(thread, ""))
            domain, cbid, name = DRIVER if e["cat"] == "cuda_driver" else RUNTIME, e["args"].get("cbid"), e["name"]
            if cbid is None:
                domain, cbid, name = HIP.get(name, HIP_OTHER)
            self.calls.append(Call(self.threads.index(thread), domain, cbid, name, e["args"]["correlation"], *self.span(e)))

    def read_ops(self):
        graphs = {c.corr for c in self.calls if (c.domain, c.cbid) in GRAPH_LAUNCHES}
        nodes = collections.Counter()
        self.ops = []
        for e in self.rows:
            a, kind = e["args"], GPU[e["cat"]]
            corr, graph, node = a["correlation"], 0, 0
            if corr in graphs:          # a node that no trace names: its place in the launch
                nodes[corr] += 1
                graph, node = 1, (1 << 32) + nodes[corr]
            copy = re.match(r"Memcpy (\w+) \((\w+) -> (\w+)\)", e["name"]) if kind == MEMCPY else None
            into = re.match(r"Memset \((\w+)\)", e["name"]) if kind == MEMSET else None
            self.ops.append(Op(
                kind, *self.span(e), corr, whole(a.get("device")), whole(a.get("context"), 1), whole(a.get("stream"), NONE),
                "" if kind in (MEMCPY, MEMSET) else e["name"], tuple(a.get("grid") or (1, 1, 1)), tuple(a.get("block") or (1, 1, 1)),
                whole(a.get("registers per thread")), whole(a.get("shared memory")), int(a.get("bytes") or 0),
                COPIES[copy[1]] if copy else 0, MEMORIES[copy[2]] if copy else 0,
                MEMORIES[copy[3]] if copy else MEMORIES[into[1]] if into else 0, SYNCS[e["name"]] if kind == SYNC else 0,
                graph, node, whole(a.get("wait_on_cuda_event_id"), NONE), a.get("wait_on_cuda_event_record_corr_id", -1),
                whole(a.get("wait_on_stream"), NONE)))

        for corr in nodes:              # a launch as a whole, which CUPTI tells of on request
            of = [o for o in self.ops if o.corr == corr]
            self.ops.append(of[0]._replace(type=GRAPH, start=min(o.start for o in of), end=max(o.end for o in of), name="", node=0))

    def cut(self, n, gap):
        """Makes n parts of it, a gap between them in which all has ended.  Each begins with a correlation id that has none before it."""
        calls = sorted(self.calls, key=lambda c: c.corr)
        edges = []
        for k in range(1, n):
            i = next(i for i in range(len(calls) * k // n, len(calls)) if calls[i - 1].corr < calls[i].corr - 1)
            edges.append(calls[i].corr)
        part = {c.corr: sum(c.corr >= e for e in edges) for c in calls}
        shift, end, self.cuts = [0] * n, 0, []
        rows = [r for r in self.calls + self.ops if r.corr in part]
        for k in range(n):
            here = [r for r in rows if part[r.corr] == k]
            begin = min(r.start for r in here)
            if k:
                shift[k] = end + gap - begin
                self.cuts.append(end + gap // 2)
            end = max(r.end for r in here) + shift[k]
        self.calls, self.ops = ([r._replace(start=r.start + shift[part[r.corr]], end=r.end + shift[part[r.corr]])
                                 for r in of if r.corr in part] for of in (self.calls, self.ops))
        self.part, self.end = part, end

    # ---- the plan: see test/programs/play.c ----

    def write(self, path):
        names = {}

        def number(name):
            return names.setdefault(name.replace("\n", " "), len(names))

        of_call = collections.defaultdict(list)
        for o in self.ops:
            of_call[o.corr].append(o)
        recorded = {o.event_of: o for o in self.ops if o.event_of > 0 and o.event_stream != NONE}
        self.places = {}
        lines = [f"stream {d} {c} {s}" for d, c, s in self.streams]
        lines += [f"cut {t}" for t in self.cuts]
        lines += [f"thread {i} {name}" for i, name in enumerate(self.thread_names)]
        for c in self.calls:
            ops = of_call.pop(c.corr, [])
            device, context, stream, event = self.places[c.corr] = self.place_of(ops, recorded.get(c.corr))
            lines.append(f"call {c.thread} {c.domain} {c.cbid} {c.corr} {c.start} {c.end} {device} {context} {stream} {event} "
                         f"{number(c.name)} {len(ops)}")
            lines += [self.line_of(o, number(o.name)) for o in ops]
        left = sorted((o for ops in of_call.values() for o in ops), key=lambda o: o.start)
        lines += [self.line_of(o, number(o.name)) for o in left]
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(f"name {name}\n" for name in names)
            f.writelines(line + "\n" for line in lines)

    def place_of(self, ops, waited):
        """Where its GPU rows are, or where those that wait for the event that it records say; else the first stream.  And the event."""
        at = next(((o.device, o.context, o.stream) for o in ops if o.stream != NONE), self.streams[0])
        if waited:
            return waited.device, waited.context, waited.event_stream, waited.event
        return (*at, next((o.event for o in ops if o.event != NONE), 0))

    @staticmethod
    def line_of(o, name):
        static = o.shared // 3          # a trace has the sum
        return " ".join(map(str, ("op", o.type, o.start, o.end, o.corr, o.device, o.context, o.stream, name, *o.grid, *o.block,
                                  o.registers, static, o.shared - static, o.bytes, o.copy, o.src, o.dst, o.value, o.graph, o.node, o.event)))
