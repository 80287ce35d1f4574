"""torch_orders_check.py STEPS.csv PROCESSES.csv KIND[,FIRST,COUNT[,KNOWN]]...: report steps (--all-steps) against the ends of steps that torch_orders.py wrote
down.  Prints the arguments that do not hold, one in a line, and says why on stderr.

The same number of steps, numbered from 0 (from KNOWN, where those before were not known); those from FIRST on, COUNT in all, lie in a window, and no others.
The lengths of all but the first step: a busy machine preempts some between two clocks, so a third of them has to be off by less than 3 % of the median step.
"""
import csv
import json
import statistics
import sys


def why_not(rows, ends, first=None, count=None, known=0):
    """What of a process does not hold, or None."""
    numbers = [int(r["step"]) for r in rows]
    if numbers != list(range(known, len(ends) - 1)):
        return "steps %s, the program took %d" % (numbers, len(ends) - 1)
    kept = [n for n, r in zip(numbers, rows) if r["window"]]
    if first is not None and kept != list(range(first, first + count)):
        return "steps %s lie in windows" % kept
    walls = [b - a for a, b in zip(ends, ends[1:])][known + 1:]
    off = sorted(abs(int(r["wall_ns"]) - wall) for r, wall in zip(rows[1:], walls))
    if off[len(off) // 3] >= 0.03 * statistics.median(walls):
        return "a third of the steps is off by more than %d ns" % off[len(off) // 3]
    return None


def main(steps, processes, wanted):
    rows = list(csv.DictReader(open(steps)))
    number = {int(r["pid"]): r["process"] for r in csv.DictReader(open(processes))}
    bad = 0
    for argument in wanted:
        kind, *numbers = argument.split(",")
        said = json.load(open(kind + ".ends"))
        why = why_not([r for r in rows if r["process"] == number[said["pid"]]], said["ends"], *map(int, numbers))
        if why:
            print(argument)
            print("%s: %s" % (argument, why), file=sys.stderr)
            bad = 1
    return bad


sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
