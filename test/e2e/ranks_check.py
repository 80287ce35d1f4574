#!/usr/bin/env python3
"""Holds report `ranks` against test/oracle/ranks.py:

    ranks_check.py TRACE... -- kineto FILE...               the files that the trace is made of
    ranks_check.py TRACE... -- truth FILE RANK=PID...       what the simulator wrote down

Every column but names and processes exactly; times of a recorded trace to 100 ns, since clocks are converted.  Of the sentence the rank
and its figures, to their printed digits.  Prints the oracle's verdict.
"""
import csv
import io
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import ranks
from values import holds

REASONS = {"none": "there are no kernels of collectives", "counts": "collectives have no sequence numbers, and rank",
           "apart": "by their order they do not match", "alone": "no two ranks have a collective in common",
           "unequal": "ranks take part in different numbers of collectives", "few": "too few collectives",
           "nobody": "no rank is late"}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def near(text, value):
    """Whether "1.53 ms" is what value in ns is printed as."""
    number, unit = text.split()
    digit = 10 ** -len(number.partition(".")[2]) if "." in number else 1
    return abs(float(number) * UNITS[unit] - value) <= digit * UNITS[unit] / 2 + 1e-6


def check_sentence(verdict, text):
    if verdict[0] != "late":
        assert REASONS[verdict[0]] in text, (verdict, text)
        return
    late, wait, least, most, margin, noise, between, steps = verdict[1:]
    got = re.search(r"rank (\d+) arrives last: it waits ([\d.]+ \w+) in collectives(?: per step)?, the other ranks? ([\d.]+ \w+)(?: to ([\d.]+ \w+))? "
                    r"\((.*); difference at least ([\d.]+ \w+), noise between (\w+) ([\d.]+ \w+)\)", text)
    assert got, text
    assert int(got[1]) == late, (verdict, text)
    for part, value in ((2, wait), (3, least), (4, most), (6, margin), (8, noise)):
        assert got[part] is None or near(got[part], value), (part, value, text)
    assert got[7] == between, (verdict, text)
    assert str(steps) in got[5].split() or (steps, got[5]) in ((0, "whole trace"), (1, "one step")), (verdict, text)


def oracle(how, arguments):
    if how == "kineto":
        return ranks.judged([ranks.read_kineto(path) for path in arguments])
    pairs = [pair.split("=") for pair in arguments[1:]]
    return ranks.judged(ranks.read_truth(arguments[0], {int(pid): int(rank) for rank, pid in pairs}))


def same(want, cell, converted):
    return holds(want, cell) or (converted and isinstance(want, int) and cell != "" and abs(want - int(cell)) <= 100)


def main():
    split = sys.argv.index("--")
    how = sys.argv[split + 1]
    rows, verdict = oracle(how, sys.argv[split + 2:])
    got = subprocess.run(["gprof-trace", "report", "-r", "ranks", "--format", "csv"] + sys.argv[1:split], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, universal_newlines=True, check=True)
    have = list(csv.DictReader(io.StringIO(got.stdout)))
    assert len(rows) == len(have), (len(rows), len(have))
    for want, printed in zip(rows, have):
        for column in want:
            assert same(want[column], printed[column], how == "truth" and column.endswith("_ns")), \
                "%s of rank %s: %s, not %s" % (column, want["rank"], printed[column], want[column])
    if len(rows) > 1:
        check_sentence(verdict, got.stderr)
    print(verdict[0])


if __name__ == "__main__":
    main()
