#!/usr/bin/env python3
"""play_check.py [-x SPEED] [-o OPTION]... [--profiled] [--parts N] TRACE...: real work, done again on the simulated GPU under gprof-run; is the recording the original?

Each TRACE (Kineto JSON) is a process of one run.  GPU rows have to be those of the trace in every field that both have, their times after
one shift and division by SPEED; calls equal in name, thread, order and correlation.  With SIM_TRUTH set, what the simulator dropped or
left without a time is taken off, and has to be counted.  --profiled: the program profiles itself meanwhile, and must have every row, too;
with --parts in every second one of N parts, between which it waits for its GPU.
Prints what was compared; exits 1 at the first difference.
"""
import argparse
import collections
import glob
import json
import os
import re
import shlex
import subprocess
import sys

from play_work import DRIVER, GPU, GRAPH, KERNEL, MEMCPY, MEMSET, NONE, RUNTIME, SYNC, Work

TOP = os.environ["GPROF_TOP"]
PROGRAMS = os.environ["GPROF_BUILD"] + "/test/programs/"
KINDS = {KERNEL: "kernel", MEMCPY: "memcpy", MEMSET: "memset", SYNC: "sync", GRAPH: "graph"}
FIELD = re.compile(r' ([a-z_0-9]+)=("(?:[^"\\]|\\.)*"|\S+)')
TRUTH = {"kernel": KERNEL, "memcpy": MEMCPY, "memset": MEMSET, "sync": SYNC}
EARLY_NS = 200000               # test/sim/player.c does not sleep for less than half of it
YIELD = "--cupti=yield"
WHOLE_GRAPHS = "--cuda-graph-trace=graph"
GAP_NS = 20000000               # of real time, between parts
CLOCK_NS = 20000                # times of one clock in terms of another: what two readings of both may be apart


def differ(what, want, got):
    sys.exit(f"{what}: recorded are {got}, not {want}")


def same(what, want, got):
    """Two multisets."""
    missing, more = collections.Counter(want), collections.Counter(got)
    missing.subtract(got)
    missing, more = +missing, more - collections.Counter(want)
    if missing or more:
        differ(f"{what}: {sum(missing.values())} of {len(want)} are missing, {sum(more.values())} more",
               sorted(missing.items(), key=str)[:3], sorted(more.items(), key=str)[:3])


# ---- the run ----

def record(works, program, speed, options):
    plans = []
    for i, work in enumerate(works):
        plans.append(f"plan{i}")
        work.write(plans[-1])
    command = [PROGRAMS + program, plans[0], str(speed)]
    if len(works) > 1:
        each = " ".join(map(shlex.quote, plans))
        command = ["sh", "-c", f"for p in {each}; do {shlex.quote(command[0])} $p {speed} & done; wait"]
    env = dict(os.environ, SIM_DEVICES=str(max(w.devices for w in works)))
    done = subprocess.run(["gprof-run", "-q", "-f", "-o", "t", *options, "--", *command], env=env, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"the program ended with status {done.returncode}")
    played, threads, handles = {}, collections.defaultdict(dict), collections.defaultdict(dict)
    for line in done.stdout.decode().splitlines():
        word = line.split(" ")
        if word[0] == "played":
            work = works[plans.index(word[2])]
            work.plan, work.pid, work.base, work.late = word[2], int(word[1]), int(word[3]), int(word[4])
            played[work.pid] = work
        elif word[0] == "thread":
            threads[int(word[1])][int(word[3])] = int(word[2])
            handles[int(word[1])][int(word[2])] = int(word[4])
    if len(played) != len(works):
        differ("processes that played to the end", len(works), len(played))
    return played, threads, handles


def dumped():
    """{kind: rows} of the trace; those of the GPU have the times that CUPTI gave."""
    gpu = "kernel,memcpy,memset,sync,graph"
    rest = "api,thread,config,process,health,drop,event_record,event_wait,device,context,stream"
    rows = collections.defaultdict(list)
    text = b"".join(subprocess.run(["gprof-trace", "dump", *kinds, "t.gtrace"], check=True, stdout=subprocess.PIPE).stdout
                    for kinds in (("--uncorrected", "-k", gpu), ("-k", rest)))
    for line in text.decode("utf-8", "replace").splitlines():
        kind, rest = line.split(" ", 1)
        row = {}
        for k, v in FIELD.findall(" " + rest):
            row[k] = json.loads(v, strict=False) if v[0] == '"' else NONE if v == "none" else int(v, 0)
        rows[kind].append(row)
    return rows


