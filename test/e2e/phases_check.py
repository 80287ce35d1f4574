"""phases_check.py PHASES.csv CLOCKS.json [PROCESS]: report phases against the clocks of torch_loops.py.

Prints for each loop the step, and of each phase the mean of both sides and the mean difference in percent of the step, and the difference that a fifth of
the steps stay below.  Fails where that is above 3 % of the median step: a busy machine preempts many steps between two clocks, but a rule that is wrong
is wrong in all of them.
"""
import csv
import json
import statistics
import sys

PHASES = ("data", "forward", "backward", "optimizer", "zero_grad")
WARM = 2                        # steps of each loop that make optimizer state, compile, start workers


def main():
    rows = [r for r in csv.DictReader(open(sys.argv[1])) if len(sys.argv) < 4 or r["process"] == sys.argv[3]]
    clocks = json.load(open(sys.argv[2]))
    assert len(rows) == len(clocks), "%d steps in the report, %d in the program" % (len(rows), len(clocks))
    bad = []
    for loop in dict.fromkeys(c["loop"] for c in clocks):
        pairs = [(r, c) for r, c in zip(rows, clocks) if c["loop"] == loop][WARM:]
        step = statistics.median(c["wall"] for _, c in pairs)
        mean = statistics.mean(c["wall"] for _, c in pairs)
        line = []
        for phase in PHASES:
            if not any(c[phase] for _, c in pairs):
                continue
            ours, theirs = [int(r[phase + "_ns"] or 0) for r, _ in pairs], [c[phase] for _, c in pairs]
            off = [abs(a - b) for a, b in zip(ours, theirs)]
            fifth = sorted(off)[len(off) // 5]
            line.append("%s %.2f/%.2f ms, off by %.1f %% (a fifth below %.1f)" % (
                phase, statistics.mean(ours) / 1e6, statistics.mean(theirs) / 1e6, 100 * statistics.mean(off) / mean,
                100 * fifth / step))
            if fifth > 0.03 * step:
                bad.append("%s: %s" % (loop, line[-1]))
        for r, _ in pairs:
            parts = [int(r[p + "_ns"] or 0) for p in PHASES + ("other",)]
            assert sum(parts) == int(r["wall_ns"]), ("phases do not add up", r)
        print("%s, %d steps of %.1f ms: %s" % (loop, len(pairs), mean / 1e6, "; ".join(line)))
    sys.exit("only times differ: " + "\n".join(bad) if bad else 0)


main()
