"""stacks_check.py TRACE: recomputes every report about call stacks from `gprof-trace dump`, and says where one differs.

Shares nothing with the program: line tables, symbols, joins and sums are done here anew.
"""
import collections
import csv
import fnmatch
import gzip
import io
import json
import subprocess
import sys

sys.dont_write_bytecode = True

from stacks_dump import (  # noqa: E402
    GONE, GPU, HAS_CALLS, HAS_RANGES, HAS_SAMPLES, HZ, KERNELS, LAUNCHED, RANGES, ROWS, SITE, STACK, TRACE,
    api_name, gprof, kernel_name, places, short, site, tenths, text, users, varint,
)

# ---- comparing

failures = 0


def report(name, *args):
    return json.loads(gprof("report", "-r", name, "-f", "json", *args))


def compare(what, got, want, order=None):
    """Rows as sets; then that they are in order."""
    global failures
    a = collections.Counter(json.dumps(r, sort_keys=True) for r in got)
    b = collections.Counter(json.dumps(r, sort_keys=True) for r in want)
    bad = [] if a == b else ["printed %s" % x for x in (a - b)][:3] + ["wanted %s" % x for x in (b - a)][:3]
    if order and [order(r) for r in got] != sorted(order(r) for r in got):
        bad.append("not in order")
    if not want and "plain" not in TRACE and what not in MAY_BE_EMPTY:
        bad.append("nothing to compare")
    print("%-40s %5d rows %s" % (what, len(want), "equal" if not bad else "DIFFER"))
    for b in bad:
        print("   ", b)
    failures += bool(bad)


MAY_BE_EMPTY = set()


def view(stack, by, n):
    if by == "line":
        p = site(stack)
        return [p] if p else []
    frames = [p for p in stack if by == "mixed" or p.python == (by == "python")]
    return frames[:n] if n else frames


def check_stacks(by, n):
    sums = {}

    def at(stack):
        key = " <- ".join(text(p) for p in view(stack, by, n)) or GONE
        return sums.setdefault(key, dict(gpu_ns=0, call_ns=0, calls=0, kernels=0, bytes=0, samples=0, ranges=0, range_ns=0, stack=key))

    for r in ROWS["api"]:
        if r["frames"]:
            at(r["frames"])["call_ns"] += r["duration"]
            at(r["frames"])["calls"] += 1
    for r in GPU:
        if r["frames"]:
            at(r["frames"])["gpu_ns"] += r["ns"] or 0
            at(r["frames"])["kernels"] += r["kind"] == "kernel"
            at(r["frames"])["bytes"] += r["bytes"] if r["kind"] == "memcpy" else 0
    for r in ROWS["sample"]:
        if r["frames"]:
            at(r["frames"])["samples"] += 1
    for r in RANGES:
        at(r["frames"])["ranges"] += 1
        at(r["frames"])["range_ns"] += r["duration"]
    for s in sums.values():
        if not HAS_RANGES:
            s.update(ranges=None, range_ns=None)
        if not HAS_SAMPLES:
            s["samples"] = None
        if not HAS_CALLS:
            s.update(gpu_ns=None, call_ns=None, calls=None, kernels=None, bytes=None)
    compare("stacks --by %s --group-by-stack %d" % (by, n), report("stacks", "--by", by, "--group-by-stack", str(n)),
            list(sums.values()), lambda r: (-(r["gpu_ns"] or 0), -(r["call_ns"] or 0), -(r["samples"] or 0), -(r["range_ns"] or 0)))