# ---- rows of the GPU ----

def wanted_row(o, base, speed):
    start, end = base + o.start // speed, base + o.end // speed
    at = (o.corr, o.context, o.stream)
    if o.type == SYNC:
        return ("sync", start, end - start, *at, o.value, o.event)
    if o.type == GRAPH:
        return ("graph", start, end - start, *at, o.device, o.graph)
    at = (start, end - start, *at, o.device, o.graph, o.node)
    if o.type == KERNEL:
        return ("kernel", *at, o.name, o.grid, o.block, o.registers, o.shared)
    if o.type == MEMCPY:
        return ("memcpy", *at, o.bytes, o.copy, o.src, o.dst)
    return ("memset", *at, o.bytes, o.dst)


def got_rows(rows, number):
    configs = {c["id"]: c for c in rows["config"] if c["process"] == number}
    out = []
    for kind in KINDS.values():
        for r in rows[kind]:
            if r["process"] != number:
                continue
            row = (kind, r["start"], r["duration"], r["corr"], r["context"], r["stream"])
            if kind == "sync":
                out.append(row + (r["type"], r["event"]))
                continue
            row += (r["device"], r["graph"])
            if kind == "graph":
                out.append(row)
                continue
            row += (r["graph_node"],)
            if kind == "kernel":
                c = configs[r["config"]]
                row += (r["name"], (c["grid_x"], c["grid_y"], c["grid_z"]), (c["block_x"], c["block_y"], c["block_z"]),
                        c["registers"], c["static_shared"] + c["dynamic_shared"])
            elif kind == "memcpy":
                row += (r["bytes"], r["kind"], r["src_kind"], r["dst_kind"])
            else:
                row += (r["bytes"], r["mem_kind"])
            out.append(row)
    return out


def fates(want):
    """What the simulator did to each row, by the row's beginning; and how many it dropped in all."""
    fate = collections.defaultdict(list)
    dropped = 0
    for line in open(os.environ["SIM_TRUTH"], encoding="utf-8"):
        t = json.loads(line, strict=False)
        if t["type"] not in TRUTH:
            continue
        dropped += t["fate"] == "dropped"
        fate[t["pid"], t["type"], t["start"], t["end"] - t["start"], t["correlation"], t["context"], t["stream"]].append(
            (t["fate"], t["zeroed"]))
    same("operations of the simulator", [(pid, *row[:6]) for pid, rows in want.items() for row in rows],
         [k for k, v in fate.items() for _ in v])
    return fate, dropped


def injected(want):
    """The rows that have to be there after what was done to them on purpose, and the two counts."""
    fate, dropped = fates(want)
    zeroed, left = 0, {}
    for pid, rows in want.items():
        left[pid] = []
        for row in rows:
            what, zero = fate[(pid, *row[:6])].pop()
            if what == "recorded":
                zeroed += zero
                left[pid].append((row[0], 0, 0, *row[3:]) if zero else row)
    return left, dropped, zeroed


def health(rows):
    """{reason: count}, by the names of trace/health.def"""
    text = open(TOP + "/trace/health.def", encoding="utf-8").read()
    names = {int(n): name for n, name in re.findall(r"^REASON\((\d+), *(\w+),", text, re.M)}
    last = {(r["process"], names[r["reason"]]): r["count"] for r in rows["health"]}
    out = collections.Counter()
    for (_, name), count in last.items():
        out[name] += count
    return out


