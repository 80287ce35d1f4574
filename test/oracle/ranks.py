"""Report `ranks`: docs/reference/numbers.md, "Ranks".  Which collectives of different ranks are one, what each rank waits in them, who is late."""
import json
import math
import re
from collections import Counter, defaultdict

import kineto
from gpu import Work, inside
from intervals import median, percentile
from rows import GpuRow, is_communication
from values import share

ALL, ROOTED, POINT, UNKNOWN = "all", "rooted", "point", "unknown"
FEW_STEPS, FEW_COLLECTIVES = 6, 5
TOLERANCE = 1000000


# ---- names ----

def own_name(name):
    name = name[5:] if name.startswith("void ") else name
    name = name.replace("(anonymous namespace)", "").replace("<unnamed>", "")
    return name.split("<")[0].split("(")[0].lower()


def operation(name):
    """(operation, kind) of a name; docs/reference/numbers.md."""
    name = own_name(name).replace("_", "")
    if "crossdevicereduce" in name or "quickreduce" in name or "nvshmemireduce" in name:
        return "allreduce", ALL
    for word in ("allreduce", "allgather", "reducescatter", "alltoall", "barrier"):
        if word in name:
            return word, ALL
    if "send" in name or "recv" in name:
        return "sendrecv", POINT
    for word in ("broadcast", "gather", "scatter", "reduce"):
        if word in name:
            return word, ROOTED
    return None, UNKNOWN


def announces(name):
    for start in ("nccl:", "rccl:", "c10d::", "nccl", "rccl"):
        if name.startswith(start):
            return operation(name[len(start):]) if operation(name[len(start):])[0] else None
    return None


# ---- one rank ----

class Rank:
    def __init__(self, number, rows, walls, steps_known=True):
        self.number, self.walls, self.steps_known = number, walls, steps_known
        self.work = Work(rows)
        self.collectives = []                   # dicts: op, kind, group, seq, start, duration, step

    def figures(self):
        cut = inside(self.work, self.work.span) if self.work.span else {}
        row = {"rank": self.number, **{name: cut.get(name) for name in ("span_ns", "busy_ns", "comm_ns", "comm_exposed_ns")}}
        row["busy_pct"] = share(cut["busy_ns"], cut["span_ns"]) if cut else None
        if self.steps_known:
            row["steps"], row["wall_ns"] = len(self.walls), median(self.walls) if self.walls else None
        return row


def read_kineto(path, trace=None):
    trace = trace or kineto.read(path)
    events = kineto.load(path)["traceEvents"]
    steps = [r for p in trace.processes for r in p.steps]
    number = trace.processes[0].rank if trace.processes else None
    rank = Rank(number, [r for p in trace.processes for r in p.gpu], [r.end - r.start for r in steps], bool(steps))
    for process in trace.processes:
        add_kineto(rank, process, events, trace.base)
    return rank


def add_kineto(rank, process, events, base):
    ranges = defaultdict(list)
    for r in process.ranges:
        ranges[r.thread].append(r)
    kernels = [row for row in process.gpu if row.kind == "kernel" and row.timed() and is_communication(row.name)]
    for row in kernels:
        when = row.call.start if row.call else None
        around = [r for r in ranges[row.call.thread] if r.start <= when < r.end] if row.call else []
        around.sort(key=lambda r: (-r.start, r.end))                    # the innermost first
        told = [events[x.index].get("args") or {} for x in [row] + around]
        told = next((args for args in told if "Collective name" in args or "Seq" in args), {})
        op, kind = operation(told.get("Collective name", ""))
        found = [announces(r.name) for r in around if announces(r.name)]
        if not op:
            op, kind = found[0] if found else operation(row.name)
        step = [s.name for s in process.steps if when is not None and s.start <= when < s.end]
        group = (told["Process Group Name"], told.get("Process Group Ranks")) if told.get("Process Group Name") else None
        rank.collectives.append({"op": op, "kind": kind, "group": group, "seq": told.get("Seq"), "start": base + row.start,
                                 "duration": row.end - row.start, "step": int(step[0].split("#")[1]) if step else None})


def read_truth(path, numbers):
    """numbers: rank by process id.  The program's steps begin with its broadcast, which it launches first in each."""
    of = {pid: [] for pid in numbers}
    for row in map(json.loads, open(path)):
        if row["type"] in ("kernel", "memcpy", "memset") and row["pid"] in of:
            name = re.sub(r"^_Z\d+", "", row["name"])
            of[row["pid"]].append(GpuRow(row["type"], name, row["start"], row["end"], row["correlation"], row["device"], row["stream"]))
    return [truth_rank(numbers[pid], sorted(rows, key=lambda r: r.start)) for pid, rows in of.items()]


