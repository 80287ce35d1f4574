"""check_page.py DATA [TRACE]: every figure of the page (`gprof-trace report`) about every trace and job of DATA against what the oracle computes
from the original files, within the rounding that is printed.  Phases, and steps that a file does not mark, are the rows of the reports `phases` and
`steps`, which check_traces.py compares."""
import concurrent.futures
import re
import sys
import time

import command
from compare import Tally
from job import Job, found
from page import Page
from page_gpu import gpus, holds, kernels, largest
from page_ranks import ranks
from page_steps import of_reports, steps_and_phases


class Sheet:
    """The page of a trace, and what was compared of it."""

    def __init__(self, name, text):
        self.name, self.page, self.tally = name, Page(text), Tally()

    def same(self, line, what, wanted, printed):
        self.tally.values += 1
        self.tally.columns[line, what] = self.tally.columns.get((line, what), 0) + 1
        if wanted != printed:
            self.wrong(line, what, wanted, printed)

    def rounded(self, line, what, exact, shown):
        """shown: a Shown, or None where the page has no such figure."""
        self.same(line, what, True, shown is not None and exact is not None and shown.is_of(exact))
        if shown is not None and exact is not None and shown.is_of(exact):
            return
        self.tally.wrong[-1] = (self.name, "page", line, what, exact, shown)

    def wrong(self, line, what, wanted, printed):
        self.tally.wrong.append((self.name, "page", line, what, wanted, printed))


def of_processes(sheet, processes):
    """What needs only rows: also of a program on the simulated GPU."""
    gpus(sheet, processes)
    kernels(sheet, processes)


def check(name, paths):
    try:
        job = Job(name, paths)
    except (ValueError, OSError, EOFError, KeyError):
        return None
    sheet = Sheet(name, command.run("report", *paths)[0])
    reports, _ = command.reports(["processes", "steps", "phases"], paths)
    processes = job.processes()
    holds(sheet, processes)
    of_processes(sheet, processes)
    steps_and_phases(sheet, processes, of_reports(processes, reports))
    largest(sheet, processes)
    ranks(sheet, job)
    return sheet.tally


def report(tally, what):
    for wrong in tally.wrong[:40]:
        print("%s: %s, %s: %s: the oracle says %s, the page %s" % tuple(str(w)[:110] for w in wrong))
    kinds = sorted({line for line, _ in tally.columns})
    print("%s, %d figures of %d kinds of lines (%s), %d not equal" % (what, tally.values, len(kinds), ", ".join(kinds), len(tally.wrong)))
    return 1 if tally.wrong or not tally.values else 0


def main(data, word=""):
    began, total, n = time.time(), Tally(), 0
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for future in [pool.submit(check, name, paths) for name, paths in found(data) if word in name]:
            tally = future.result()
            n += tally is not None
            total.add(tally or Tally())
    return report(total, "%d pages (%.0f s)" % (n, time.time() - began))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
