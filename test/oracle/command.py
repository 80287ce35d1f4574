"""Runs gprof-trace and reads its CSV."""
import csv
import io
import re
import subprocess

csv.field_size_limit(1 << 30)


class Table:
    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows


def run(*arguments):
    done = subprocess.run(["gprof-trace", *arguments], capture_output=True, text=True, timeout=200)
    if done.returncode:
        raise RuntimeError("gprof-trace %s: exit %d: %s" % (" ".join(arguments), done.returncode, done.stderr[-300:]))
    return done.stdout, done.stderr


def reports(names, operands, *options):
    """{name: Table}, and what was said on stderr."""
    out, said = run("report", "-r", ",".join(names), "--format", "csv", *options, *operands)
    tables, part = [], []
    for row in csv.reader(io.StringIO(out)):
        if row:
            part.append(row)
        else:
            tables.append(part)
            part = []
    tables.append(part)
    if len(tables) != len(names):
        raise RuntimeError("%d tables for %d reports of %s" % (len(tables), len(names), operands))
    return {name: Table(t[0], [dict(zip(t[0], r)) for r in t[1:]]) for name, t in zip(names, tables)}, said


def listed():
    """{name: question} of the reports that are ours: `report list`."""
    out, _ = run("report", "list", "--format", "csv")
    return {row["report"]: row["question"] for row in csv.DictReader(io.StringIO(out))}


def page(operand):
    return run("report", operand)[0]
