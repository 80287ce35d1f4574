"""steps.py DUMP CSV: are the numbers of report steps those of the rows?  For traces whose steps are NVTX ranges called "step N".

DUMP is the output of `gprof-trace dump`, CSV that of `report -r steps -f csv`.  Computed from the definitions in docs/step-reports.md,
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
    return rows


def union(rows):
    total, until = 0, None
    for start, end in sorted((r["start"], r["start"] + r["duration"]) for r in rows):
        if until is None or start > until:
            total, until = total + end - start, end
        elif end > until:
            total, until = total + end - until, end
    return total


def expected(rows, begin):
    steps = sorted((r for r in rows["range"] if re.fullmatch(r"step \d+", r["name"])), key=lambda r: r["start"])
    for number, s in enumerate(steps):
        inside = [c for c in rows["api"] if s["process"] == c["process"] and s["start"] <= c["start"] < s["start"] + s["duration"]]
        ids = {c["corr"] for c in inside}
        gpu = {kind: [r for r in rows[kind] if r["process"] == s["process"] and r["corr"] in ids] for kind in ("kernel", "memcpy", "memset")}
        comm = [r for r in gpu["kernel"] if "nccl" in r["name"]]
        every = [r for kind in gpu.values() for r in kind]
        first, last = min(r["start"] for r in every), max(r["start"] + r["duration"] for r in every)
        yield {
            "step": number, "kind": "", "name": s["name"], "window": 1, "process": s["process"], "start_ns": s["start"] - begin,
            "wall_ns": s["duration"], "gpu_start_ns": first - begin, "gpu_end_ns": last - begin, "gpu_wall_ns": last - first,
            "gpu_busy_ns": union(every), "compute_ns": union(r for r in gpu["kernel"] if r not in comm), "comm_ns": union(comm),
            "memcpy_ns": union(gpu["memcpy"]), "memset_ns": union(gpu["memset"]), "gpu_idle_ns": last - first - union(every),
            "api_ns": sum(c["duration"] for c in inside), "launches": sum("Launch" in c["name"] for c in inside),
            "kernels": len(gpu["kernel"]), "warmup": 0, "complete": 1,
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
