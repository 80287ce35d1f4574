"""hta_golden.py DATA: the hta_ reports on the traces of DATA/hta against what HTA itself printed, report by report.

DATA/hta/traces/SET/* are Kineto files, DATA/hta/golden/SET/NAME.csv[.gz] HTA's answers, DATA/../tools/csvdiff.py the judge.
Prints how many of how many are equal, and each that is not.  Exit status 1: some are not."""
import collections
import contextlib
import csv
import glob
import io
import os
import runpy
import subprocess
import sys

DATA = sys.argv[1]
JUDGE = os.path.join(DATA, "..", "tools", "csvdiff.py")
NO_REPORT = ("parsed_events", "cupti_counters")
csv.field_size_limit(1 << 30)


def goldens(name):
    """NAME -> file; where HTA leaves the order of equal times to chance, the variant that does not."""
    found = {}
    for path in glob.glob(os.path.join(DATA, "hta", "golden", name, "*.csv*")):
        report = os.path.basename(path).replace(".gz", "")[: -len(".csv")]
        if report.startswith(NO_REPORT) or report.endswith(".edges"):
            continue
        for end in (".csv", ".csv.gz"):
            variant = os.path.join(os.path.dirname(path), "variants", "stable-sort", report + end)
            if os.path.exists(variant):
                path = variant
        found[report] = path
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


def compare(name, prefix, operands, found, equal, total, bad):
    reports = sorted(found)
    run = subprocess.run(["gprof-trace", "report", "-r", ",".join(prefix + r for r in reports), "--format", "csv", *operands],
                         capture_output=True, text=True, timeout=100)
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


def main():
    equal, total, bad = collections.Counter(), collections.Counter(), []
    for name in sorted(os.listdir(os.path.join(DATA, "hta", "traces"))):
        found = goldens(name)
        if found:
            compare(name, "hta_", [os.path.join(DATA, "hta", "traces", name)], found, equal, total, bad)
    for one in bad:
        print("differs: %s %s: %s" % one)
    for kind in sorted(total):
        print("%-40s %d of %d" % (kind, equal[kind], total[kind]))
    print("equal to HTA: %d of %d" % (sum(equal.values()), sum(total.values())))
    sys.exit(1 if bad or not total else 0)


main()
