"""PyTorch: torch.profiler's counts against ours, both at once, and what its libraries say of themselves over NVTX."""

import json
import os
import re

import steps_cost
from check import PYTHON
from steps_facts import number, read
from trace import Kineto, difference, load_kineto

RANGE = "measured"  # torch_loop.py puts it around what is compared
SUMS = 0.001  # of summed kernel time: where both have the same kernels of the same run
# Rows of torch.profiler's table that are CUPTI's or the loader's own doings, and differ from run to run.
CHANCE = re.compile(
    r"Buffer|Lazy|Module Loading|Instrumentation|Overhead|Resource|Command|cudaEventQuery|cudaFuncGetAttributes|cudaOccupancy"
)


def loop(ck, *arguments):
    return [PYTHON, "-W", "ignore", os.path.join(ck.top, "test", "gpu", "torch_loop.py")] + list(arguments)


def profiled(ck, name, wrap=None):
    """torch_loop.py under torch.profiler, perhaps under us too: outcome, its Kineto trace and its table ({row: (calls, on GPU, us)})."""
    trace_path, table_path = (os.path.join(ck.work, f"{name}.{kind}.json") for kind in ("torch", "table"))
    for path in (trace_path, table_path):
        if os.path.exists(path):
            os.unlink(path)
    argv = loop(ck, "profiled", trace_path, table_path)
    outcome = ck.run(ck.gprof_argv(name, argv, wrap) if wrap is not None else argv, 150)
    try:
        with open(table_path, encoding="utf-8") as f:
            table = {(row["name"], row["device"]): (row["calls"], row["us"]) for row in json.load(f)}
        return outcome, Kineto(load_kineto(trace_path), RANGE), table
    except (OSError, ValueError, KeyError):
        return outcome, None, {}


def ours(ck, reports, name):
    return Kineto(reports.export(os.path.join(ck.work, name + ".ours.json")), RANGE)


def same_counts(ck, what, theirs, mine):
    """Numbers of kernels by name, of copies and of sets, and of the API calls that both have: no tolerance."""
    if not ck.true(
        f"{what}: there is something to compare",
        theirs.count("kernel") > 0,
        f"{theirs.count('kernel')} kernels",
        "kernels",
    ):
        return False
    for kind in ("kernel", "copy", "set"):
        ck.check(f"{what}: {kind} rows", theirs.count(kind), mine.count(kind))
    short = difference(theirs.kernels(True), mine.kernels(True))
    ck.true(f"{what}: kernels by name, without arguments", not short, short or "the same", "the same")
    full = difference(theirs.kernels(), mine.kernels())
    ck.true(f"{what}: kernels by full name", not full, full or "the same", "the same")
    both = [name for name in mine.calls if name.startswith("cuda") and name in theirs.calls]
    calls = difference({n: theirs.calls[n] for n in both}, {n: mine.calls[n] for n in both})
    ck.true(f"{what}: {len(both)} API calls by name", not calls, calls or "the same", "the same")
    return True


def counts(ck):
    """torch.profiler alone, then us alone, on the same script."""
    steps_cost.needs_torch(ck)
    outcome, theirs, _ = profiled(ck, "alone")
    if not theirs:
        return ck.true("torch.profiler alone: works", False, outcome.last_words())
    plain, reports = ck.gprof("torch", loop(ck, "plain"), limit=150)
    ck.check("PyTorch under gprof-run: status", 0, plain.rc)
    mine = ours(ck, reports, "torch")
    same_counts(ck, "PyTorch", theirs, mine)
    ck.value(
        "summed kernel time of the two runs, torch.profiler's and ours",
        f"{theirs.kernel_ns() / 1e6:.3f} ms, {mine.kernel_ns() / 1e6:.3f} ms ({mine.kernel_ns() / max(theirs.kernel_ns(), 1) - 1:+.2%})",
    )
    path = reports.attributes().get("cupti.path", "none")
    ck.value(
        "libcupti with PyTorch",
        "of PyTorch's wheels" if re.search("site-packages|dist-packages", path) else ck.clean(path),
    )
    for reason in reports.health():
        ck.value("health with PyTorch", reason)


def same_tables(ck, what, want, got):
    """torch.profiler's key_averages(): each row's number of calls."""

    def rows(table, keep):
        return {
            f"{name} ({device})": calls
            for (name, device), (calls, _) in table.items()
            if keep(name, device) and not CHANCE.search(name)
        }

    def is_call(name):
        return re.match(r"cu(da)?[A-Z]", name) is not None

    for part, keep in (
        ("operators", lambda n, d: d == "CPU" and not is_call(n)),
        ("GPU rows", lambda n, d: d != "CPU"),
        ("CUDA calls", lambda n, d: d == "CPU" and is_call(n)),
    ):
        text = difference(rows(want, keep), rows(got, keep)) or ("" if rows(want, keep) else "no rows")
        ck.true(
            f"{what}: the table's {part}, with and without us",
            not text,
            text or f"the same, {len(rows(want, keep))}",
            "the same",
        )
    sums = [sum(us for (_, device), (_, us) in table.items() if device != "CPU") for table in (want, got)]
    ck.value(f"{what}: the table's GPU time without and with us", f"{sums[0]:,.0f} us, {sums[1]:,.0f} us")