def sites_of(events, show):
    """Rows of call_sites and range_sites, in the columns of call_sites: events are (name, ns, frames)."""
    names, sums = collections.Counter(), {}
    for name, ns, frames in events:
        names[name] += ns
        sums.setdefault((name, show(frames) if frames else None), []).append(ns)
    want = [dict(name=k[0], total_ns=sum(v), name_pct=tenths(sum(v), names[k[0]]), calls=len(v), mean_ns=sum(v) // len(v), max_ns=max(v),
                 call_site=k[1]) for k, v in sums.items()]
    for name in names:      # the tenth and those below it may be equal in time: only the sums are certain
        of = sorted((w for w in want if w["name"] == name), key=lambda w: -w["total_ns"])
        if len(of) > 11:
            rest = of[10:]
            assert of[9]["total_ns"] != of[10]["total_ns"], "choose another seed"
            want = [w for w in want if w not in rest]
            want.append(dict(name=name, total_ns=sum(w["total_ns"] for w in rest), calls=sum(w["calls"] for w in rest),
                             name_pct=tenths(sum(w["total_ns"] for w in rest), names[name]),
                             mean_ns=sum(w["total_ns"] for w in rest) // sum(w["calls"] for w in rest),
                             max_ns=max(w["max_ns"] for w in rest), call_site="(%d more)" % len(rest)))
    return want, lambda r: (-names[r["name"]], r["name"], str(r["call_site"])[-5:] == "more)", -r["total_ns"])


def line_or_innermost(frames):
    return text(site(frames) or frames[0])


def two_python_frames(frames):
    return " <- ".join(text(p) for p in view(frames, "python", 2)) or None


def check_call_sites():
    for show, args in ((line_or_innermost, ()), (two_python_frames, ("--by", "python", "--group-by-stack", "2"))):
        want, order = sites_of([(api_name(r["name"], False), r["duration"], r["frames"]) for r in ROWS["api"]], show)
        got = report("call_sites", *args)
        compare("call_sites " + " ".join(args), got, want, order)
        both = report("cuda_api_sum", "--stacks", *args)
        assert both["call_sites"] == got and len(both["cuda_api_sum"]) == len({w["name"] for w in want})


def check_range_sites():
    names = {(r["process"], r["id"]): r["name"] for r in ROWS["domain"]}
    for show, args in ((line_or_innermost, ()), (two_python_frames, ("--by", "python", "--group-by-stack", "2"))):
        want, order = sites_of([(names.get((r["process"], r["domain"]), "") + ":" + r["name"], r["duration"], r["frames"]) for r in RANGES], show)
        got = report("range_sites", *args)
        same = [dict(name=r["range"], total_ns=r["total_ns"], name_pct=r["range_pct"], calls=r["instances"], mean_ns=r["mean_ns"],
                     max_ns=r["max_ns"], call_site=r["begun_at"]) for r in got]
        compare("range_sites " + " ".join(args), same, want, order)
        for name in ("nvtx_sum", "nvtx_pushpop_sum", "nvtx_startend_sum"):
            assert report(name, "--stacks", *args)["range_sites"] == got


def check_launch_sites(each):
    sums, kinds = {}, {}
    for r in KERNELS:
        p = site(r["frames"])
        key = ((p.function, p.file, p.line, p.begin) if p else None,)
        name = kernel_name(r)
        kinds.setdefault(key, collections.Counter())[name] += r["ns"] or 0
        alone = each or not p           # without a line a kernel is a row by its name
        s = sums.setdefault(key + ((name,) if alone else ()), collections.Counter())
        s["gpu_ns"] += r["ns"] or 0
        s["kernels"] += 1
        s["launches"] += id(r) in LAUNCHED
        s["timed"] += r["ns"] is not None
    whole, want = sum(s["gpu_ns"] for s in sums.values()), []
    for key, s in sums.items():
        p = key[0]
        alone = len(key) > 1
        most = kinds[key[:1]].most_common(2)
        assert alone or len(most) < 2 or most[0][1] != most[1][1], "choose another seed"
        want.append(dict(gpu_pct=tenths(s["gpu_ns"], whole), gpu_ns=s["gpu_ns"], kernels=s["kernels"], mean_ns=s["gpu_ns"] // max(s["timed"], 1),
                         launches=s["launches"], names=1 if alone else len(kinds[key[:1]]), file=short(p[1]) if p and p[1] else None,
                         line=p[2] or None if p else None, function=p[0] if p else None, kernel=key[1] if alone else most[0][0]))
        if not s["timed"]:
            want[-1].update(gpu_pct=None, gpu_ns=None, mean_ns=None)
    name = "launch_sites:kernels" if each else "launch_sites"
    got = report(name)
    compare(name, got, want, lambda r: -(r["gpu_ns"] or 0))
    nsys = list(csv.DictReader(io.StringIO(gprof("report", "-r", "cuda_gpu_kern_sum", "-f", "csv"))))
    graphs = sum(r["duration"] for r in ROWS["graph"])
    assert sum(r["gpu_ns"] or 0 for r in got) == sum(int(r["Total Time (ns)"] or 0) for r in nsys) + graphs, "not the time of all kernels"