def check_gpu(rows, played, numbers, speed, options):
    whole = WHOLE_GRAPHS in options
    left = YIELD in options         # the profiler's parts are its own
    want = {pid: [wanted_row(o, w.base, speed) for o in w.ops if (o.type == GRAPH if o.graph and whole else o.type != GRAPH)
                  and not (left and w.part[o.corr] % 2)] for pid, w in played.items()}
    dropped = zeroed = 0
    if os.environ.get("SIM_TRUTH"):
        want, dropped, zeroed = injected(want)
        # Records of what there is are dropped too, and the truth file has no line of them.
        devices = max(w.devices for w in played.values())
        dropped += sum(devices + len(w.contexts) + len(w.streams) for w in played.values())
        dropped -= sum(len(rows[k]) for k in ("device", "context", "stream"))
    for pid in played:
        same("GPU rows", want[pid], got_rows(rows, numbers[pid]))
    told = health(rows)
    if not dropped == told.pop("cupti_dropped", 0):
        differ("health cupti_dropped", dropped, health(rows))
    if not zeroed == told.pop("zero_time", 0):
        differ("health zero_time", zeroed, health(rows))
    if dropped:
        told.pop("buffers_full", 0)
    if left and told.pop("cupti_yielded", 0) != sum(len(w.cuts) // 2 for w in played.values()):
        differ("health cupti_yielded", "two profiles of each process", health(rows))
    if os.environ.get("SIM_CUPTI_RELEASE"):
        told.pop("cupti_flawed", 0)     # of some releases it is true
    if "--transport=pipe" in options:
        told.pop("pipe_used", 0)
    if told:
        differ("health", "nothing else", told)
    return sum(map(len, want.values())), dropped, zeroed


# ---- calls ----

def asked_for():
    """{(domain, callback id)} of inject/cupti/cupti_calls.def"""
    text = open(TOP + "/inject/cupti/cupti_calls.def", encoding="utf-8").read()
    return {(RUNTIME if d == "RUNTIME" else DRIVER, int(n)) for d, n in re.findall(r"^CUPTI_CALL\((\w+), +(\d+),", text, re.M)}


def plain(name):
    return re.sub(r"(_pt[sd][sz])?_v\d+$", "", name)


def check_thread(thread, calls, rows, base, speed):
    for i, (c, r) in enumerate(zip(calls, rows)):
        want, got = (c.domain << 16 | c.cbid, c.name, c.corr, 0), (r["cbid"], plain(r["name"]), r["corr"], r["result"])
        if want != got:
            differ(f"call {i} of thread {thread}", want, got)
        early = base + c.start // speed - r["start"], base + c.end // speed - r["start"] - r["duration"]
        if max(early) > EARLY_NS:
            differ(f"call {i} of thread {thread} begins and ends early by", "0.2 ms at most", early)
    if len(calls) != len(rows):
        differ(f"number of calls of thread {thread}", len(calls), len(rows))


def check_calls(rows, played, numbers, threads, speed, options):
    asked, n = asked_for(), 0
    for pid, work in played.items():
        here = [t for t in rows["thread"] if t["process"] == numbers[pid]]
        tids, names = {t["id"]: t["tid"] for t in here}, {t["tid"]: t.get("text") for t in here}
        got, want = collections.defaultdict(list), collections.defaultdict(list)
        # The main thread of play_profiled makes calls of its own, before profiles.
        mine = [r for r in rows["api"] if r["process"] == numbers[pid] and tids[r["thread"]] != pid]
        for r in sorted(mine, key=lambda r: r["start"]):
            got[threads[pid].get(tids[r["thread"]], tids[r["thread"]])].append(r)
        for c in work.calls:
            if (c.domain, c.cbid) in asked:
                want[c.thread].append(c)
        for thread in want.keys() | got.keys():
            check_thread(thread, want[thread], got[thread], work.base, speed)
            n += len(got[thread])
        for tid, thread in threads[pid].items():
            # A sampled thread has its first row before it has a name, and may end before the collector looks again.
            if tid in names and work.thread_names[thread] not in ("", names[tid]) and "-scpu" not in options:
                differ(f"name of thread {thread}", work.thread_names[thread], names[tid])
    return n


# CUDA's events: what the parameters of their calls say, where the trace knows it.
RECORD, WAIT, AWAIT = (RUNTIME, 135), (RUNTIME, 147), (RUNTIME, 137)


def check_events(rows, played, numbers):
    for pid, work in played.items():
        for kind, calls in (("event_record", (RECORD,)), ("event_wait", (WAIT, AWAIT))):
            want, events = [], {}
            for c in work.calls:
                if (c.domain, c.cbid) in calls:
                    _, context, stream, event = work.places[c.corr]
                    want.append((c.corr, context, NONE if (c.domain, c.cbid) == AWAIT else stream))
                    events[c.corr] = event
            got = [r for r in rows[kind] if r["process"] == numbers[pid]]
            same(kind, want, [(r["corr"], r["context"], r["stream"]) for r in got])
            if len({r["event"] for r in got}) != len({events[r["corr"]] for r in got}):
                differ(f"{kind}: number of events", len(set(events.values())), len({r["event"] for r in got}))


# ---- what the profiler inside of the program was given ----

def given(path):
    """{type: rows} of a PLAN.profile, GPU rows as wanted_row() has them."""
    rows = collections.defaultdict(list)
    for line in open(path, encoding="utf-8", errors="replace"):
        kind, rest = line.rstrip("\n").split(" ", 1)
        if kind == "kernel":
            word = rest.split(" ", 16)
            n = list(map(int, word[:16]))
            rows["gpu"].append((kind, *n[:8], word[16], tuple(n[8:11]), tuple(n[11:14]), n[14], n[15]))
        elif kind in KINDS.values():
            rows["gpu"].append((kind, *map(int, rest.split())))
        else:
            rows[kind].append(tuple(map(int, rest.split())))
    return rows


# CUPTI names threads by their handles unless its client wants otherwise.  A row without a call may be of before the profile.
def check_profile(part, work, handles, speed):
    calls = {c.corr for c in work.calls if work.part.get(c.corr, 0) == part}
    rows = given(f"{work.plan}.profile.{part}")
    if rows["dropped"] != [(0,)]:
        differ("records that the program's profiler lost", 0, rows["dropped"])
    same(f"GPU rows of the program's profiler, part {part}",
         [wanted_row(o, work.base, speed) for o in work.ops if o.type != GRAPH and o.corr in calls],
         [r for r in rows["gpu"] if work.cuts or r[3] in calls])
    # Its own call, before the first one, is no row of the trace.
    same(f"runtime calls of the program's profiler, part {part}",
         [(handles[c.thread], c.cbid, c.corr) for c in work.calls if c.domain == RUNTIME and c.corr in calls],
         [r for r in rows["runtime"] if r[2] >= min(calls)])


def check_profiles(played, handles, speed):
    for pid, work in played.items():
        for part in range(1, len(work.cuts) + 1, 2) if work.cuts else (0,):
            check_profile(part, work, handles[pid], speed)


# ---- what the export and the reports say ----

def exported(played):
    """{process: (SMs of its device, GPU rows)}: a file for each process, if there are several."""
    for old in glob.glob("t.*json"):
        os.unlink(old)
    subprocess.run(["gprof-trace", "export", "-o", "t.json", "t.gtrace"], check=True, stdout=subprocess.DEVNULL)
    out = {}
    for pid, work in played.items():
        with open("t.json" if len(played) == 1 else f"t.{pid}.json", encoding="utf-8") as f:
            trace = json.load(f)
        out[pid] = trace["deviceProperties"][0]["numSms"] if work.ops else 0, [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] in GPU]
    return out


