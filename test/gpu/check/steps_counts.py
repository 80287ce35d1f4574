"""Counts: what programs know of themselves against our rows; the raw buffers of some of them; what is kept when somebody is killed."""
import glob
import gzip
import os
import shutil
import signal
import tarfile
import time

import command
import machine
from check import Skip
from trace import Kineto

OWN = ("counts", "loops", "startup", "facts")          # of test/gpu; the other programs are those of test/programs
ALONE = ("exit_paths", "driver_api")                    # one needs arguments, one is run by name
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
    ck.true("a program under gprof-run ends as without", outcome.rc == 0, outcome.last_words() if outcome.rc else "status 0", "status 0")
    ck.true("its kernels are recorded", bool(reports.found("kernels")), reports.found("kernels"), "some")
    ck.value("libcupti of a program without PyTorch", f"found by itself: {_where(ck, facts.get('cupti.path', 'none'))}" if not where else f"named: {where}")
    ck.value("CUPTI's version", facts.get("cupti.version", "unknown"))
    ck.value("driver's and runtime's version", f"{facts.get('driver.version', 'unknown')}, {facts.get('runtime.version', 'unknown')}")
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
    for path in glob.glob(os.path.join(ck.build, "gpu", "*-shared")) + glob.glob(os.path.join(ck.build, "gpu", "*-static")):
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
    ck.check("whole graphs: one row each launch", launches + 10, sum(line.startswith("graph ") for line in rows.splitlines()))
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
    said = [int(line.split(",")[1]) for line in outcome.out.splitlines() if line.split(",")[0] in ("busy", "idle", "default")]
    told = [row["Elapsed (ns)"] for row in reports.rows("cuda_events")]
    ck.true(f"CUDA events: {len(said)} times as the program was told", sorted(said) == sorted(told), "the same" if said else "none", "the same")
    busy = [row for row in reports.rows("cuda_events")][:len(said) // 3]
    off = [abs(row["Difference (ns)"]) for row in busy if isinstance(row["Difference (ns)"], (int, float))]
    if off:
        ck.value("CUDA events on a busy stream: our rows differ by at most", f"{max(off)} ns")
        ck.true("CUDA events on a busy stream: our rows differ by less than 5 % and 10 us",
                all(d <= max(10000, 0.05 * row["Elapsed (ns)"]) for d, row in zip(off, busy)), f"{max(off)} ns")


def replay(ck):
    """CUPTI's raw buffers with the rows that we made of them here, in one archive, to be unpacked in test/data/replay."""
    keep = os.path.join(ck.top, "test", "data", "replay", "keep.sh")
    folder = os.path.join(ck.work, "replay")
    os.makedirs(folder, exist_ok=True)
    version = ck.reports("first").attributes().get("cupti.version", "unknown")
    gpu = "simulated" if ck.sim else machine.label(False).lower().replace("nvidia ", "").replace(" ", "-")
    programs = [("counts", [], []), ("graphs", [], []), ("graphs", [], ["--cuda-graph-trace=graph"]), ("memory_use", [], ["--cuda-memory-usage=true"]),
                ("streams", [], []), ("vector_add", [], ["-t", "cuda,nvtx,cuda-jit"])]
    for name, arguments, options in programs[:2] if ck.quick else programs:
        program = ck.program(name)
        if not program:
            continue
        raw = os.path.join(ck.work, "raw")
        shutil.rmtree(raw, ignore_errors=True)
        outcome, reports = ck.gprof("raw", [program] + arguments, ["--record-raw", raw] + options)
        files = sorted(glob.glob(os.path.join(raw, "*")))
        what = f"{name}{' ' + options[-1] if options else ''}"
        if not ck.true(f"raw buffers of {what}", outcome.rc == 0 and bool(files), f"{len(files)} files", "at least one file"):
            continue
        short = name + "".join("-" + o.split("=")[-1].replace(",", "-") for o in options if not o.startswith("-t"))
        kept = ck.run(["sh", keep, raw, reports.path, os.path.join(folder, f"{gpu}-cupti{version}-{short}")]) if os.path.exists(keep) else None
        if kept is not None and not ck.true(f"recording of {what} is kept with its rows", kept.rc == 0, "yes" if kept.rc == 0 else kept.last_words()):
            _keep_plainly(ck, files, reports, os.path.join(folder, f"{gpu}-cupti{version}-{short}"))
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        if os.path.getsize(path) > 1 << 20:
            ck.value("left out of the archive, over 1 MiB", f"{os.path.basename(path)}, {os.path.getsize(path) >> 10} KiB")
            os.unlink(path)
    if not os.listdir(folder):
        raise Skip("nothing was recorded")
    with tarfile.open(os.path.join(ck.out, "replay.tar.gz"), "w:gz") as archive:
        for name in sorted(os.listdir(folder)):
            archive.add(os.path.join(folder, name), arcname=name, filter=_nobody)
    ck.value("recordings in replay.tar.gz", f"{len(os.listdir(folder))} files, {os.path.getsize(os.path.join(ck.out, 'replay.tar.gz')) >> 10} KiB")


def _keep_plainly(ck, files, reports, name):
    """Where keep.sh does not work (it wants awk and gzip): the buffers, and the rows as gprof-trace prints them."""
    for i, path in enumerate(files):
        with open(path, "rb") as f, gzip.open(f"{name}-{i + 1}.gpraw.gz", "wb") as to:
            shutil.copyfileobj(f, to)
    kinds = "config,health,device,context,stream,kernel,memcpy,memset,sync,overhead,graph,memory,mempool,jit"
    with gzip.open(f"{name}.dump.gz", "wt", encoding="utf-8") as to:
        to.write(ck.ask(["dump", "--uncorrected", "-k", kinds, reports.path]))


def _nobody(member):
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


# ---- killed ----
def _wait_for(text_path, word, count, limit):
    """Until the file has so many lines that begin with the word; the words of the last one, or None."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            with open(text_path, encoding="utf-8", errors="replace") as f:
                lines = [line for line in f.read().split("\n")[:-1] if line.startswith(word + " ")]
        except OSError:
            lines = []
        if len(lines) >= count:
            return lines[-1].split()
        time.sleep(0.02)
    return None


def _children(pid):
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                stat = f.read()
        except OSError:
            continue
        name, rest = stat[stat.index("(") + 1:stat.rindex(")")], stat[stat.rindex(")") + 2:].split()
        if int(rest[1]) == pid:
            found.append((int(stat.split()[0]), name))
    return found


def _killed(ck, name, seconds, victim):
    """`loops until` under gprof-run; after so many seconds of launches `victim(children)` is killed with SIGKILL.  Gives the outcome and
    the last line of the program ("ran N NS") before the kill, and when that was."""
    said = os.path.join(ck.work, "said")
    open(said, "w").close()
    argv = ck.gprof_argv(name, ["/bin/sh", "-c", 'exec "$0" until >"$1"', ck.need_program("loops"), said])
    kept = {}

    def started(pid):
        first = _wait_for(said, "ran", 1, 30)
        if not first:
            return command.kill_group(pid)
        time.sleep(seconds)
        kept["line"] = _wait_for(said, "ran", 1, 1)
        kept["when"] = time.time_ns()
        kept["first"] = int(first[2])
        target = victim(_children(pid))
        if target:
            kept["victim"] = True
            os.kill(target, signal.SIGKILL)
        if not target or victim is _collector:
            time.sleep(0.5)
            kept["alive"] = any(n.startswith("loops") for _, n in _children(pid))
            command.kill_group(pid)

    outcome = ck.run(argv, 60, started=started)
    return outcome, kept


def _program(children):
    return next((pid for pid, name in children if name.startswith("loops")), None)


def _collector(children):
    return next((pid for pid, name in children if name.startswith("gprof-collector"[:15])), None)


def killed(ck):
    seconds = 2.5
    outcome, kept = _killed(ck, "killed", seconds, _program)
    if "victim" not in kept or not kept.get("line"):
        return ck.true("killed: the program ran", False, outcome.last_words())
    ran, at = int(kept["line"][1]), int(kept["line"][2])
    ck.check("program killed: gprof-run ends as it did", -signal.SIGKILL, outcome.rc)
    reports = ck.reports("killed")
    ck.check("program killed: the trace is whole", 0, ck.run([ck.bin("gprof-trace"), "check", reports.path]).rc)
    calls, kernels = reports.found("api", "cudaLaunchKernel"), reports.found("kernels")
    ck.true("program killed: every launch it had finished is there", calls >= ran, calls, f"at least {ran}")
    ck.value("program killed: kernels kept of those that had run", f"{kernels} of {ran} ({100 * kernels / ran:.1f} %)")
    rate = ran / max(at - kept["first"], 1)
    flushed = int(rate * max(at - kept["first"] - 1.2e9, 0))       # one flush interval, and time for it
    ck.true("program killed: kernels up to the last flush are there", kernels >= flushed, kernels, f"at least {flushed}")
    outcome, kept = _killed(ck, "orphan", 1.5, _collector)
    if "victim" not in kept:
        return ck.true("collector killed: it was found", False, outcome.last_words())
    ck.true("collector killed: the program runs on", kept.get("alive", False), "yes" if kept.get("alive") else "no")
    reports = ck.reports("orphan")
    ck.check("collector killed: the trace can be recovered", 0, ck.run([ck.bin("gprof-trace"), "recover", reports.path]).rc)
    ck.value("collector killed: rows that can still be read", f"{reports.found('api', 'cudaLaunchKernel')} launches, {reports.found('kernels')} kernels")
