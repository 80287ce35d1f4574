#!/usr/bin/env python3
"""Holds report `ranks` against test/oracle/ranks.py: ranks_check.py TRACE -- ORACLE ARGUMENTS...

Every column but names and processes exactly; times of a recorded trace to 100 ns, since clocks are converted.  Of the sentence the rank
and its figures, to their printed digits.  Prints the oracle's verdict.
"""
import csv
import io
import os
import re
import subprocess
import sys

REASONS = {"none": "there are no kernels of collectives", "counts": "collectives have no sequence numbers, and rank",
           "apart": "by their order they do not match", "alone": "no two ranks have a collective in common",
           "unequal": "ranks take part in different numbers of collectives", "few": "are too few to tell noise from lateness",
           "nobody": "no rank is late"}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
CONVERTED = ("span_ns", "busy_ns", "comm_ns", "comm_exposed_ns", "wait_ns", "step_wait_ns")


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
    got = re.search(r"rank (\d+) arrives last: it waits ([\d.]+ \w+) in collectives(?: per step)?, the others? ([\d.]+ \w+)(?: to ([\d.]+ \w+))? "
                    r"\((.*); difference at least ([\d.]+ \w+), noise between (\w+) ([\d.]+ \w+)\)", text)
    assert got, text
    assert got[1] == late, (verdict, text)
    for part, value in ((2, wait), (3, least), (4, most), (6, margin), (8, noise)):
        assert got[part] is None or near(got[part], int(value)), (part, value, text)
    assert got[7] == between, (verdict, text)
    assert steps in got[5].split() or (steps, got[5]) in (("0", "whole trace"), ("1", "one step")), (verdict, text)


def main():
    split = sys.argv.index("--")
    oracle = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle", "ranks.py")
    said = subprocess.run([sys.executable, oracle] + sys.argv[split + 1:], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    rows, _, verdict = said.rpartition("verdict,")
    got = subprocess.run(["gprof-trace", "report", "-r", "ranks", "--format", "csv"] + sys.argv[1:split], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, universal_newlines=True, check=True)
    want, have = list(csv.DictReader(io.StringIO(rows))), list(csv.DictReader(io.StringIO(got.stdout)))
    assert len(want) == len(have), (len(want), len(have))
    truth = sys.argv[split + 1] == "truth"
    for w, h in zip(want, have):
        for column in w:
            if truth and column in ("steps", "wall_ns"):        # the simulator knows of no steps
                continue
            same = w[column] == h[column] or truth and column in CONVERTED and abs(int(w[column]) - int(h[column])) <= 100
            assert same, "%s of rank %s: %s, not %s" % (column, w["rank"], h[column], w[column])
    if len(want) > 1:
        check_sentence(verdict.strip().split(","), got.stderr)
    print(verdict.strip().split(",")[0])


if __name__ == "__main__":
    main()
