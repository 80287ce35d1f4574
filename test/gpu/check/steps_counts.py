"""Counts: what programs know of themselves against our rows."""

import glob
import os

import machine
from trace import Kineto

OWN = ("counts", "loops", "startup", "facts")  # of test/gpu; the other programs are those of test/programs
ALONE = ("exit_paths", "driver_api")  # one needs arguments, one is run by name
QUICK = ("vector_add", "graphs", "event_pairs")


def first_light(ck):
    """gprof-run works here at all; a libcupti that it does not find by itself is named to it from now on."""
    counts = ck.need_program("counts")
    for where, path in [(None, None)] + ([] if ck.sim else machine.libcuptis(ck.build)):
        ck.cupti_options = ["--cupti-lib", path] if path else []
        outcome, reports = ck.gprof("first", [counts])
        facts = reports.attributes()
        if reports.found("kernels"):
            break
    else:
        ck.cupti_options = []
    ck.true(
        "a program under gprof-run ends as without",
        outcome.rc == 0,
        outcome.last_words() if outcome.rc else "status 0",
        "status 0",
    )
    ck.true("its kernels are recorded", bool(reports.found("kernels")), reports.found("kernels"), "some")
    ck.value(
        "libcupti of a program without PyTorch",
        f"found by itself: {_where(ck, facts.get('cupti.path', 'none'))}" if not where else f"named: {where}",
    )
    ck.value("CUPTI's version", facts.get("cupti.version", "unknown"))
    ck.value(
        "driver's and runtime's version",
        f"{facts.get('driver.version', 'unknown')}, {facts.get('runtime.version', 'unknown')}",
    )
    if not ck.libcupti:
        known = [p for _, p in machine.libcuptis(ck.build)]
        ck.libcupti = facts.get("cupti.path") or (known[0] if known else None)
    for reason in reports.health():
        ck.value("health of the first run", reason)


def _where(ck, path):
    if "site-packages" in path or "dist-packages" in path:
        return "PyTorch's wheels"
    return "the simulated one" if ck.sim else "the toolkit" if "cuda" in path else "the system"


def _programs(ck):
    """(name, runtime) of all programs that are built."""
    found = set()
    for path in glob.glob(os.path.join(ck.build, "gpu", "*-shared")) + glob.glob(
        os.path.join(ck.build, "gpu", "*-static")
    ):
        name, runtime = os.path.basename(path).rsplit("-", 1)
        found.add((name, runtime))
    for source in glob.glob(os.path.join(ck.top, "test", "programs", "*.cu")):
        name = os.path.splitext(os.path.basename(source))[0]
        if ck.program(name):
            found.add((name, "shared"))
    return sorted((n, r) for n, r in found if n not in OWN + ALONE and not (ck.sim and r == "static"))


def counts(ck):
    for runtime in ("shared",) if ck.sim else ("shared", "static"):
        for end in ("return", "_exit", "reset"):
            ck.counted(f"counts-{end}-{runtime}", [ck.need_program("counts", runtime), end])
    ck.counted("launches", [ck.need_program("loops"), "launch", 5000 if ck.quick else 50000])
    graph_nodes(ck)
    for name, runtime in _programs(ck):
        if not ck.quick or name in QUICK:
            ck.counted(f"{name}-{runtime}", [ck.program(name, runtime)], limit=25)
    driver_api = ck.program("driver_api")
    if driver_api:
        ck.counted("driver_api", [driver_api])
    event_times(ck)
    kineto_export(ck)


def graph_nodes(ck):
    loops, launches = ck.need_program("loops"), 20
    ck.counted("graph nodes", [loops, "graph", launches])
    outcome, reports = ck.gprof("graph-whole", [loops, "graph", launches], ["--cuda-graph-trace=graph"])
    rows = ck.ask(["dump", "-k", "graph", reports.path])
    ck.check(
        "whole graphs: one row each launch", launches + 10, sum(line.startswith("graph ") for line in rows.splitlines())
    )
    ck.check("whole graphs: no kernel rows beside them", 0, reports.found("kernels") if outcome.rc == 0 else None)


def kineto_export(ck):
    """The JSON that other tools read says what our tables say; it is also what the PyTorch steps compare with."""
    outcome, reports = ck.gprof("export", [ck.program("graphs") or ck.need_program("counts")])
    exported = Kineto(reports.export(os.path.join(ck.work, "export.json")))
    ck.check("Kineto export: kernels", reports.found("kernels") if outcome.rc == 0 else None, exported.count("kernel"))
    ck.check("Kineto export: copies", reports.found("copies"), exported.count("copy"))
    ck.check("Kineto export: summed kernel time, ns", reports.kernel_ns(), exported.kernel_ns())


def event_times(ck):
    """The GPU's time between two CUDA events, as the program measured it and as our rows have it."""
    program = ck.program("event_pairs")
    if not program:
        return ck.skip("times between CUDA events", "event_pairs is not built")
    outcome, reports = ck.gprof("events", [program])
    said = [
        int(line.split(",")[1])
        for line in outcome.out.splitlines()
        if line.split(",")[0] in ("busy", "idle", "default")
    ]
    told = [row["elapsed_ns"] for row in reports.rows("cuda_events")]
    ck.true(
        f"CUDA events: {len(said)} times as the program was told",
        sorted(said) == sorted(told),
        "the same" if said else "none",
        "the same",
    )
    busy = [row for row in reports.rows("cuda_events")][: len(said) // 3]
    off = [abs(row["difference_ns"]) for row in busy if isinstance(row["difference_ns"], (int, float))]
    if off:
        ck.value("CUDA events on a busy stream: our rows differ by at most", f"{max(off)} ns")
        ck.true(
            "CUDA events on a busy stream: our rows differ by less than 5 % and 10 us",
            all(d <= max(10000, 0.05 * row["elapsed_ns"]) for d, row in zip(off, busy)),
            f"{max(off)} ns",
        )