def key(e):
    a = e["args"]
    name = re.sub(r"\bHost\b", "Pageable", e["name"])    # AMD's word
    return name, a.get("device"), a["correlation"], a.get("stream") if GPU[e["cat"]] != SYNC else a["cuda_sync_kind"]


def compare_row(old, new, work, sms, speed):
    a, b = old["args"], new["args"]
    for field in ("device", "context", "correlation", "registers per thread", "shared memory", "grid", "block", "bytes", "cuda_sync_kind"):
        if a.get(field) is not None and field in b and a[field] != b[field]:
            differ(f"{field} of {old['name']} ({a['correlation']})", a[field], b[field])
    for field in ("blocks per SM", "warps per SM"):
        if field in a and work.sms and abs(float(a[field]) * work.sms - b[field] * sms) > 1e-4 * sms + 1e-5 * b[field] * sms:
            differ(f"{field} of {old['name']} ({a['correlation']})", float(a[field]) * work.sms / sms, b[field])
    start, end = work.span(old)
    start, end = start // speed, end // speed
    if abs(end - start - round(new["dur"] * 1000)) > CLOCK_NS / 100:
        differ(f"duration of {old['name']} ({a['correlation']})", end - start, new["dur"] * 1000)
    return round(new["ts"] * 1000) - start


