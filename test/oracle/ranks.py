"""The quantities of report `ranks` from original data, by the definitions of docs/numbers.md; shares nothing with the C sources.

    ranks.py kineto FILE...                 files of torch.profiler, one rank each
    ranks.py truth FILE RANK=PID...         a simulator's truth file (SIM_TRUTH)

Prints a row for each rank (CSV), then "verdict,..." with the late rank, or why there is none.
"""
import gzip
import json
import math
import sys
from collections import Counter, defaultdict
from decimal import Decimal

ALL, ROOTED, POINT, UNKNOWN = "all", "rooted", "point", "unknown"
FEW_STEPS, FEW_COLLECTIVES = 6, 5
TOLERANCE = 1000000
COLUMNS = "rank,steps,wall_ns,span_ns,busy_ns,comm_ns,comm_exposed_ns,collectives,wait_ns,step_wait_ns,last".split(",")


# ---- names ----

def own_name(name):
    name = name[5:] if name.startswith("void ") else name
    name = name.replace("(anonymous namespace)", "").replace("<unnamed>", "")
    return name.split("<")[0].split("(")[0].lower()


def operation(name):
    """(operation, kind) of a name; docs/numbers.md."""
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


def communicates(name):
    name = own_name(name)
    words = ("ncclkernel", "nccldevkernel", "rccl", "msccl", "nvshmem", "cross_device_reduce", "quickreduce", "allreduce", "all_reduce",
             "allgather", "all_gather", "reducescatter", "reduce_scatter", "alltoall", "all_to_all", "deep_ep::", "userbuffers")
    return not name.startswith("triton_") and (name.startswith("nccl") or any(word in name for word in words))


# ---- sets of intervals ----

def union(intervals):
    out = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def length(intervals):
    return sum(end - start for start, end in union(intervals))


def minus(a, b):
    """Length of what is in a and not in b."""
    return length(a + b) - length(b)