def check_lines(*args, file="*", function="*"):
    sums = {}

    def at(frames):
        p = site(frames)
        if not p or not p.file or not p.line or not fnmatch.fnmatchcase(p.function, function):
            return collections.Counter()
        if not any(fnmatch.fnmatchcase(x, file) for x in (p.file, short(p.file), p.file.split("/")[-1])):
            return collections.Counter()
        return sums.setdefault((p.file, p.line), collections.Counter())

    for r in ROWS["api"]:
        at(r["frames"])["blocked_ns"] += r["duration"]
    for r in GPU:
        if r["kind"] == "memcpy":
            at(r["frames"])["bytes"] += r["bytes"]
        else:
            at(r["frames"])["gpu_ns"] += r["ns"] or 0
            at(r["frames"])["launches"] += id(r) in LAUNCHED
    for r in ROWS["sample"]:
        if r["frames"]:
            at(r["frames"])["python_samples" if r["frames"][0].python else "native_samples"] += 1
    source = {r["name"]: r["text"].split("\n") for r in ROWS["source"]}
    want = []
    all_gpu = sum(s["gpu_ns"] for s in sums.values())
    all_samples = sum(s["python_samples"] + s["native_samples"] for s in sums.values())
    for (path, line), s in sums.items():
        text_of = source.get(path, [])
        want.append(dict(file=short(path), line=line, source=text_of[line - 1] if line <= len(text_of) else None,
                         **{k: s[k] if HAS_SAMPLES else None for k in ("python_samples", "native_samples")},
                         gpu_pct=tenths(s["gpu_ns"], all_gpu) if HAS_CALLS else None,
                         samples_pct=tenths(s["python_samples"] + s["native_samples"], all_samples) if HAS_SAMPLES else None,
                         cpu_ns=int((s["python_samples"] + s["native_samples"]) * 1e9 / HZ + 0.5) if HAS_SAMPLES and HZ else None,
                         **{k: s[k] if HAS_CALLS else None for k in ("gpu_ns", "launches", "bytes", "blocked_ns")}))
    full = {short(k[0]): k[0] for k in sums}

    def order(r):
        samples = (r["python_samples"] or 0) + (r["native_samples"] or 0)
        return (not users(full[r["file"]]), -(r["gpu_ns"] or 0), -samples, -(r["bytes"] or 0), -(r["blocked_ns"] or 0), full[r["file"]], r["line"])

    compare("lines " + " ".join(args), report("lines", *args), want, order)


def check_cpu_sum(samples, *args):
    own, total, functions = collections.Counter(), collections.Counter(), {}
    for r in samples:
        keys = [(p.function, p.file if p.python else p.image, p.begin, p.python) for p in r["frames"] or ()]
        for key, p in zip(keys, r["frames"] or ()):
            functions.setdefault(key, p)
        own.update(keys[:1])
        total.update(set(keys))
    first = {}
    for stack in STACK.values():        # a native function is shown with the file that it was first seen with
        for p in stack:
            first.setdefault((p.function, p.file if p.python else p.image, p.begin, p.python), p)
    want = [dict(function=k[0], file=short(first[k].file) if first[k].file else first[k].image or None, line=k[2] or None, self_samples=own[k],
                 total_samples=n, self_pct=tenths(own[k], len(samples)), total_pct=tenths(n, len(samples))) for k, n in total.items()]
    compare("cpu_sum " + " ".join(args), report("cpu_sum", *args), want, lambda r: (-r["self_samples"], -r["total_samples"]))


