"""Phases of training out of what PyTorch announces: docs/reference/torch-reports.md, "Report `phases`"."""
import bisect

from intervals import intersect, length, subtract, union
from operators import ENGINE, nodes_of
from steps import is_launch

PHASES = ("data", "forward", "backward", "optimizer", "zero_grad", "other")
BEGINNINGS = {"data": ("enumerate(DataLoader)#", "enumerate(DataPipe)#"), "optimizer": ("Optimizer.step#",), "zero_grad": ("Optimizer.zero_grad#",),
              "parallel": ("DistributedDataParallel.forward", "FullyShardedDataParallel.forward", "FSDP::root_pre_forward", "FSDP::pre_forward"),
              "scope": ("FSDP::post_forward", "DataParallel.forward", "Torch-Compiled Region"),
              "comm": ("gloo:", "nccl:", "mpi:", "ucc:")}
EVENTS = ("data", "optimizer", "zero_grad")
ACCUMULATE = "torch::autograd::AccumulateGrad"


def mark_of(r):
    if (r.kind == "backward" or r.name == ACCUMULATE) and not r.name.startswith(ENGINE):
        return "node"
    return next((mark for mark, texts in BEGINNINGS.items() if r.name.startswith(texts)), None)


class Event:
    """What bounds the time between: a batch, zero_grad, Optimizer.step; begin and end of a closure; the ends of time."""

    def __init__(self, mark, start, end):
        self.mark, self.start, self.end = mark, start, end


class Marks:
    """Ranges that mean something, of the thread that takes the steps and of those that work for it."""

    def __init__(self, process):
        self.process = process
        self.by = {mark: [] for mark in (*BEGINNINGS, "node")}
        for r in sorted(process.ranges, key=lambda r: (r.start, -r.end)):
            mark = mark_of(r)
            if mark:
                self.by[mark].append(r)
        bounds = [r for mark in self.by if mark != "comm" for r in self.by[mark]]
        count = {t: tuple(sum(r.thread == t for r in self.by[mark]) for mark in ("optimizer", "data")) for t in {r.thread for r in bounds}}
        self.thread = max(count, key=count.get, default=None)
        if not any(count.get(self.thread, ())):     # then the thread of the first
            bounds += [r for r in process.ranges if r.kind == "op" and not r.name.startswith(ENGINE)]
            self.thread = min(bounds, key=lambda r: (r.start, -r.end)).thread if bounds else None
        others = {r.thread for mark in EVENTS for r in self.by[mark]} - {self.thread}
        self.elsewhere = sum(r.thread != self.thread for r in self.by["data"])
        self.comm = union((r.start, r.end) for r in self.by["comm"])
        self.nodes = outermost(r for r in self.by["node"] if r.thread not in others)
        for mark in (*EVENTS, "parallel", "scope"):
            self.by[mark] = [r for r in self.by[mark] if r.thread == self.thread]
        busy = Within((n.start, n.end) for n in self.nodes if n.thread == self.thread)
        self.parallel = [r for r in self.by["parallel"] if not busy.has(r.start)]
        self.scopes = sorted([r for r in self.by["scope"] if not busy.has(r.start)] + self.parallel, key=lambda r: r.start)
        self.operators, self.linked = self.of_forward(busy)

    def of_forward(self, busy):
        """Operators in no other operator, node or event; those of them that made an autograd node, or have one in them that did."""
        made = nodes_of(self.process)
        inner = Within((r.start, r.end) for mark in EVENTS for r in self.by[mark])
        plain = sorted((r for r in self.process.ranges if r.kind == "op" and r.thread == self.thread and mark_of(r) is None and
                        not r.name.startswith(ENGINE)), key=lambda r: (r.start, -r.end))
        tops, linked = [], []
        for r in plain:
            if busy.has(r.start) or inner.has(r.start):
                continue
            if not tops or r.start >= tops[-1].end:
                tops.append(r)
            if id(r) in made and (not linked or linked[-1] is not tops[-1]):
                linked.append(tops[-1])
        return tops, linked

    def is_closure(self, r):
        return any(r.start <= n.start < r.end for n in self.nodes)


