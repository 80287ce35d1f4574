"""hta_golden.py DATA: the hta_ reports on the traces of DATA/hta against what HTA itself printed, report by report.
The ones that are objects in JSON are compared here: paths, and what changed from trace to trace.

DATA/hta/traces/SET/* are Kineto files, DATA/hta/golden/SET/NAME.csv[.gz] HTA's answers, DATA/../tools/csvdiff.py the judge;
DATA/hta/minimal/ has small files of the same order, each odd in its own way, DATA/tb/ files of 2021.
Prints how many of how many are equal, and each that is not.  Exit status 1: some are not."""
import collections
import contextlib
import csv
import glob
import gzip
import io
import json
import os
import runpy
import subprocess
import sys

DATA = sys.argv[1]
JUDGE = os.path.join(DATA, "..", "tools", "csvdiff.py")
LOSES_RANKS = ("no-distinfo", "no-rank-space")     # HTA takes both files for rank 0 and drops one; we do not
NO_REPORT = ("parsed_events", "cupti_counters")
csv.field_size_limit(1 << 30)


def goldens(name, *below, tree="golden"):
    """NAME -> file; where HTA leaves the order of equal times to chance, the variant that does not."""
    found = {}
    for path in glob.glob(os.path.join(DATA, "hta", *below, tree, name, "*.csv*")):
        report = os.path.basename(path).replace(".gz", "")[: -len(".csv")]
        if report.startswith(NO_REPORT) or report.endswith(".edges"):
            continue
        found[report] = variant(path, "stable-sort")
    return found


def tables(text):
    """Tables of one output stand below each other, a blank line between them."""
    part = []
    for row in csv.reader(io.StringIO(text)):
        if row:
            part.append(row)
        else:
            yield part
            part = []
    yield part


def judge(want, got):
    said = io.StringIO()
    argv, sys.argv = sys.argv, [JUDGE, want, got]
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path(JUDGE)
        return None
    except SystemExit as e:
        return said.getvalue().strip() if e.code else None
    finally:
        sys.argv = argv


def compare(name, operands, found, equal, total, bad):
    reports = sorted(found)
    run = subprocess.run(["gprof-trace", "report", "-r", ",".join("hta_" + r for r in reports), "--format", "csv", *operands],
                         capture_output=True, text=True, timeout=280)
    parts = list(tables(run.stdout))
    for i, report in enumerate(reports):
        kind = report.split(".")[0]
        total[kind] += 1
        if run.returncode or len(parts) != len(reports):
            bad.append((name, report, "exit %d: %s" % (run.returncode, run.stderr[-200:])))
            continue
        with open("got.csv", "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows(parts[i])
        what = judge(found[report], "got.csv")
        if what:
            bad.append((name, report, what[:300]))
        else:
            equal[kind] += 1


def variant(path, word):
    for end in ("", ".gz"):
        other = os.path.join(os.path.dirname(path), "variants", word, os.path.basename(path).replace(".gz", "") + end)
        if os.path.exists(other):
            return other
    return path


def same_object(want, got):
    """Why not, or None.  Counts and lists exactly; times and percentages to what a double of another order gives."""
    for key, value in want.items():
        ours = got.get(key)
        if key == "length_us":
            equal = abs(value - ours) <= 1e-6 * abs(value)
        elif key == "summary_pct":
            equal = value.keys() == ours.keys() and all(abs(v - ours[k]) < 1e-6 for k, v in value.items())
        else:
            equal = value == ours
        if not equal:
            return "%s: %s want %s" % (key, str(ours)[:80], str(value)[:80])
    return None


def objects(pattern, operands, equal, total, bad):
    for path in sorted(glob.glob(pattern)):
        report = os.path.basename(path).replace(".gz", "")[: -len(".json")]
        kind = report.split(".")[0]
        path = variant(path, "stable-sort")
        run = subprocess.run(["gprof-trace", "report", "-r", "hta_" + report, "--format", "json", *operands],
                             capture_output=True, text=True, timeout=280)
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as f:
            want = json.load(f)
        what = same_object(want, json.loads(run.stdout)) if run.returncode == 0 else run.stderr[-200:]
        total[kind] += 1
        equal[kind] += what is None
        if what:
            bad.append((os.path.dirname(path), report, what))


def print_counts(what, equal, total):
    for kind in sorted(total):
        print("%-40s %d of %d" % (kind, equal[kind], total[kind]))
    print("%s: %d of %d" % (what, sum(equal.values()), sum(total.values())))


def main():
    equal, total, bad = collections.Counter(), collections.Counter(), []
    for name in sorted(os.listdir(os.path.join(DATA, "hta", "traces"))):
        found = goldens(name)
        if found:
            compare(name, [os.path.join(DATA, "hta", "traces", name)], found, equal, total, bad)
        objects(os.path.join(DATA, "hta", "golden", name, "critical_path.*.json*"),
                [os.path.join(DATA, "hta", "traces", name)], equal, total, bad)
    compare("memory-timeline", [os.path.join(DATA, "hta", "memory-timeline")], goldens("memory-timeline"), equal, total, bad)
    for name in sorted(os.listdir(os.path.join(DATA, "hta", "minimal", "traces"))):
        found = goldens(name, "minimal")
        if found and name not in LOSES_RANKS:
            compare(name, [os.path.join(DATA, "hta", "minimal", "traces", name)], found, equal, total, bad)
    for folder in sorted(glob.glob(os.path.join(DATA, "hta", "golden", "diff.*.vs.*"))):
        operands = [os.path.join(DATA, "hta", "traces", n) for n in os.path.basename(folder)[5:].split(".vs.")]
        compare(os.path.basename(folder), operands, goldens(os.path.basename(folder)), equal, total, bad)
        objects(os.path.join(folder, "ops_diff.*.json"), operands, equal, total, bad)
    for name in sorted(os.listdir(os.path.join(DATA, "tb", "traces"))):
        found = goldens(name, "..", "tb", tree="golden/hta")
        if found:
            compare(name, [os.path.join(DATA, "tb", "traces", name)], found, equal, total, bad)
    for folder in sorted(glob.glob(os.path.join(DATA, "tb", "golden", "hta", "diff.*.vs.*"))):
        operands = [os.path.join(DATA, "tb", "traces", n) for n in os.path.basename(folder)[5:].split(".vs.")]
        compare(os.path.basename(folder), operands, goldens(os.path.basename(folder), "..", "tb", tree="golden/hta"),
                equal, total, bad)
        objects(os.path.join(folder, "ops_diff.*.json"), operands, equal, total, bad)
    print_counts("equal to HTA", equal, total)
    for one in bad:
        print("differs: %s %s: %s" % one)
    sys.exit(1 if bad or not total else 0)


main()
