#!/usr/bin/env python3
"""kineto_check.py FILE [integers]: what every viewer relies on in a Kineto JSON file; prints what is in it.

Slices of a track lie beside or inside each other, each track has a name, each arrow begins and ends at a slice and is whole, ids
of ranges are unique and those that refer to them exist, times are microseconds with three decimals (or whole ones).
"""
import collections
import json
import re
import sys


def nested(slices):
    """Slices (start, end) of one track in ns: none ends inside another that began later."""
    open_until = []
    for start, end in sorted(slices, key=lambda s: (s[0], -s[1])):
        while open_until and open_until[-1] <= start:
            open_until.pop()
        assert not open_until or end <= open_until[-1], ("slices cross", start, end, open_until)
        open_until.append(end)


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    integers = sys.argv[2:] == ["integers"]
    trace = json.loads(text)
    times = re.findall(r'"(?:ts|dur)": ([^,}]*)', text)
    assert times and all(re.fullmatch(r"\d+" if integers else r"\d+\.\d{3}", t) for t in times), "form of times"
    assert trace["schemaVersion"] == 1 and isinstance(trace["baseTimeNanoseconds"], int)
    events = trace["traceEvents"]
    ns = lambda v: round(v * 1000)
    tracks, starts, names = collections.defaultdict(list), collections.defaultdict(set), {}
    count = collections.Counter()
    flows = collections.defaultdict(list)
    own, used = [], set()
    for e in events:
        track = (e["pid"], e["tid"])
        if e["ph"] == "X":
            assert e["cat"] and e["dur"] >= 0
            tracks[track].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
            starts[track].add(ns(e["ts"]))
            count[e["cat"]] += 1
            external = e["args"].get("External id")
            if e["cat"] in ("user_annotation", "cpu_op"):
                assert external
                own.append(external)
                count["steps"] += e["name"].startswith("ProfilerStep#")
            elif external:
                used.add(external)
            if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                assert e["args"]["device"] == e["pid"] and "stream" in e["args"] and "correlation" in e["args"]
        elif e["ph"] in "sf":
            flows[e["name"], e["id"]].append((e["ph"], track, ns(e["ts"])))
        elif e["ph"] == "b":
            own.append(e["id"])
            count["interval"] += 1
        elif e["ph"] == "M" and e["name"] == "thread_name":
            assert track not in names, ("two names", track)
            names[track] = e["args"]["name"]
        elif e["ph"] == "i":
            count["mark"] += 1
    for track, slices in tracks.items():
        nested(slices)
        assert track in names, ("no name", track)
    for ends in flows.values():
        assert [e[0] for e in ends] == ["s", "f"], ends
        assert all(at in starts[track] for _, track, at in ends), ("arrow without a slice", ends)
    assert len(own) == len(set(own)), "ids of ranges"
    assert used <= set(own), used - set(own)
    count["flow"] = len(flows)
    for what in sorted(count):
        print(what, count[what])
    print("rank", trace.get("distributedInfo", {}).get("rank"))
    print("pids", *sorted({t[0] for t in tracks}))


main()