def both(ck):
    """The program's own profiler wins: its table is what it is without us."""
    steps_cost.needs_torch(ck)
    outcome, theirs, table = profiled(ck, "alone")
    if not theirs:
        return ck.true("torch.profiler alone: works", False, outcome.last_words())
    modes = steps_cost.cupti_modes(ck)
    for mode in ("share", "yield", "keep"):
        if mode not in modes:
            ck.skip(f"--cupti={mode}", "not an option of this gprof-run")
    for mode in modes or [None]:
        what = f"--cupti={mode}" if mode else "torch.profiler under gprof-run"
        name = f"both-{mode or 'default'}"
        outcome, seen, with_us = profiled(ck, name, [f"--cupti={mode}"] if mode else [])
        ck.check(f"{what}: status", 0, outcome.rc)
        reports = ck.reports(name)
        ck.value(
            f"{what}: kernels that torch.profiler and we have",
            f"{seen.count('kernel') if seen else 0}, {reports.found('kernels')}",
        )
        for reason in reports.health():
            ck.value(f"{what}: health", reason)
        if mode == "keep":  # there the user gave CUPTI to us
            continue
        same_tables(ck, what, table, with_us)
        if mode == "share" and seen:
            mine = ours(ck, reports, name)
            if not same_counts(ck, what, seen, mine):
                continue
            off = abs(mine.kernel_ns() - seen.kernel_ns()) / max(seen.kernel_ns(), 1)
            ck.true(
                f"{what}: summed kernel time of one run",
                off <= SUMS,
                f"{seen.kernel_ns():,} and {mine.kernel_ns():,} ns, {off:.4%} apart",
                f"within {SUMS:.1%}",
            )


def libraries(ck):
    """Real cuBLAS and cuDNN: their NVTX levels under -t, and what one call then costs."""
    steps_cost.needs_torch(ck)
    traced = ["-t", "cuda,nvtx,cublas,cudnn,cusparse,cusolver"]
    outcome, reports = ck.gprof("libraries", loop(ck, "libraries"), traced, 150)
    ck.check("libraries: status", 0, outcome.rc)
    said = {words[0]: int(words[1]) for words in outcome.lines("did")}
    rows = reports.rows("lib_api_sum")
    for library in ("cuBLAS", "cuDNN", "cuSOLVER", "cuSPARSE"):
        names = {str(row.get("name")): row for row in rows if library.lower() in json.dumps(row).lower()}
        calls = sum(row["calls"] for row in names.values())
        text = f"{calls} calls of {len(names)} functions, e.g. {', '.join(sorted(names)[:3])}" if names else "silent"
        if library in ("cuBLAS", "cuDNN"):
            ck.true(
                f"{library}'s calls are recorded ({said.get(library, 0)} operations used it)",
                bool(names),
                text,
                "calls",
            )
        else:
            ck.value(f"{library}'s calls", text)
    for reason in reports.health():
        ck.value("libraries: health", reason)
    with_levels, without = ck.gprof_argv("cost", loop(ck, "time"), traced), ck.gprof_argv("cost", loop(ck, "time"))
    ck.cost(
        "us per training step, libraries' NVTX",
        "us",
        [("gprof-run", without, None), ("gprof-run -t cublas,cudnn,...", with_levels, None)],
        2,
        "us_per_step",
        120,
    )


def start(ck):
    """What `import torch` and the first kernel cost with us."""
    steps_cost.needs_torch(ck)
    first = loop(ck, "first")
    ck.cost(
        "ms to PyTorch's first kernel",
        "ms",
        [("bare", first, None), ("gprof-run", ck.gprof_argv("cost", first), None)],
        3,
        "ms_to_first_kernel",
        120,
    )
    report = os.path.join(ck.work, "torch.client")
    outcome = ck.run(
        first,
        120,
        {"CUDA_INJECTION64_PATH": ck.object("client.so"), "GPU_CHECK_CLIENT": "callback", "GPU_CHECK_REPORT": report},
    )
    ck.value(
        "a CUPTI client injected into PyTorch, subscribing",
        f"status {outcome.rc}, result {number(read(report), 'subscribe')}",
    )