def by_key(rows, order):
    out = collections.defaultdict(list)
    for e in sorted(rows, key=order):
        out[key(e)].append(e)
    return out


def check_export(played, speed):
    """The rows of Kineto's JSON, argument by argument; how much their times differ from one shift."""
    width, files = 0, exported(played)
    for pid, work in played.items():
        sms, events = files[pid]
        old, new = by_key(work.rows, work.span), by_key(events, lambda e: (e["ts"], e["dur"]))
        same("exported rows", [(k, len(v)) for k, v in old.items()], [(k, len(v)) for k, v in new.items()])
        shifts = [compare_row(*pair, work, sms, speed) for k in old for pair in zip(old[k], new[k])]
        width = max(width, max(shifts, default=0) - min(shifts, default=0))
    if width > CLOCK_NS:
        differ("shift of all times: highest - lowest", CLOCK_NS, width)
    return width


def check_reports(played, speed):
    text = subprocess.run(["gprof-trace", "report", "-f", "json", "-r", "cuda_gpu_kern_sum,cuda_api_sum", "t.gtrace"], check=True,
                          stdout=subprocess.PIPE).stdout
    report = json.loads(text, strict=False)
    time, number, calls, asked = collections.Counter(), collections.Counter(), collections.Counter(), asked_for()
    for work in played.values():
        for o in work.ops:
            if o.type == KERNEL:
                time[o.name] += o.end // speed - o.start // speed
                number[o.name] += 1
        calls.update(c.name for c in work.calls if (c.domain, c.cbid) in asked)
    got = {r["Name"]: r for r in report.get("cuda_gpu_kern_sum", [])}
    same("kernels in cuda_gpu_kern_sum", [(n, number[n]) for n in number], [(n, r["Instances"]) for n, r in got.items()])
    for name, ns in time.items():
        if abs(got[name]["Total Time (ns)"] - ns) > max(CLOCK_NS, ns / 1000):
            differ(f"time of {name}", ns, got[name]["Total Time (ns)"])
    same("calls in cuda_api_sum", calls.items(), [(plain(r["Name"]), r["Num Calls"]) for r in report.get("cuda_api_sum", [])])


def main():
    args = argparse.ArgumentParser()
    args.add_argument("-x", type=int, default=1)
    args.add_argument("-o", action="append", default=[])
    args.add_argument("--profiled", action="store_true")
    args.add_argument("--parts", type=int, default=1)
    args.add_argument("traces", nargs="+")
    args = args.parse_args()
    works = [Work(t) for t in args.traces]
    if args.parts > 1:
        for w in works:
            w.cut(args.parts, GAP_NS * args.x)
    played, threads, handles = record(works, "play_profiled" if args.profiled else "play", args.x, args.o)
    rows = dumped()
    if rows["drop"]:
        differ("rows that gprof-run dropped", [], rows["drop"])
    numbers = {r["pid"]: r["number"] for r in rows["process"]}
    n_gpu, dropped, zeroed = check_gpu(rows, played, numbers, args.x, args.o)
    n_calls = check_calls(rows, played, numbers, threads, args.x, args.o)
    check_events(rows, played, numbers)
    if args.profiled:
        check_profiles(played, handles, args.x)
    width = 0
    if not dropped and not zeroed and args.parts == 1 and WHOLE_GRAPHS not in args.o:
        width = check_export(played, args.x)
        if not args.profiled:
            check_reports(played, args.x)
    print(f"{args.x} times: {n_gpu} GPU rows and {n_calls} calls of {len(played)} processes are those of the trace; "
          f"{dropped} dropped, {zeroed} without times; "
          f"{max(w.end for w in works) / args.x / 1e9:.3f} s, latest call {max(w.late for w in works) / 1e6:.1f} ms late, corrected times within {width} ns")


main()
