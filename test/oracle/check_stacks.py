"""check_stacks.py TRACE JSON: GPU time, kernels, calls and their time of each call stack of a recording, in report `stacks`, against sums over
the trace's Kineto export: GPU rows by the correlation id of their call, calls by their argument `Call stack`.  Frames are printed in
another form there, so stacks are told apart by what they have."""
import sys
from collections import Counter

import command
import kineto


def of_export(path):
    """{stack: [GPU time, kernels, calls, time of calls]}"""
    events = kineto.load(path)["traceEvents"]
    process = kineto.read(path).processes[0]
    launched, sums = {}, {}
    for row in process.gpu:
        launched.setdefault(row.correlation, []).append(row)
    for call in process.calls:
        stack = (events[call.index].get("args") or {}).get("Call stack")
        if stack is None:
            continue
        rows = launched.get(call.correlation, [])
        add = (sum(r.end - r.start for r in rows), sum(r.kind == "kernel" for r in rows), 1, call.end - call.start)
        sums[stack] = [a + b for a, b in zip(sums.get(stack, (0, 0, 0, 0)), add)]
    return sums


def main(trace, export):
    printed = command.reports(["stacks"], [trace])[0]["stacks"].rows
    got = Counter(tuple(int(r[c]) for c in ("gpu_ns", "kernels", "calls", "call_ns")) for r in printed)
    want = Counter(map(tuple, of_export(export).values()))
    for row in (want - got).elements():
        print("the export has a stack of GPU time, kernels, calls, time of calls %s, the report has none" % (row,))
    for row in (got - want).elements():
        print("the report has a stack of GPU time, kernels, calls, time of calls %s, the export has none" % (row,))
    print("%d stacks, %d not equal" % (len(printed), sum((want - got).values()) + sum((got - want).values())))
    return 1 if want != got or not any(r[1] for r in got) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
