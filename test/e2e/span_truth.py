"""GPU span and busy time of each recorded window, from the simulator's own truth.

usage: span_truth.py TRUTH WINDOWS
WINDOWS: FIRST_CORR END_CORR a line, of gprof-trace dump -k window.  Prints a line for each window and one for all: LABEL SPAN BUSY, in ns.
"""
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
gpu = [r for r in rows if r["type"] in ("kernel", "memcpy", "memset") and r["fate"] == "recorded"]
windows = [tuple(map(int, line.split())) for line in open(sys.argv[2])]


def length(intervals):
    total, end = 0, None
    for a, b in sorted(intervals):
        a = a if end is None else max(a, end)
        if b > a:
            total += b - a
            end = b
    return total


spans, launched = [], []
for number, (first, end) in enumerate(windows, 1):
    mine = [(r["start"], r["end"]) for r in gpu if first <= r["correlation"] < end]
    spans.append((min(a for a, _ in mine), max(b for _, b in mine)))
    launched += mine
    inside = [(max(a, spans[-1][0]), min(b, spans[-1][1])) for a, b in ((r["start"], r["end"]) for r in gpu)]
    print(number, spans[-1][1] - spans[-1][0], length(i for i in inside if i[1] > i[0]))
print("all", length(spans), length(launched))
print("whole", max(b for _, b in spans) - min(a for a, _ in spans), length(launched))
