"""check_columns.py DOCS/numbers.md TRACE: every column of every own report, and every quantity of docs/reference/numbers.md, has an oracle function or
a written exception; no exception is about something that there is not."""
import os
import re
import sys

import command
import exceptions
from job import Job
from reports import REPORTS

FILE = re.compile(r"test/[\w/.-]+\.(?:sh|c|py)")


def computed(report, trace):
    """Columns that the oracle's function gives."""
    job = Job("columns", [trace])
    job.numbers, job.printed = {p.pid: 1 for p in job.processes()}, command.Table([], [])
    job.printed.rows = [{"process": "1", "step": r.name.split("#")[1]} for p in job.processes() for r in p.steps]
    rows = list(REPORTS[report].rows(job) or [])
    return set().union(*rows)


def columns_without(trace):
    wrong, count = [], 0
    listed = command.listed()
    compatible = [n for n in listed if n.startswith(exceptions.COMPATIBLE)]
    for report in listed:
        if report in exceptions.REPORTS or report in compatible:
            continue
        if report not in REPORTS:
            wrong.append("report %s has neither an oracle function nor an exception" % report)
            continue
        printed = command.reports([report], [trace])[0][report].columns
        known = computed(report, trace) | set(REPORTS[report].without) | set(exceptions.COLUMNS.get(report, {}))
        wrong += ["%s: column %s has neither an oracle function nor an exception" % (report, c) for c in printed if c not in known]
        wrong += ["%s has no column %s" % (report, c) for c in exceptions.COLUMNS.get(report, {}) if c not in printed]
        count += len(printed)
    wrong += ["there is no report %s" % n for n in (*exceptions.REPORTS, *REPORTS) if n not in listed]
    return wrong, count


def reasons_untrue(top):
    """A file that a reason names is there, and one of those that a report's reason names has the report's name in it."""
    wrong = []
    texts = [*exceptions.REPORTS.values(), *(t for c in exceptions.COLUMNS.values() for t in c.values()),
             *(t for t in exceptions.QUANTITIES.values() if isinstance(t, str))]
    named = {f for text in texts for f in FILE.findall(text)}
    content = {}
    for name in named:
        try:
            with open(os.path.join(top, name), encoding="utf-8") as f:
                content[name] = f.read()
        except OSError:
            wrong.append("a reason names %s, which is not there" % name)
    for report, text in exceptions.REPORTS.items():
        files = [f for f in FILE.findall(text) if f in content]
        if files and not any(re.search(r"\b%s\b" % report, content[f]) for f in files):
            wrong.append("%s: no test of its reason names it: %s" % (report, text))
    return wrong


def quantities_without(path):
    """Rows of the tables of docs/reference/numbers.md whose first column is a quantity or the column of a report."""
    wrong, count, heading = [], 0, None
    lines = open(path, encoding="utf-8").read().splitlines()
    for line, below in zip(lines, lines[1:] + [""]):
        if not line.startswith("|"):
            heading = None
            continue
        first = line.split("|")[1].strip()
        if re.match(r"\|[ -]+\|", below):
            heading = first
            continue
        if re.fullmatch(r"-+", first) or heading == exceptions.CRITICAL_PATH:
            continue
        count += 1
        if heading == exceptions.BY_RANK:
            wrong += ["%s is defined, and has neither an oracle function nor an exception" % n for n in re.findall(r"`(\w+)`", first)
                      if n not in REPORTS and n not in exceptions.REPORTS]
            continue
        how = exceptions.QUANTITIES.get(first)
        if how is None or (isinstance(how, tuple) and how[0] not in REPORTS):
            wrong.append("%s is defined, and has neither an oracle function nor an exception" % first)
    return wrong, count


def main(numbers, trace):
    wrong, columns = columns_without(trace)
    more, quantities = quantities_without(numbers)
    wrong += reasons_untrue(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(numbers)))))
    for what in wrong + more:
        print(what)
    print("%d columns of %d reports, %d quantities of docs/reference/numbers.md" % (columns, len(REPORTS), quantities))
    return 1 if wrong or more or not columns or not quantities else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
