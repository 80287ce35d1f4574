"""redact_check.py A B [REPORT,REPORT]: every number of every report of trace A is in B's, in rows that are otherwise alike.

Texts are not compared, but where they are and how many different ones a column has.  Reports named behind B are left out.  Prints
how many reports had rows, and how many numbers were compared.
"""
import collections
import json
import re
import subprocess
import sys


LEFT_OUT = {"source", "detail", "value", "host"}  # texts of sources, of health and of payloads are left out, and the host


def run(*words):
    p = subprocess.run(["gprof-trace", *words], capture_output=True, text=True)
    return p.returncode, p.stdout



def shape(rows):
    """Rows without their texts, in no order; and how many different texts each column has."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        rows = [rows]
    texts = collections.defaultdict(set)

    def bare(value, key):
        if isinstance(value, dict):
            values = [(k, bare(v, k)) for k, v in value.items() if v is not None]
            return tuple(sorted((k, v) for k, v in values if v != "text"))
        if isinstance(value, list):
            return tuple(bare(v, key) for v in value)
        if key == "value" and isinstance(value, str) and re.fullmatch(r"-?[0-9][0-9.e+-]*", value):
            return float(value)
        if isinstance(value, str):
            texts[key].add(value)
            return "text"
        return value

    cells = collections.Counter(bare(row, "") for row in rows)
    return cells, {k: len(v) for k, v in texts.items()}


def count(value):
    return sum(count(v) for v in value) if isinstance(value, tuple) else isinstance(value, (int, float))


def compare(name, one, two):
    (cells, texts), (cells2, texts2) = shape(one), shape(two)
    assert cells == cells2, f"{name}: only in the first: {list(cells - cells2)[:3]}; only in the second: {list(cells2 - cells)[:3]}"
    for key in set(texts) - LEFT_OUT:
        assert texts[key] == texts2.get(key), f"{name}: {key} has {texts[key]} texts, and {texts2.get(key)}"
    return sum(count(row) * n for row, n in cells.items())


def reported(names, path):
    """{report: what it says}, of those that say something of this trace."""
    if not names:
        return {}
    status, text = run("report", "-r", ",".join(names), "--limit", "0", "--format", "json", path)
    if status == 0:
        said = json.loads(text)
        return said if len(names) > 1 else {names[0]: said}
    if len(names) == 1:
        return {}
    half = len(names) // 2
    return reported(names[:half], path) | reported(names[half:], path)


def main():
    a, b = sys.argv[1:3]
    skipped = set(sys.argv[3].split(",")) if len(sys.argv) > 3 else set()
    names = [line.split()[0] for line in run("report", "list", "--all")[1].splitlines() if line[:1].isalpha()]
    names = [name for name in names if name not in skipped]
    one, two = reported(names, a), reported(names, b)
    assert set(one) == set(two), set(one) ^ set(two)
    numbers = sum(compare(name, one[name], two[name]) for name in one)
    print(f"{len(one)} reports, {sum(bool(v) for v in one.values())} with rows, {numbers} numbers")


main()