def check_idle():
    idle = {}
    for process in {r["process"] for r in GPU}:
        busy = sorted((r["start"], r["start"] + r["ns"]) for r in GPU if r["process"] == process and r["ns"] and r["start"])
        idle[process], end = [], busy[0][1]
        for a, b in busy:
            if a > end:
                idle[process].append((end, a))
            end = max(end, b)
    pid = {r["number"]: r["pid"] for r in ROWS["process"]}
    main = {r["process"]: r["id"] for r in ROWS["thread"] if r["tid"] == pid[r["process"]]}
    whole = sum(b - a for spans in idle.values() for a, b in spans)
    sums = {}

    def at(key):
        return sums.setdefault(key or SITE, [0, 0])

    for r in ROWS["api"]:
        if r["thread"] == main[r["process"]]:
            ns = sum(max(0, min(b, r["start"] + r["duration"]) - max(a, r["start"])) for a, b in idle[r["process"]])
            if ns:
                at(" <- ".join([api_name(r["name"])] + [text(p) for p in r["frames"] or ()]))[1] += ns
    n = 0
    for r in ROWS["sample"]:
        mine = r["thread"] == main[r["process"]] if r["thread"] else r["tid"] == pid[r["process"]]
        if mine and any(a <= r["start"] < b for a, b in idle[r["process"]]):
            at(" <- ".join(text(p) for p in r["frames"] or ()))[0] += 1
            n += 1
    want = [dict(samples=s if HAS_SAMPLES else None, samples_pct=tenths(s, n) if HAS_SAMPLES else None, call_ns=ns, idle_pct=tenths(ns, whole), stack=k)
            for k, (s, ns) in sums.items()]
    compare("idle_stacks", report("idle_stacks"), want, lambda r: (-(r["samples"] or 0), -r["call_ns"]))


# ---- exports

METRICS = ("gpu_time", "api_time", "cpu_samples", "bytes", "count", "range_time")
COPIES = {1: "HtoD", 2: "DtoH"}


def weights():
    """(process, frames, call, leaf) -> values, with the frames as tuples of places, innermost first."""
    sums = {}

    def at(process, frames, call, leaf):
        return sums.setdefault((process, tuple(frames or ()), call, leaf), dict.fromkeys(METRICS, 0))

    for r in ROWS["api"]:
        w = at(r["process"], r["frames"], api_name(r["name"]), None)
        w["api_time"] += r["duration"]
        w["count"] += 1
    for r in GPU:
        leaf = {"memcpy": "Memcpy " + COPIES.get(r.get("kind_of"), ""), "memset": "Memset"}.get(r["kind"]) or kernel_name(r)
        w = at(r["process"], r["frames"], api_name(r["call"]["name"]) if r["call"] else None, leaf)
        w["gpu_time"] += r["ns"] or 0
        w["bytes"] += r["bytes"] if r["kind"] == "memcpy" else 0
    for r in ROWS["sample"]:
        at(r["process"], r["frames"], None, None)["cpu_samples"] += 1
    for r in RANGES:
        at(r["process"], r["frames"], None, r["name"])["range_time"] += r["duration"]
    return sums


def clean(frame):
    return "".join(":" if c == ";" else "_" if c < " " else c for c in frame)


def process_text(process):
    row = next(r for r in ROWS["process"] if r["number"] == process)
    return "python %d" % row["pid"]


