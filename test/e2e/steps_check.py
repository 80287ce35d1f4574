"""steps_check.py TRACE.json.gz STEPS.csv PHASES.csv: GPU columns of both reports against the trace itself.

Busy, idle, compute, communication and exposed communication of each step, as unions of the intervals in the file, clipped to the
step; and the phases' idle time, which must add up to the step's.  Prints what differs; 1 if anything does.
"""
import csv
import gzip
import json
import os
import re
import sys
from decimal import Decimal

COMM = re.compile(r"nccl|rccl|nvshmem|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all", re.I)


def ns(us):
    return int(Decimal(str(us)) * 1000)


def union(spans):
    out = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def inside(spans, start, end):
    return sum(min(b, end) - max(a, start) for a, b in spans if a < end and b > start)


def read(path):
    found = {"kernel": [], "gpu_memcpy": [], "gpu_memset": []}
    first = None
    for e in json.load(gzip.open(path))["traceEvents"]:
        if e.get("ph") == "X" and e.get("cat", "").lower() in found:
            start = ns(e["ts"])
            found[e["cat"].lower()].append((start, start + ns(e["dur"]), re.split(r"[<(]", e["name"].removeprefix("void "))[0]))
        if e.get("ph") == "X" and e["name"].startswith("ProfilerStep#") and e.get("cat") in ("user_annotation", "cpu_op"):
            first = min(ns(e["ts"]), first or ns(e["ts"]))
    comm = union((a, b) for a, b, name in found["kernel"] if COMM.search(name))
    compute = union((a, b) for a, b, name in found["kernel"] if not COMM.search(name))
    return first, comm, compute, union((a, b) for rows in found.values() for a, b, _ in rows)


def length(spans):
    return sum(b - a for a, b in spans)


def main():
    path, steps, phases = sys.argv[1], *(list(csv.DictReader(open(f))) for f in sys.argv[2:])
    first, comm, compute, busy = read(path)
    either, wrong, total, exposed = union(map(tuple, comm + compute)), 0, 0, 0
    # Without annotations nothing says where on the file's clock a step begins: then the two reports alone are compared.
    begin = first - int(steps[0]["start_ns"]) if first is not None else None
    for s in steps:
        idle = sum(int(p[name] or 0) for p in phases if p["step"] == s["step"] and p["process"] == s["process"]
                   for name in p if name.endswith("_gpu_idle_ns"))
        want = {"gpu_idle_ns": idle}
        if begin is not None:
            start = begin + int(s["start_ns"])
            end = start + int(s["wall_ns"])
            want = {"gpu_busy_ns": inside(busy, start, end), "compute_ns": inside(compute, start, end),
                    "comm_ns": inside(comm, start, end),
                    "comm_exposed_ns": inside(either, start, end) - inside(compute, start, end)}
            want["gpu_idle_ns"] = end - start - want["gpu_busy_ns"]
            if idle != want["gpu_idle_ns"]:
                print("step", s["step"], "phases are idle for", idle, "not", want["gpu_idle_ns"])
                wrong += 1
        for key, value in want.items():
            if int(s[key]) != value:
                print("step", s["step"], key, "is", s[key], "not", value)
                wrong += 1
        total, exposed = total + int(s["comm_ns"]), exposed + int(s["comm_exposed_ns"])
    print("%s: %d steps, communication %.1f ms per step, %d %% exposed" % (
        os.path.basename(os.path.dirname(path)), len(steps), total / len(steps) / 1e6, 100 * exposed / max(total, 1)))
    sys.exit(wrong > 0)


main()