def truth_rank(number, rows):
    rank, step = Rank(number, rows, [], False), -1
    for row in rows:
        op, kind = operation(row.name)
        step += op == "broadcast"
        if op:
            rank.collectives.append({"op": op, "kind": kind, "group": None, "seq": None, "start": row.start,
                                     "duration": row.end - row.start, "step": step})
    return rank


# ---- which are one ----

def match(ranks, kind):
    """A list of ({rank: collective}, step), or the word why not."""
    of = {r.number: sorted((c for c in r.collectives if c["kind"] == kind), key=lambda c: c["start"]) for r in ranks}
    if not any(of.values()):
        return "none"
    by_sequence = all(c["seq"] is not None for r in of.values() for c in r)
    table = defaultdict(dict)
    counts = {r: Counter() for r in of}
    for rank, collectives in of.items():
        seen = Counter()
        for c in collectives:
            key = (c["group"], c["op"], c["seq"] if by_sequence else None)
            table[key + (seen[key],)][rank] = c
            seen[key] += 1
            counts[rank][c["group"], c["op"]] += 1
    for group, op in {k for c in counts.values() for k in c} if not by_sequence else ():
        held = [c[group, op] for c in counts.values() if c[group, op] or group is None]
        if len(set(held)) > 1:
            return "counts"
    out = []
    for parts in table.values():
        if len(parts) < 2:
            continue
        if not by_sequence and max(c["start"] for c in parts.values()) - min(c["start"] + c["duration"] for c in parts.values()) > TOLERANCE:
            return "apart"
        out.append((parts, parts[min(parts)]["step"]))
    return out


# ---- who is late ----

def judge(numbers, matched):
    """Waits by rank, and the verdict."""
    rows = {r: {"collectives": 0, "wait": 0, "last": 0, "step_wait": None} for r in numbers}
    units, in_steps = [], any(step is not None for _, step in matched)
    judged = Counter()
    for parts, step in matched:
        least = min(c["duration"] for c in parts.values())
        waits = {r: c["duration"] - least for r, c in parts.items()}
        for r in waits:
            rows[r]["collectives"] += 1
            rows[r]["wait"] += waits[r]
            rows[r]["last"] += waits[r] == 0 and list(waits.values()).count(0) == 1
        if step is not None or not in_steps:
            units.append((step, waits))
            judged.update(waits.keys())
    steps = sorted({step for step, _ in units if step is not None})
    sums = {r: [sum(w.get(r, 0) for s, w in units if s == step) for step in steps or [None]] for r in numbers}
    between = "steps" if len(steps) >= FEW_STEPS else "collectives"
    for r in judged:
        rows[r]["step_wait"] = median(sums[r]) if between == "steps" else sum(sums[r]) // max(len(steps), 1)
    if len(judged) < 2:
        return rows, "alone"
    if len(set(judged.values())) > 1:
        return rows, "unequal"
    if between == "collectives" and len(units) < FEW_COLLECTIVES:
        return rows, "few"
    late = min(sorted(judged), key=lambda r: rows[r]["step_wait"])
    named, margins = True, []
    for r in judged:
        if r == late:
            continue
        if between == "steps":
            differences = [a - b for a, b in zip(sums[r], sums[late])]
            margin = median(differences)
            noise = percentile([abs(d - margin) for d in differences], 80)
        else:
            differences = [w.get(r, 0) - w.get(late, 0) for _, w in units]
            middle = median(differences)
            margin = rows[r]["step_wait"] - rows[late]["step_wait"]
            noise = 4 * median([abs(d - middle) for d in differences]) * math.ceil(math.sqrt(len(units))) // max(len(steps), 1)
        named &= margin > noise
        margins.append((margin, noise))
    if not named:
        return rows, "nobody"
    margin, noise = min(margins)
    others = [rows[r]["step_wait"] for r in judged if r != late]
    return rows, ("late", late, rows[late]["step_wait"], min(others), max(others), margin, noise, between, len(steps))


# ---- what report `ranks` prints ----

def judged(ranks):
    """(a dict for each rank, the verdict)."""
    for number, rank in enumerate(r for r in ranks if r.number is None):
        rank.number = number
    ranks = sorted(ranks, key=lambda r: r.number)
    matched = match(ranks, ALL)
    waits, verdict = judge([r.number for r in ranks], [] if isinstance(matched, str) else matched)
    rows = []
    for r in ranks:
        w, row = waits[r.number], r.figures()
        none = not w["collectives"]
        row["collectives"] = None if isinstance(matched, str) else w["collectives"]
        row["wait_ns"], row["last"] = (None, None) if none else (w["wait"], w["last"])
        row["step_wait_ns"] = w["step_wait"]
        rows.append(row)
    return rows, (matched,) if isinstance(matched, str) else (verdict,) if isinstance(verdict, str) else verdict


def table(job):
    """For reports.py: the ranks of a job of Kineto files."""
    return judged([read_kineto(path, trace) for path, trace in zip(job.paths, job.traces)])[0]