def check_folded(metric):
    want, sums = collections.Counter(), weights()
    some = {k: v[metric] for k, v in sums.items() if v[metric] > 0}
    several = len({k[0] for k in some}) > 1
    for (process, frames, call, leaf), value in some.items():
        line = [process_text(process)] if several else []
        line += [clean(text(p)) for p in reversed(frames)] or ["(stack not recorded)"]
        want[";".join(line + [x for x in (call, leaf) if x])] += value
    got = collections.Counter()
    made = subprocess.run(["gprof-trace", "export", "--format", "folded", "--metric", metric, "-o", "-", TRACE], capture_output=True, text=True)
    # Nothing to export is said on one line, and is no success.
    assert made.returncode == (0 if want else 1) and ("nothing to export" in made.stderr) == (not want), made
    for line in made.stdout.split("\n")[:-1]:
        stack, _, value = line.rpartition(" ")
        got[stack] += int(value)
    if not want:
        MAY_BE_EMPTY.add("folded " + metric)
    compare("folded " + metric, [list(x) for x in got.items()], [list(x) for x in want.items()])


def protobuf(data):
    """[(field, number or bytes)] of a message."""
    at, out = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            out.append((key >> 3, varint()))
        else:
            assert key & 7 == 2, "wire type %d" % (key & 7)
            n = varint()
            assert at + n <= len(data)
            out.append((key >> 3, data[at:at + n]))
            at += n
    return out


def numbers(data):
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value)
            value = shift = 0
    return out


def check_pprof():
    data = subprocess.run(["gprof-trace", "export", "--format", "pprof", "-m", "bytes", "-o", "-", TRACE], check=True, capture_output=True).stdout
    profile = protobuf(gzip.decompress(data))
    strings = [v.decode() for f, v in profile if f == 6]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    types = [dict(protobuf(v)) for f, v in profile if f == 1]
    assert [(strings[t[1]], strings[t[2]]) for t in types] == list(zip(METRICS, ("nanoseconds", "nanoseconds", "count", "bytes", "count", "nanoseconds")))
    assert strings[dict(profile)[14]] == "bytes"
    functions = {d[1]: d for d in (dict(protobuf(v)) for f, v in profile if f == 5)}
    locations = {d[1]: dict(protobuf(d[4])) for d in (dict(protobuf(v)) for f, v in profile if f == 4)}
    got = []
    for sample in (dict(protobuf(v)) for f, v in profile if f == 2):
        label = dict(protobuf(sample[3]))
        assert strings[label[1]] == "process"
        frames = []
        for at in numbers(sample[1]):
            function = functions[locations[at][1]]
            frames.append([strings[function[2]], strings[function.get(4, 0)], locations[at].get(2, 0), function.get(5, 0)])
        got.append([strings[label[2]], frames, numbers(sample[2])])
    first, want = {}, []
    for stack in STACK.values():
        for p in stack:
            first.setdefault((p.function, p.file if p.python else p.image, p.begin, p.python), p.file or p.image)
    merged = collections.defaultdict(collections.Counter)
    for (process, frames, call, leaf), values in weights().items():
        shown = [[x, "", 0, 0] for x in (leaf, call) if x]
        shown += [[p.function, first[p.function, p.file if p.python else p.image, p.begin, p.python], p.line, p.begin] for p in frames]
        shown += [] if frames else [["(stack not recorded)", "", 0, 0]]
        merged[json.dumps([process_text(process), shown])].update(values)
    want = [json.loads(k) + [[v[m] for m in METRICS]] for k, v in merged.items() if any(v.values())]
    again = collections.defaultdict(lambda: [0] * len(METRICS))
    for who, frames, values in got:         # two stacks with equal text are one here
        again[json.dumps([who, frames])] = [a + b for a, b in zip(again[json.dumps([who, frames])], values)]
    compare("pprof", [json.loads(k) + [v] for k, v in again.items()], want)


