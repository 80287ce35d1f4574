"""torch_orders_check.py STEPS.csv ENDS.json [FIRST COUNT [KNOWN]]: report steps (--all-steps) against the ends of steps that torch_orders.py wrote down.

The same number of steps, numbered from 0 (from KNOWN, where those before were not known); those from FIRST on, COUNT in all, lie in a window, and no others.  The lengths of all but the first step: a busy
machine preempts some between two clocks, so a third of them has to be off by less than 3 % of the median step.
"""
import csv
import json
import statistics
import sys

rows = list(csv.DictReader(open(sys.argv[1])))
ends = json.load(open(sys.argv[2]))
numbers = [int(r["step"]) for r in rows]
known = int(sys.argv[5]) if len(sys.argv) > 5 else 0
assert numbers == list(range(known, len(ends) - 1)), "steps %s, the program took %d" % (numbers, len(ends) - 1)
if len(sys.argv) > 3:
    first, count = int(sys.argv[3]), int(sys.argv[4])
    kept = [n for n, r in zip(numbers, rows) if r["window"]]
    assert kept == list(range(first, first + count)), "steps %s lie in windows" % kept
walls = [b - a for a, b in zip(ends, ends[1:])][known + 1:]
off = sorted(abs(int(r["wall_ns"]) - wall) for r, wall in zip(rows[1:], walls))
assert off[len(off) // 3] < 0.03 * statistics.median(walls), "a third of the steps is off by more than %d ns" % off[len(off) // 3]
