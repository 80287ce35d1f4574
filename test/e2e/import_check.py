#!/usr/bin/env python3
"""import_check.py FILE...: each Kineto file against what `gprof-trace dump` makes of it, event by event.

Prints what was compared, by category; exits 1 at the first difference.  Innermost ranges are looked for by brute force, in files
of up to 3000 events.
"""
import collections
import gzip
import json
import re
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal

FIELD = re.compile(r' ([a-z_0-9]+)=("(?:[^"\\]|\\.)*"|\S+)')
KIND = {20: "range", 30: "api", 40: "kernel", 41: "memcpy", 42: "memset", 43: "sync", 44: "overhead", 51: "gpu_range", 52: "alloc"}


def ns(v):
    return int((Decimal(str(v)) * 1000).to_integral_value(ROUND_HALF_UP))


def dump(path):
    """The rows of the trace, by kind."""
    rows = collections.defaultdict(list)
    text = subprocess.run(["gprof-trace", "dump", path], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    for line in text.splitlines():
        kind, rest = line.split(" ", 1)
        rows[kind].append({k: value(v) for k, v in FIELD.findall(" " + rest)})
    return rows


def value(v):
    if v[0] == '"':
        return json.loads(v, strict=False)
    return 2**32 - 1 if v == "none" else int(v, 0)


def whole(v):
    try:
        return int(v)
    except (TypeError, ValueError):
        return None


def compare(e, row, kind, base):
    """One event and its row."""
    assert row["start"] - base == ns(e["ts"]), ("ts", e, row)
    if kind == "alloc":
        assert row["bytes"] == e["args"]["Bytes"], (e, row)
        return
    dur = ns(e.get("dur", 0))
    assert row["duration"] == max(dur, 0), ("dur", e, row)
    args = e.get("args") or {}
    if "name" in row:
        assert row["name"] == e.get("name", ""), ("name", e, row)
    if kind in ("api", "kernel", "memcpy", "memset", "sync") and whole(args.get("correlation")) is not None:
        assert row["corr"] == whole(args["correlation"]), ("corr", e, row)
    if kind in ("kernel", "memcpy", "memset", "gpu_range"):
        for key in ("device", "stream"):
            if whole(args.get(key)) is not None:
                assert row[key] == whole(args[key]) % 2**32, (key, e, row)
    if kind in ("memcpy", "memset") and whole(args.get("bytes")) is not None:
        assert row["bytes"] == whole(args["bytes"]), ("bytes", e, row)


def innermost(rows):
    """The range of each call by looking at all of its thread."""
    by_thread = collections.defaultdict(list)
    for r in rows["range"]:
        if not r["flags"] & 1:
            by_thread[r["process"], r["thread"]].append((r["start"], -r["duration"], r))
    for a in rows["api"]:
        end = a["start"] + a["duration"]
        around = [k for k in by_thread[a["process"], a["thread"]] if k[0] <= a["start"] and k[0] - k[1] > a["start"]]
        if not around:
            assert a["range"] == 0, a
            continue
        best = max(around, key=lambda k: (k[0], k[1]))
        same = [k[2]["id"] for k in around if k[:2] == best[:2]]
        assert a["range"] in same, (a, best, end)


def check(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        doc = json.load(f, parse_float=Decimal)
    events = doc if isinstance(doc, list) else doc["traceEvents"]
    rows = dump(path)
    facts = dict(a["text"].split("=", 1) for a in rows["attribute"])
    base = int(facts["imported.base"])
    info = {} if isinstance(doc, list) else doc.get("distributedInfo") or {}
    assert facts.get("rank") == (str(info["rank"]) if "rank" in info else None), facts
    fraction = any("ts" not in e or isinstance(e["ts"], Decimal) for e in events)
    assert facts["imported.fraction"] == str(int(fraction)), facts["imported.fraction"]
    at, count = collections.Counter(), collections.Counter()
    imported = iter(sorted(rows["imported"], key=lambda r: r["index"]))
    of = collections.defaultdict(list)
    for kind in KIND.values():
        for row in rows[kind]:
            of[row["process"], kind].append(row)
    for i, e in enumerate(events):
        if e["ph"] != "X" and e.get("name") != "[memory]":
            continue
        row = next(imported)
        assert row["index"] == i and row["category"] == e.get("cat", "") and row["name"] == e["name"], (i, e, row)
        args = e.get("args") or {}
        external = args.get("External id", args.get("external id"))
        assert external is None or row["external"] == external, (e, row)
        count[e.get("cat")] += 1
        if not row["kind"]:
            assert e["cat"] == "Trace", e
            continue
        kind = KIND[row["kind"]]
        place = row["process"], kind
        compare(e, of[place][at[place]], kind, base)
        at[place] += 1
    assert next(imported, None) is None
    for place in of:
        assert at[place] == len(of[place]), (place, at[place], len(of[place]))
    assert len(rows["op"]) <= len(rows["range"])
    ids = {(r["process"], r["id"]) for r in rows["range"]}
    assert len(ids) == len(rows["range"]), "range ids are not unique"
    assert all((o["process"], o["range"]) in ids for o in rows["op"] + [a for a in rows["api"] if a["range"]])
    steps = sorted(int(e["name"].split("#")[1]) for e in events
                   if e["ph"] == "X" and e.get("cat") != "gpu_user_annotation" and e.get("name", "").startswith("ProfilerStep#"))
    assert sorted(s["number"] for s in rows["step"]) == steps, (steps, rows["step"])
    if len(events) <= 3000:
        innermost(rows)
    return count


def main():
    total = collections.Counter()
    for path in sys.argv[1:]:
        try:
            total += check(path)
        except AssertionError as error:
            sys.exit(f"{path}: {error}")
    print(", ".join(f"{n} {cat}" for cat, n in sorted(total.items(), key=str)))


main()
