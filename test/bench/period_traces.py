"""period_traces.py PROGRAM FILE|FOLDER...: the steps that PROGRAM (period_feed) finds in Kineto traces whose step marks it is not shown.

Prints one line a file: launches, true steps, steps found, right ones (within 2 % of a step's launches), and the period.  True is where
a ProfilerStep#N begins, or, without them, what follows the end of an Optimizer.step.  Traces of less than three steps are left out.
"""
import bisect
import gzip
import json
import os
import subprocess
import sys
import zlib

CALLS = ("cuda_runtime", "runtime", "cuda_driver")
WORK = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
OPTIMIZER, COPY_IN, GRAPH = 4, 2, 1
OPTIMIZERS = ("multi_tensor_apply", "fusedadam", "adamw", "sgd_", "lamb_")


def events_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        data = json.load(f)
    return [e for e in (data if isinstance(data, list) else data["traceEvents"]) if e.get("ph") == "X"]


def number(text):
    return zlib.crc32(text.encode()) + 1


def calls_of(events, hints):
    """(start, end, is a launch, line for the program), by start; times in ns."""
    work = {}
    for e in events:
        if e.get("cat", "").lower() in WORK:
            work[e.get("args", {}).get("correlation")] = e
    calls = []
    for e in events:
        if e.get("cat", "").lower() not in CALLS:
            continue
        start = round(e["ts"] * 1000)
        end = start + round(e["dur"] * 1000)
        w = work.get(e.get("args", {}).get("correlation"))
        graph = "GraphLaunch" in e["name"]
        if w is None and not graph:
            calls.append((start, end, False, f"- {end}"))
            continue
        name = "graph" if graph else w["name"]
        args = w.get("args", {}) if w else {}
        flags = GRAPH if graph else 0
        if "HtoD" in name:
            flags |= COPY_IN
        if hints and any(word in name.lower() for word in OPTIMIZERS):
            flags |= OPTIMIZER
        config = number(str([args.get(k) for k in ("grid", "block", "bytes", "shared memory")]))
        calls.append((start, end, True, f"{number(name)} {config} {start} {end} {number(str(e['tid'])) % 2**32} {flags}"))
    calls.sort(key=lambda c: c[0])
    return calls


def true_steps(events):
    marks = [e for e in events if e["name"].startswith("ProfilerStep#") and e.get("cat") != "gpu_user_annotation"]
    if marks:
        return sorted({round(e["ts"] * 1000) for e in marks})
    return sorted(round((e["ts"] + e["dur"]) * 1000) for e in events if e["name"].startswith("Optimizer.step#"))[:-1]


def right_ones(truth, found):
    sizes = sorted(b - a for a, b in zip(truth, truth[1:]))
    tolerance = sizes[len(sizes) // 2] * 2 // 100
    right, left = 0, list(found)
    for t in truth:
        near = [f for f in left if abs(f - t) <= tolerance]
        if near:
            left.remove(near[0])
            right += 1
    return right


def find(program, calls):
    lines = "\n".join(c[3] for c in calls) + "\n"
    out = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    return [int(line.split()[1]) for line in out if line.startswith("step")], out[-1].split()


def files_in(paths):
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith((".json", ".json.gz")))
        else:
            yield path


def main():
    program = sys.argv[1]
    print(f"{'trace':27} {'launches':>8} {'steps':>6} | {'found':>6} {'right':>6} {'period':>7} {'sure':>5} | optimizers by name: found, right")
    for path in files_in(sys.argv[2:]):
        try:
            events = events_of(path)
            marks = true_steps(events)
        except (ValueError, KeyError, TypeError):
            continue        # another kind of file
        calls = calls_of(events, False)
        starts = [c[0] for c in calls if c[2]]
        truth = [bisect.bisect_left(starts, t) for t in marks]
        if len(truth) < 3 or len(starts) < 10 * len(truth):
            continue
        found, known = find(program, calls)
        named, _ = find(program, calls_of(events, True))
        print(f"{os.path.basename(os.path.dirname(path))[:27]:27} {len(starts):8} {len(truth):6} | {len(found):6} {right_ones(truth, found):6} "
              f"{known[1]:>7} {known[6]:>5} | {len(named):25} {right_ones(truth, named):6}")


if __name__ == "__main__":
    main()