def nearest_rank(values, percent):
    return sorted(values)[max(-(-len(values) * percent // 100) - 1, 0)]


# ---- one rank ----

class Rank:
    def __init__(self, number):
        self.number = number
        self.gpu, self.kernels = [], []         # (start, end); (start, end, name)
        self.walls = []
        self.collectives = []                   # dicts: op, kind, group, seq, start, duration, step

    def figures(self):
        comm = [(s, e) for s, e, name in self.kernels if communicates(name)]
        compute = [(s, e) for s, e, name in self.kernels if not communicates(name)]
        span = max(e for _, e in self.gpu) - min(s for s, _ in self.gpu)
        return [len(self.walls), nearest_rank(self.walls, 50) if self.walls else "", span, length(self.gpu), length(comm), minus(comm, compute)]


def ns(value):
    return int(Decimal(value) * 1000)


def read_kineto(path):
    with (gzip.open(path) if path.endswith(".gz") else open(path, "rb")) as f:
        document = json.load(f, parse_float=Decimal)
    events = [e for e in document["traceEvents"] if e.get("ph") == "X" and "cat" in e]
    rank = Rank(document.get("distributedInfo", {}).get("rank"))
    base = int(document.get("baseTimeNanoseconds", 0))
    calls, ranges, steps = {}, defaultdict(list), []
    for e in events:
        start, end = base + ns(e["ts"]), base + ns(e["ts"]) + max(ns(e.get("dur", 0)), 0)
        if e["cat"] in ("cuda_runtime", "cuda_driver"):
            calls[e["args"].get("correlation")] = (e["pid"], e["tid"], start)
        if e["cat"] in ("cpu_op", "user_annotation"):
            ranges[e["pid"], e["tid"]].append((start, end, e))
        if e["cat"] == "user_annotation" and e["name"].startswith("ProfilerStep#"):
            steps.append((start, end, int(e["name"].split("#")[1])))
            rank.walls.append(end - start)
        if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
            rank.gpu.append((start, end))
        if e["cat"] == "kernel":
            rank.kernels.append((start, end, e["name"]))
    for e in events:
        if e["cat"] == "kernel" and communicates(e["name"]):
            add_kineto(rank, e, base, calls, ranges, steps)
    return rank


def add_kineto(rank, event, base, calls, ranges, steps):
    pid, tid, when = calls.get(event["args"].get("correlation"), (None, None, None))
    around = [e for start, end, e in ranges.get((pid, tid), []) if start <= when < end or start == when]
    around.sort(key=lambda e: -Decimal(e["ts"]))                        # the innermost first
    told = [e["args"] for e in [event] + around if "Collective name" in e.get("args", {}) or "Seq" in e.get("args", {})]
    told = told[0] if told else {}
    found = [announces(e["name"]) for e in around if announces(e["name"])]
    if operation(told.get("Collective name", ""))[0]:
        op, kind = operation(told["Collective name"])
    elif found:
        op, kind = found[0]
    else:
        op, kind = operation(event["name"])
    step = [number for start, end, number in steps if when is not None and start <= when < end]
    group = (told.get("Process Group Name"), told.get("Process Group Ranks")) if told.get("Process Group Name") else None
    rank.collectives.append({"op": op, "kind": kind, "group": group, "seq": told.get("Seq"), "start": base + ns(event["ts"]),
                             "duration": ns(event["dur"]), "step": step[0] if step else None})


def read_truth(path, pids):
    """All kernels; the program's steps begin with its broadcast, which it launches first in each."""
    ranks = {pid: Rank(number) for number, pid in pids}
    rows = [json.loads(line) for line in open(path)]
    for row in sorted((r for r in rows if r["type"] in ("kernel", "memcpy", "memset") and r["pid"] in ranks), key=lambda r: r["start"]):
        rank = ranks[row["pid"]]
        rank.gpu.append((row["start"], row["end"]))
        if row["type"] != "kernel":
            continue
        name = row["name"]
        rank.kernels.append((row["start"], row["end"], name.lstrip("_Z0123456789")))
        op, kind = operation(name)
        rank.step = getattr(rank, "step", -1) + (op == "broadcast")
        if op:
            rank.collectives.append({"op": op, "kind": kind, "group": None, "seq": None, "start": row["start"],
                                     "duration": row["end"] - row["start"], "step": rank.step})
    return list(ranks.values())


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
        rows[r]["step_wait"] = nearest_rank(sums[r], 50) if between == "steps" else sum(sums[r]) // max(len(steps), 1)
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
            margin = nearest_rank(differences, 50)
            noise = nearest_rank([abs(d - margin) for d in differences], 80)
        else:
            differences = [w.get(r, 0) - w.get(late, 0) for _, w in units]
            middle = nearest_rank(differences, 50)
            margin = rows[r]["step_wait"] - rows[late]["step_wait"]
            noise = 4 * nearest_rank([abs(d - middle) for d in differences], 50) * math.ceil(math.sqrt(len(units))) // max(len(steps), 1)
        named &= margin > noise
        margins.append((margin, noise))
    if not named:
        return rows, "nobody"
    margin, noise = min(margins)
    others = [rows[r]["step_wait"] for r in judged if r != late]
    return rows, ("late", late, rows[late]["step_wait"], min(others), max(others), margin, noise, between, len(steps))


def main():
    if sys.argv[1] == "kineto":
        ranks = [read_kineto(path) for path in sys.argv[2:]]
    else:
        ranks = read_truth(sys.argv[2], [tuple(int(n) for n in pair.split("=")) for pair in sys.argv[3:]])
    ranks.sort(key=lambda r: r.number)
    matched = match(ranks, ALL)
    rows, verdict = judge([r.number for r in ranks], [] if isinstance(matched, str) else matched)
    if isinstance(matched, str):
        verdict = matched
    print(",".join(COLUMNS))
    for r in ranks:
        row = rows[r.number]
        none = not row["collectives"]
        waits = ["" if isinstance(matched, str) else row["collectives"], "" if none else row["wait"],
                 "" if row["step_wait"] is None else row["step_wait"], "" if none else row["last"]]
        print(",".join(str(v) for v in [r.number] + r.figures() + waits))
    print("verdict," + ",".join(str(v) for v in ((verdict,) if isinstance(verdict, str) else verdict)))


if __name__ == "__main__":
    main()
