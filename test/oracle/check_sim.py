"""check_sim.py TRACE TRUTH [CLOCK [STEPS]]: what reports print of a program on the simulated GPU against the simulator's own truth file.  GPU times to the
nanosecond: the recorder converts start and end from the GPU's clock apart, each may be 1 ns off, and a sum 1 ns for each row in it.  Times of calls are the recorder's own: test/e2e/cuda-rows-are-what-the-gpu-did.sh looks at those."""
import subprocess
import sys
from fractions import Fraction

import check_page
import command
import jobs
import sim_steps
import sums
import truth
from compare import Tally, table
from page_steps import of_reports, steps_and_phases
from rows import Trace
from values import near

KERNELS = "cuda_gpu_kern_sum:mangled"
EXACT = {
    KERNELS: (lambda t, r: sums.kernel_sum(t.processes), ("Name",)),
    "cuda_gpu_mem_time_sum": (lambda t, r: sums.memory_time(t.processes), ("Operation",)),
    "cuda_gpu_mem_size_sum": (lambda t, r: sums.memory_size(t.processes), ("Operation",)),
    "temporal": (lambda t, r: jobs.temporal(r), ("rank",)),
    "overlap": (lambda t, r: jobs.overlap(r), ("rank",)),
    "kernel_types": (lambda t, r: jobs.kernel_types(r), ("kernel_type",)),
    "kernel_types_no_memory": (lambda t, r: jobs.kernel_types(r, False), ("kernel_type",)),
}


def to_the_ns(rows, everything):
    """everything: how many GPU rows there are, for sums that do not count theirs."""
    for row in rows:
        n = row.get("Instances", row.get("Count", everything))
        for name, value in row.items():
            if name in ("Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)") and value is not None:
                row[name] = near(value.value, 1 + Fraction(1, 10))
            elif name in ("Total Time (ns)", "time_ns") or name.endswith("_ns") and value is not None:
                row[name] = near(value, n)
        yield row


def page(path, processes, tally):
    """The page's lines about the GPU, with the kernels' names in words."""
    names = sorted({row.name for p in processes for row in p.gpu if row.kind == "kernel"})
    words = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout.splitlines()
    said = dict(zip(names, words))
    for row in (row for p in processes for row in p.gpu):
        row.name = said.get(row.name, row.name)
    sheet = check_page.Sheet(path, command.page(path))
    check_page.of_processes(sheet, processes)
    reports, _ = command.reports(["processes", "steps", "phases"], [path])
    steps_and_phases(sheet, processes, of_reports(processes, reports))
    tally.add(sheet.tally)


def main(path, said, clock=None, numbers=None):
    """clock: what train.py --clock wrote; numbers: the steps that a schedule had recorded, "3,4,5,9"."""
    real, tally = truth.read(said), Tally()
    recorded = set(map(int, numbers.split(","))) if numbers else None
    steps = sim_steps.read_clock(clock, recorded) if clock else {}
    if not real.processes or (len(real.processes) != 1 if not clock else {p.pid for p in real.processes} != set(steps)):
        print("%d processes used the GPU, %d have steps" % (len(real.processes), len(steps)))
        return 1
    for process in real.processes if clock else ():
        process.rank = steps[process.pid][0].rank if len(steps) > 1 else None
        if numbers:
            sim_steps.keep(process, steps[process.pid])
    ranks = sorted((jobs.Rank(p.rank or 0, Trace([p], 0, path)) for p in real.processes), key=lambda r: r.number)
    for rank in ranks if numbers else ():
        rank.work.span = sim_steps.windows(rank.processes[0], steps[rank.processes[0].pid])
    printed, _ = command.reports(list(EXACT), [path])
    for report, (rows, key) in EXACT.items():
        table(tally, path, report, to_the_ns(rows(real, ranks), sum(len(r.rows) for r in ranks)), printed[report], key, [])
    if clock:
        sim_steps.check(tally, path, ranks, steps)
    if not numbers:
        page(path, real.processes, tally)
    for wrong in tally.wrong[:40]:
        print("%s: %s, %s of %s: the truth is %s, the report says %s" % tuple(str(w)[:110] for w in wrong))
    print("%d reports, %d values, %d not equal" % (len(EXACT) + 3 * bool(clock), tally.values, len(tally.wrong)))
    return 1 if tally.wrong or not tally.values else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
