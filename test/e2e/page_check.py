"""page_check.py TRACE...: the page of each trace is at most 80 columns wide and 25 lines long, has no share without what it is a share of, and
names no report without rows.  With --data DIR: of every trace and every folder of ranks of the shared test data.  With --text FILE...: only
the size of pages that gprof-run printed."""
import csv
import io
import os
import subprocess
import sys

COLUMNS, LINES = 80, 25
BASES = (" of ", " (GPU ", ", each of ", ") outside ")


def run(*arguments):
    done = subprocess.run(["gprof-trace", *arguments], capture_output=True, text=True, timeout=200)
    return done.stdout if done.returncode == 0 else None


def traces(data):
    for top in ("hta/traces", "hta/minimal/traces", "tb/traces"):
        for folder, _, files in sorted(os.walk(os.path.join(data, top))):
            found = sorted(f for f in files if ".json" in f)
            yield from (os.path.join(folder, f) for f in found)
            if len(found) > 1:
                yield folder


def rows(report, trace):
    text = run("report", "-r", report, "--format", "csv", trace)
    return max(len(list(csv.reader(io.StringIO(text)))) - 1, 0) if text else 0


def shares(text):
    """Whatever is behind each share in words; those of the table stand in a column that says of what."""
    at = text.find(" %")
    while at >= 0:
        if text[at - 1].isdigit():
            yield text[at + 2:]
        at = text.find(" %", at + 1)


def words(lines):
    """The page without its table, each label's lines joined."""
    out, table = [], False
    for line in lines:
        if line.startswith("  ") and line[2:3] != " ":
            table = False
            out.append(line)
        elif not line.strip():
            table = not table and bool(out)
        elif not table and out:
            out[-1] += " " + line.strip()
    return out


def size(lines):
    return ["%d lines" % len(lines)] * (len(lines) > LINES) + ["%d columns: %s" % (len(line), line) for line in lines if len(line) > COLUMNS]


def printed(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return 1, ["%s: %s" % (path, w) for w in size(lines) + ["no page"] * (not any("gprof-trace report list" in line for line in lines))]


def check(trace):
    page = run("report", trace)
    if page is None:
        return 0, []
    lines = page.splitlines()
    wrong = size(lines)
    for line in words(lines[1:]):
        if line.startswith("  command"):
            continue
        wrong += ["a share of what? %s" % line for rest in shares(line) if not rest.startswith(BASES)]
    named = [word for line in lines for front, _, behind in [line.partition("gprof-trace report -r ")] if behind for word in behind.split()[0].split(",")]
    wrong += ["the report %s is empty" % report for report in named if not rows(report, trace)]
    if not any("gprof-trace report list" in line for line in lines):
        wrong.append("no line about what to type next")
    return 1, ["%s: %s" % (trace, w) for w in wrong]


def main(arguments):
    test = printed if arguments[0] == "--text" else check
    found = list(traces(arguments[1])) if arguments[0] == "--data" else arguments[arguments[0] == "--text":]
    pages, wrong = 0, []
    for trace in found:
        n, said = test(trace)
        pages += n
        wrong += said
    print("\n".join(wrong[:40]))
    print("pages: %d, wrong: %d" % (pages, len(wrong)))
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