def check_kineto():
    """At the moment of each sample the slices on the track of its thread are its frames; calls have their stacks."""
    global failures
    data = subprocess.run(["gprof-trace", "export", "--merged", "-o", "-", TRACE], check=True, capture_output=True).stdout
    events = json.loads(data, parse_float=lambda x: int(x.replace(".", "")))["traceEvents"]
    base = min(r["start"] for r in ROWS["process"] if r["start"]) // 86400000000000 * 86400000000000
    tracks, names, parents = collections.defaultdict(list), {}, {}
    for e in events:
        if e.get("cat") in ("python_function", "native_function"):
            tracks[e["pid"], e["tid"]].append(e)
            if "Python id" in e["args"]:
                parents[e["args"]["Python id"]] = e["args"]["Python parent id"]
        if e["ph"] == "M" and e["name"] == "thread_name":
            names[e["pid"], e["tid"]] = e["args"]["name"]
    pid = {r["number"]: r["pid"] for r in ROWS["process"]}
    thread = {(r["process"], r["id"]): r for r in ROWS["thread"]}
    assert all(names[t].endswith(", samples") for t in tracks), names
    wrong = checked = 0
    for r in ROWS["sample"]:
        t = thread.get((r["process"], r["thread"]))
        track = pid[r["process"]], 30000000 + (t["tid"] if t else r["tid"])
        at = r["start"] - base
        open_now = sorted((e for e in tracks.get(track, ()) if e["ts"] <= at < e["ts"] + e["dur"]), key=lambda e: (e["ts"], -e["dur"]))
        want = ["%s(%d): %s" % (p.file, p.begin, p.function) if p.python else p.function for p in reversed(r["frames"] or ())]
        checked += 1
        wrong += sorted(e["name"] for e in open_now) != sorted(want)
        ids = [e["args"]["Python id"] for e in open_now if "Python id" in e["args"]]
        wrong += sorted(parents[i] or 0 for i in ids) != sorted([0] * bool(ids) + sorted(ids)[:-1])
    for track, slices in tracks.items():        # beside or inside each other
        ends = []
        for e in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
            while ends and ends[-1] <= e["ts"]:
                ends.pop()
            wrong += bool(ends) and e["ts"] + e["dur"] > ends[-1]
            ends.append(e["ts"] + e["dur"])
    calls = [e for e in events if e.get("cat") == "cuda_runtime"]
    assert len(calls) == len(ROWS["api"])
    for e, r in zip(calls, ROWS["api"]):
        want = ";".join("%s(%d): %s" % (p.file, p.line, p.function) if p.python else p.function for p in r["frames"] or ()) or None
        wrong += e["args"].get("Call stack") != want
    ranges = [e for e in events if e.get("cat") == "user_annotation" and "External id" in e["args"] or e["ph"] == "b"]
    stacks = collections.Counter(";".join("%s(%d): %s" % (p.file, p.line, p.function) if p.python else p.function for p in r["frames"]) for r in RANGES)
    wrong += collections.Counter(e["args"]["Call stack"] for e in ranges if "Call stack" in e["args"]) != stacks
    print("kineto: samples %d, slices %d, calls %d, wrong %d" % (checked, sum(map(len, tracks.values())), len(calls), wrong))
    failures += wrong != 0


if __name__ == "__main__":
    if not RANGES:
        MAY_BE_EMPTY |= {"range_sites ", "range_sites --by python --group-by-stack 2"}
    if not HAS_SAMPLES:
        MAY_BE_EMPTY |= {"cpu_sum ", "cpu_sum --step 2:4"}
    if not any(p.python for s in STACK.values() for p in s):
        MAY_BE_EMPTY |= {"lines --file train.py", "lines --function Model.*"}
    for by in ("mixed", "native", "python", "line"):
        for n in (0, 1, 3):
            check_stacks(by, n)
    check_call_sites()
    check_range_sites()
    check_launch_sites(False)
    check_launch_sites(True)
    check_lines()
    check_lines("--file", "train.py", file="train.py")
    check_lines("--function", "Model.*", function="Model.*")
    check_cpu_sum(ROWS["sample"])
    steps = [r for r in ROWS["step"] if 2 <= r["number"] <= 4]
    inside = [r for r in ROWS["sample"] if any(s["process"] == r["process"] and s["start"] <= r["start"] < s["start"] + s["duration"] for s in steps)]
    check_cpu_sum(inside, "--step", "2:4")
    check_idle()
    for metric in METRICS:
        check_folded(metric)
    check_pprof()
    check_kineto()
    print("reports that differ: %d" % failures)
    sys.exit(failures != 0)
