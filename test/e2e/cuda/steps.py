"""steps.py DUMP CSV: are the numbers of report steps those of the rows?  For traces whose steps are NVTX ranges called "step N".

DUMP is the output of `gprof-trace dump`, CSV that of `report -r steps -f csv`.  Computed from the definitions in docs/reference/numbers.md,
interval by interval, without anything of ours.  Prints what differs; 1 if anything does.
"""
import collections
import csv
import re
import sys

FIELD = re.compile(r' ([a-z_0-9]+)=("(?:[^"\\]|\\.)*"|\S*)')


def read(path):
    rows = collections.defaultdict(list)
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        row = {k: v.strip('"') for k, v in FIELD.findall(line)}
        for k in ("start", "duration", "corr", "process", "number"):
            if k in row:
                row[k] = int(row[k])
        rows[line.split(" ", 1)[0]].append(row)
    # A process that execs is one process with the number of its first image.
    first = {}
    for p in rows["process"]:
        first[p["pid"]] = min(p["number"], first.get(p["pid"], p["number"]))
    same = {p["number"]: first[p["pid"]] for p in rows["process"]}
    for kind in rows:
        for row in rows[kind]:
            row["process"] = same.get(row.get("process"), row.get("process"))
    return rows


def intervals(rows):
    return [(r["start"], r["start"] + r["duration"]) for r in rows]


def union(spans):
    total, until = 0, None
    for start, end in sorted(spans):
        if until is None or start > until:
            total, until = total + end - start, end
        elif end > until:
            total, until = total + end - until, end
    return total


def inside(rows, start, end):
    return [(max(a, start), min(b, end)) for a, b in intervals(rows) if a < end and b > start]


def expected(rows, begin):
    steps = sorted((r for r in rows["range"] if re.fullmatch(r"step \d+", r["name"])), key=lambda r: r["start"])
    kinds = ("kernel", "memcpy", "memset")
    for number, s in enumerate(steps):
        start, end = s["start"], s["start"] + s["duration"]
        calls = [c for c in rows["api"] if s["process"] == c["process"] and start <= c["start"] < end]
        ids = {c["corr"] for c in calls}
        of = {kind: [r for r in rows[kind] if r["process"] == s["process"]] for kind in kinds}
        launched = [r for kind in kinds for r in of[kind] if r["corr"] in ids]
        kernels = sum(r["corr"] in ids for r in of["kernel"])
        comm = inside((r for r in of["kernel"] if "nccl" in r["name"]), start, end)
        compute = inside((r for r in of["kernel"] if "nccl" not in r["name"]), start, end)
        busy = union(inside((r for kind in kinds for r in of[kind]), start, end))
        yield {
            "step": number, "kind": "", "name": s["name"], "window": 1, "process": s["process"], "start_ns": start - begin,
            "wall_ns": s["duration"], "gpu_busy_ns": busy, "gpu_idle_ns": s["duration"] - busy,
            "compute_ns": union(compute), "comm_ns": union(comm), "comm_exposed_ns": union(compute + comm) - union(compute),
            "memcpy_ns": union(inside(of["memcpy"], start, end)), "memset_ns": union(inside(of["memset"], start, end)),
            "launched_start_ns": min(r["start"] for r in launched) - begin,
            "launched_end_ns": max(r["start"] + r["duration"] for r in launched) - begin,
            "launched_busy_ns": union(intervals(launched)),
            "api_ns": sum(c["duration"] for c in calls), "launches": sum("Launch" in c["name"] for c in calls),
            "kernels": kernels, "warmup": 0, "complete": 1,
        }


def main():
    rows = read(sys.argv[1])
    got = list(csv.DictReader(open(sys.argv[2], encoding="utf-8")))
    # When the session started is not among the rows: the first step says it, and all others must agree.
    first = min(r["start"] for r in rows["range"] if re.fullmatch(r"step \d+", r["name"]))
    want = list(expected(rows, first - int(got[0]["start_ns"])))
    wrong = abs(len(want) - len(got))
    for a, b in zip(want, got):
        for key in b:
            if str(a[key]) != b[key]:
                print("step", b["step"], key, "is", b[key], "not", a[key])
                wrong += 1
    print(len(want), "steps")
    sys.exit(wrong > 0)


main()