class Within:
    """Whether a moment lies in any of some spans."""

    def __init__(self, spans):
        self.spans = union(spans)
        self.starts = [s for s, _ in self.spans]

    def has(self, moment):
        i = bisect.bisect_right(self.starts, moment) - 1
        return i >= 0 and moment < self.spans[i][1]


def outermost(nodes):
    """Nodes that run inside no other of their thread."""
    out, until = [], {}
    for n in nodes:
        if n.start >= until.get(n.thread, n.start):
            until[n.thread] = n.end
            out.append(n)
    return out


def events_of(marks):
    """In order, none inside another; step(closure) is its begin and its end."""
    out, last = [], None
    for mark, r in sorted(((m, r) for m in EVENTS for r in marks.by[m]), key=lambda x: (x[1].start, -x[1].end)):
        if mark == "optimizer" and marks.is_closure(r):
            out += [Event("closure", r.start, r.start), Event("end", r.end, r.end)]
        elif last is None or r.end > last:
            out.append(Event(mark, r.start if last is None else max(r.start, last), r.end))
            last = r.end
    return sorted(out, key=lambda e: (e.start, e.mark != "end"))


class Phases:
    """spans: phase -> set of moments; computed: of backward passes up to the end of their last node."""

    def __init__(self, process):
        self.process, self.marks = process, Marks(process)
        self.parts = {p: [] for p in PHASES[:-1]}
        self.computed, self.closures, self.doubts = [], [], []
        self.highest = {}
        self.fresh, self.doubt = False, None
        self.events = events_of(self.marks)
        self.inference = not self.marks.by["optimizer"]
        self.walk()
        self.judge()
        self.settle()

    # ---- between two events ----

    def walk(self):
        nodes = list(self.marks.nodes)
        events = [None, *self.events, None]
        self.at = None
        for before, after in zip(events, events[1:]):
            if before is not None:
                self.take(before)
            own = []
            while nodes and (after is None or nodes[0].start < after.start):
                own.append(nodes.pop(0))
            self.between(self.passes(own), after)

    def take(self, event):
        if event.mark == "closure":
            self.closures.append([event.start, None])
        elif event.mark == "end":
            self.closures[-1][1] = event.end
        else:
            self.parts[event.mark].append((event.start, event.end))
        self.fresh = event.mark in ("data", "closure") or (self.fresh and event.mark == "zero_grad")
        if event.mark != "zero_grad" or self.fresh:
            self.doubt = None
        self.at = event.end if self.at is None else max(self.at, event.end)

    def passes(self, nodes):
        """A node whose number is above all seen of its forward thread begins a pass."""
        out = []
        for n in nodes:
            above = n.sequence >= 0 and n.sequence > self.highest.get(n.forward_thread, -1)
            if n.sequence >= 0:
                self.highest[n.forward_thread] = max(n.sequence, self.highest.get(n.forward_thread, -1))
            scoped = out and any(out[-1][0].start < r.start <= n.start for r in self.marks.scopes)
            if not out or above or scoped:
                out.append([n])
            else:
                out[-1].append(n)
        return out

    def between(self, passes, after):
        stop = None if after is None else after.start
        for i, nodes in enumerate(passes):
            start, computed = nodes[0].start, max(n.end for n in nodes)
            bounds = [r.start for r in self.marks.scopes if r.start > nodes[0].start]
            bounds += [passes[i + 1][0].start] if i + 1 < len(passes) else [] if stop is None else [stop]
            following = min(bounds, default=None)
            start = start if self.at is None else max(start, self.at)
            self.forward(start)
            end = self.waited(computed, following)
            self.parts["backward"].append((start, end))
            self.computed.append((start, min(computed, end)))
            self.at, self.fresh, self.doubt = end, False, None
        if after is not None and (self.at is None or self.at < stop):
            self.rest(stop, after.mark)

    def in_closure(self):
        return bool(self.closures) and self.closures[-1][1] is None

    def waited(self, end, following):
        """With DDP or FSDP a pass waits for the collectives that begin before the next event."""
        if not self.marks.parallel:
            return end
        begun = [c for c in self.marks.comm if following is None or c[0] < following]
        if not begun or begun[-1][1] <= end:
            return end
        return begun[-1][1] if following is None else min(begun[-1][1], following)

    def shown(self, start, end):
        """Where the forward is shown to begin, since start: at a scope, or at an operator with a node."""
        found = [r.start for r in (*self.marks.scopes, *self.marks.linked) if r.start < end and (start is None or start <= r.start)]
        return min(found, default=None)

    def forward(self, end):
        """In front of a pass that begins at end."""
        shown = None if self.fresh else self.shown(self.at, end)
        start = self.at if shown is None else shown
        if start is not None and start < end:
            if shown is None and self.doubt:
                self.doubts.append((*self.doubt, start, end))
            self.parts["forward"].append((start, end))

    def rest(self, end, mark):
        """In front of an event, with no pass between: from self.at to end."""
        if mark in ("zero_grad", "optimizer") and self.fresh:
            self.parts["forward"].append((self.at, end))
        elif mark in ("data", "closure") and self.fresh:
            seen = [r for r in (*self.marks.scopes, *self.marks.operators) if self.at <= r.start < end]
            if seen:
                self.parts["forward"].append((min(r.start for r in seen), min(max(r.end for r in seen), end)))
        elif mark == "zero_grad":
            shown = self.shown(self.at, end)
            if shown is not None:
                self.parts["forward"].append((shown, end))
                self.fresh = True
            elif self.at is not None and not self.in_closure():
                self.doubt = self.at, end

    # ---- all of them ----

    def judge(self):
        """Most passes decide on which side of zero_grad the forward was."""
        launches = sorted(c.start for c in self.process.calls if is_launch(c))

        def first_is_longer(before, zero, start, end):
            a, b = (bisect.bisect_left(launches, y) - bisect.bisect_left(launches, x) for x, y in ((before, zero), (start, end)))
            return a > b if a or b else zero - before > end - start

        self.doubtful = 2 * sum(first_is_longer(*d) for d in self.doubts) > len(self.doubts)
        self.unknown = union(self.parts["forward"]) if self.doubtful else []
        if self.doubtful:
            self.parts["forward"] = []

    def settle(self):
        self.sets = {p: union(s) for p, s in self.parts.items()}
        closures = union((a, b) for a, b in self.closures if b is not None)
        taken = union([x for p in ("data", "forward", "backward", "zero_grad") for x in self.sets[p]] + self.unknown)
        self.sets["optimizer"] = union([*self.sets["optimizer"], *subtract(closures, taken)])
        self.exposed = subtract(self.marks.comm, union(self.computed))
        seen = {"data": self.marks.by["data"], "backward": self.marks.nodes, "optimizer": self.marks.by["optimizer"],
                "zero_grad": self.marks.by["zero_grad"], "forward": self.parts["forward"], "other": True}
        self.known = {p: bool(seen[p]) for p in PHASES}

    def inside(self, start, end):
        """phase -> its moments between two."""
        span = union([(start, end)])
        out = {p: intersect(self.sets[p], span) for p in PHASES[:-1]}
        out["other"] = subtract(span, union(x for s in out.values() for x in s))
        return out

    def numbers(self, start, end, busy, launched):
        """busy: moments in which the process has something on a GPU; None: no GPU row.  launched: GPU rows of the step."""
        parts = self.inside(start, end)
        out = {p + "_ns": length(parts[p]) if self.known[p] else None for p in PHASES}
        out["comm_host_exposed_ns"] = length(intersect(self.exposed, union([(start, end)]))) if self.marks.by["comm"] else None
        for p in PHASES:
            where = Within(parts[p])
            rows = [(r.start, r.end) for r in launched if r.timed() and where.has(r.call.start)]
            out[p + "_launched_busy_ns"] = length(union(rows)) if rows else None
            idle = None if busy is None or not self.known[p] else length(subtract(parts[p], busy))
            out[p + "_gpu_idle_ns"] = idle
        return out
