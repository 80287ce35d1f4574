"""check_traces.py DATA [TRACE [REPORT...]]: every report about every trace of DATA against what the oracle computes from the original
file.  TRACE, REPORT: those alone that have the text in their name.  Two processes; exit status 1: something is not equal."""
import concurrent.futures
import os
import sys
import time

import command
import compare
from job import Job, found
from reports import OF_JOB, OF_TRACE, PENDING, REPORTS

SHOWN = int(os.environ.get("SHOWN", "40"))


def check(name, paths, words):
    """A Tally, or a text: why the file is left out."""
    try:
        job = Job(name, paths)
    except (ValueError, OSError, EOFError, KeyError) as e:
        return "%s: Python cannot read it (%s)" % (name, str(e)[:80])
    scope = OF_TRACE if len(paths) == 1 else OF_JOB
    wanted = {n: r for n, r in REPORTS.items() if n not in PENDING or words}
    wanted = {n: r for n, r in wanted.items() if scope == OF_TRACE or r.scope == OF_JOB}
    if words:
        wanted = {n: r for n, r in wanted.items() if any(w in n for w in words)}
    if not wanted:
        return job.tally
    if scope == OF_TRACE:
        listed, _ = command.reports(["processes"], paths)
        job.numbers = {int(r["pid"]) if r["pid"].isdigit() else r["pid"]: int(r["process"]) for r in listed["processes"].rows}
    printed, _ = command.reports(list(wanted), paths)
    for report, how in wanted.items():
        if not set(how.key) <= set(printed[report].columns):
            job.tally.wrong.append((name, report, "columns", "", how.key, printed[report].columns))
            continue
        job.printed = printed[report]
        rows = how.rows(job)
        if rows is not None:
            compare.table(job.tally, name, report, rows, printed[report], how.key, job.zero)
    return job.tally


def largest_first(item):
    return -sum(os.path.getsize(p) for p in item[1])


def main(data, words):
    began = time.time()
    everything = list(found(data))
    traces = [t for t in everything if not words or words[0] in t[0]]
    reports = words[1:]
    total = compare.Tally()
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        done = [pool.submit(check, name, paths, reports) for name, paths in sorted(traces, key=largest_first)]
        for future in done:
            tally = future.result()
            if isinstance(tally, str):
                print("left out:", tally)
            else:
                total.add(tally)
    for wrong in total.wrong[:SHOWN]:
        print("%s: %s, %s of %s: the oracle says %s, the report %s" % tuple(str(w)[:110] for w in wrong))
    print("%d traces, %d columns of %d reports, %d values, %d not equal (%.0f s)" %
          (len(traces), len(total.columns), len({r for r, _ in total.columns}), total.values, len(total.wrong), time.time() - began))
    return 1 if total.wrong or not total.values else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
