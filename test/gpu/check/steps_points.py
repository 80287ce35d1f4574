"""Points A to P: what real libraries are known or feared to do otherwise than documents say, one step each (docs/howto/check-a-gpu.md).

A step raises Skip where its question cannot be asked; the result's first table says PASS, FAIL or "cannot be asked here" of each point.
"""

import glob
import json
import lzma
import os
import re
import shutil

import machine
import steps_torch
from check import PYTHON, Skip
from steps_facts import number, read
from trace import Kineto, load_kineto

PER_THREAD = ("12.4.127", "12.6.80", "12.8.90", "12.9.79", "13.0.85")
NEWEST = ("13.2.75", "13.3.75", "13.4.92")
MULTIPLE_SUBSCRIBERS = 39
SCHEDULE = ["--step", "nvtx:step*", "--schedule", "skip_first=2,wait=2,active=1,repeat=3"]
FIRST_WITHOUT_EVENTS = 27  # what cuptiGetVersion says in 12.9


# ---- libcupti by release ----


def library(ck, release):
    """Path of that libcupti, unpacked from what was carried; None where it was not."""
    packed = os.path.join(ck.build, "cupti", release + ".xz")
    folder = os.path.join(ck.work, "cupti-" + release)
    if not os.path.exists(packed):
        return None
    path = os.path.join(folder, f"libcupti.so.{release.split('.')[0]}")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        with lzma.open(packed) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target)
    return path


def releases(ck, wanted):
    """(release, options of gprof-run, environment) of each that is here.  The simulator plays any."""
    if ck.sim:
        return [(r, [], {"SIM_CUPTI_RELEASE": r}) for r in wanted]
    found = [(r, ["--cupti-lib", library(ck, r)], {}) for r in wanted if library(ck, r)]
    if not found:
        raise Skip("no libcupti of these releases was carried: test/cupti/fetch.sh, then --build")
    return found


def named(ck, release, env, options, name, argv, extra=()):
    """A counted run under the named library.  A library that the driver is too old for records nothing, and says why."""
    kept, ck.cupti_options = ck.cupti_options, options or ck.cupti_options
    try:
        outcome, reports = ck.gprof(name, argv, extra, 60, env)
    finally:
        ck.cupti_options = kept
    refused = [reason for reason in reports.health() if reason.startswith("cupti_")]
    if outcome.rc == 0 and not reports.found("kernels") and refused and not ck.sim:
        ck.skip(f"{name}: libcupti {release} on this driver", ", ".join(refused))
        return None
    ck.true(f"{name}: ends as without us", outcome.rc == 0, outcome.last_words() if outcome.rc else "status 0", "status 0")
    # A library that is older than the runtime knows of the driver's call alone.
    said = "\n".join(line for line in outcome.out.splitlines() if not line.startswith("expect api") or release.startswith("13."))
    ck.counts(name, said, reports)
    return reports


# ---- the points ----


def a(ck):
    """A client like libkineto, and torch.profiler: three sessions each, and our rows in the gaps between."""
    program = os.path.join(ck.build, "test" if ck.sim else "gpu", *(["programs"] if ck.sim else []), "kineto_client")
    if not os.access(program, os.X_OK):
        ck.skip("A: a client like libkineto", "kineto_client is not built")
    else:
        a_client(ck, program)
    if ck.torch and ck.torch["ok"]:
        for mode in ("share", "yield"):
            a_torch(ck, mode)
    else:
        ck.skip("A: torch.profiler", "no PyTorch that can use the GPU")


def a_client(ck, program):
    argv = [program, "cycles=3", "kernels=50", "clock"]
    env = {} if ck.sim else {"LD_LIBRARY_PATH": os.path.dirname(ck.libcupti or "") + ":" + ck.env.get("LD_LIBRARY_PATH", "")}
    alone = ck.run(argv, 60, env)
    ck.check("A: the client alone ends well", 0, alone.rc)
    for mode in ("share", "yield"):
        outcome, reports = ck.gprof(f"point-a-{mode}", argv, [f"--cupti={mode}"], 60, env)
        counts, want = ([line for line in o.out.splitlines() if "kernel" in line or "spin" in line] for o in (outcome, alone))
        strip = lambda lines: [re.sub(r"\d+ ns|\d{4,}", "TIME", line) for line in lines]  # noqa: E731
        ck.true(f"A: {mode}: the client ends as without us, times inside its sessions", outcome.rc == 0, outcome.last_words() if outcome.rc else "status 0")
        ck.check(f"A: {mode}: the client's tables", strip(want), strip(counts))
        gaps = reports.found("kernel", "spin_outside")
        zero = reports.column("kernel", "start").count(0) + reports.column("kernel", "duration").count(0)
        # 4 before the first session, 5 after each.
        ck.true(f"A: {mode}: our kernels of the gaps", gaps >= 4 + 3 * 5, gaps, "19 at least")
        ck.check(f"A: {mode}: our kernels without times", 0, zero)


def a_torch(ck, mode):
    traces = os.path.join(ck.work, f"sessions-{mode}")
    os.makedirs(traces, exist_ok=True)
    outcome, reports = ck.gprof(f"point-a-torch-{mode}", steps_torch.loop(ck, "sessions", traces), [f"--cupti={mode}"], 120)
    ck.check(f"A: torch.profiler, {mode}: status", 0, outcome.rc)
    ours = reports.export(os.path.join(ck.work, f"sessions-{mode}.json"))
    for i, path in enumerate(sorted(glob.glob(os.path.join(traces, "*.json")))):
        seen = Kineto(load_kineto(path), f"session {i}")
        inside = [e for e in load_kineto(path) if e.get("cat") == "kernel"]
        ck.true(f"A: torch.profiler, {mode}, session {i}: kernels launched in its range", seen.count("kernel") > 0, seen.count("kernel"), "some")
        ck.check(f"A: torch.profiler, {mode}, session {i}: all of its kernels are of its range", len(inside), seen.count("kernel"))
        ck.true(f"A: torch.profiler, {mode}, gap {i}: our kernels", Kineto(ours, f"gap {i}").count("kernel") > 0, Kineto(ours, f"gap {i}").count("kernel"), "some")


def n(ck):
    """13.2, 13.3 and 13.4: their dispatcher and their several subscribers."""
    for release, options, env in releases(ck, NEWEST):
        named(ck, release, env, options, f"N: {release}", [ck.need_program("counts")])


def b(ck):
    """A buffer for each thread while our thread flushes often."""
    short = 1000 if ck.quick else 5000
    for release, options, env in releases(ck, PER_THREAD):
        for argv in (["threads", 64, 200], ["short", short]):
            named(ck, release, env, options, f"B: {release}, {argv[0]}", [ck.need_program("points")] + argv, ["--cuda-flush-interval=20"])


def c(ck):
    """Records of events (kind 36) where only SYNCHRONIZATION (38) is asked for, and no unknown record in any program."""
    program = ck.program("event_pairs") or ck.need_program("counts")
    libraries = [({"GPU_CHECK_LIBCUPTI": ck.libcupti} if ck.libcupti else {})]
    for release in ("12.8.90", "12.9.79"):
        if ck.sim:
            libraries.append(dict(libraries[0], SIM_CUPTI_RELEASE=release))
        elif library(ck, release):
            libraries.append({"GPU_CHECK_LIBCUPTI": library(ck, release)})
        else:
            ck.skip(f"C: libcupti {release}", "it was not carried: test/cupti/fetch.sh, then --build")
    for env in libraries:
        c_client(ck, program, env)
    argvs = [("events", [program])]
    if ck.torch and ck.torch["ok"]:
        argvs.append(("PyTorch", steps_torch.loop(ck, "plain")))
    for what, argv in argvs:
        _, reports = ck.gprof("point-c", argv, limit=120)
        ck.check(f"C: {what}: records of a kind that is not known", 0, reports.lost("record_unknown"))


def c_client(ck, program, env):
    """Up to 12.8, kind 38 (SYNCHRONIZATION) gives records of kind 36 (CUDA_EVENT), too; from 12.9 on it does not."""
    report = os.path.join(ck.work, "point-c.report")
    if os.path.exists(report):
        os.unlink(report)
    client = {"CUDA_INJECTION64_PATH": ck.object("client.so"), "GPU_CHECK_CLIENT": "count kind=38", "GPU_CHECK_REPORT": report}
    outcome = ck.run([program], 60, dict(env, **client))
    found = read(report)
    version, events, waits = (number(found, name, 0) for name in ("version", "records.36", "records.38"))
    ck.check(f"C: version {version}: a client with SYNCHRONIZATION alone ends well", 0, outcome.rc)
    if not version or not waits:
        return ck.skip(f"C: version {version}: records of kind 36", "this libcupti records nothing on this driver")
    what = f"C: version {version}: records of kind 36 (CUDA_EVENT) beside those of kind 38"
    if version < FIRST_WITHOUT_EVENTS:
        return ck.true(what, events > 0, events, "some")
    return ck.check(what, 0, events)


def f(ck):
    """A second subscriber of the old kind, while we hold CUPTI."""
    outcome, reports = ck.gprof("point-f", [ck.need_program("points"), "second"])
    said = [int(words[0]) for words in outcome.lines("second")]
    ck.check("F: cuptiSubscribe of the program, while we are subscribed", [MULTIPLE_SUBSCRIBERS], said)
    ck.counts("F: with a second subscriber", outcome.out, reports)
    for module, code in (
        ("triton", "import triton.profiler as p, torch; p.start('proton'); torch.ones(9, device='cuda').sum().item(); p.finalize()"),
        ("jax", "import jax, jax.numpy as n; jax.profiler.start_trace('jax'); n.ones(9).sum().block_until_ready(); jax.profiler.stop_trace()"),
    ):
        if ck.sim or ck.run([PYTHON, "-c", f"import {module}"], 60, quiet=True).rc:
            ck.skip(f"F: the profiler of {module}", "it is not here")
            continue
        alone = ck.run([PYTHON, "-W", "ignore", "-c", code], 100)
        with_us, reports = ck.gprof("point-f-" + module, [PYTHON, "-W", "ignore", "-c", code], limit=100)
        ck.check(f"F: the profiler of {module}: status, alone and with us", alone.rc, with_us.rc)
        ck.value(f"F: {module}: our kernels", reports.found("kernels"))


def k(ck):
    """One buffer: what does not fit is dropped, counted, and nothing worse."""
    outcome, reports = ck.gprof("point-k", [ck.need_program("points"), "threads", 16, 2000 if not ck.quick else 500], ["--cuda-buffer-limit=1"])
    ck.check("K: status with one buffer", 0, outcome.rc)
    said = [int(line.split()[-1]) for line in outcome.out.splitlines() if line.startswith("expect kernels")]
    lost = reports.lost("no_kernel")
    ck.check("K: kernels recorded, and launches whose kernel is known to be lost", said[0] if said else None, (reports.found("kernels") or 0) + lost)
    dropped = reports.lost("cupti_dropped")
    ck.true("K: CUPTI's own count of what it dropped is told", dropped >= lost, dropped, f"{lost} at least")
    ck.check("K: CUPTI's state stays away from a fatal error", 0, reports.lost("cupti_fatal"))


def e(ck):
    """Large graphs, conditional nodes, and correlation after recording slept."""
    for nodes in (500,) if ck.quick else (5000, 20000):
        ck.counted(f"E: a graph of {nodes} nodes", [ck.need_program("points"), "graph", nodes, 4])
    nested = ck.program("nested", "static")
    if not ck.sim and nested:
        outcome, reports = ck.gprof("point-e", [nested, "conditional"])
        if outcome.rc == 2:
            ck.skip("E: conditional nodes", "this driver has none")
        else:
            ck.check("E: conditional nodes: status", 0, outcome.rc)
            ck.value("E: kernels of a conditional body that ran 3 times", reports.found("kernels"))
    else:
        ck.skip("E: conditional nodes", "the simulated GPU has none" if ck.sim else "nested is not built")
    reports = windows(ck, "E", "--cuda-flush-interval=1000")
    rows, calls = reports.column("kernel", "corr"), set(reports.column("api", "corr"))
    lonely = sum(corr not in calls for corr in rows)
    ck.true("E: kernels of windows have a call with their correlation id", rows and not lonely, f"{lonely} of {len(rows)} have none", "all")


def windows(ck, point, option):
    """Three windows of one step each; stepper launches three kernels in each step."""
    outcome, reports = ck.gprof(f"point-{point}-windows", [ck.need_program("stepper"), 20, "nvtx", "sleep=20"], SCHEDULE + [option])
    ck.check(f"{point}: three windows: status", 0, outcome.rc)
    ck.check(f"{point}: three windows: kernels", 9, reports.found("kernels"))
    return reports


def i(ck):
    """Libraries and runtimes of other versions than the driver's."""
    if not ck.sim and ck.program("counts", "static"):
        ck.counted("I: static runtime of CUDA 13", [ck.program("counts", "static")])
    for release, options, env in releases(ck, ("12.4.127", "12.8.90")):
        named(ck, release, env, options, f"I: libcupti {release} on this driver", [ck.need_program("counts")])
    ck.skip("I: static runtime of CUDA 12", "the toolkit that built this is CUDA 13")


def d(ck):
    """What asking for a buffer costs the thread of the program, and memory, with and without attribute 5."""
    if ck.sim:
        raise Skip("the simulated GPU's latency says nothing")
    report = os.path.join(ck.work, "point-d.report")
    base = {"CUDA_INJECTION64_PATH": ck.object("client.so"), "GPU_CHECK_REPORT": report}
    if ck.libcupti:
        base["GPU_CHECK_LIBCUPTI"] = ck.libcupti
    program = ck.need_program("points")
    for threads in (1, 16, 256):
        seen = {}
        for how, env in (
            ("bare", {}),
            ("CUPTI clears buffers", dict(base, GPU_CHECK_CLIENT="callback kind=10")),
            ("buffers handed out zeroed", dict(base, GPU_CHECK_CLIENT="callback zeroed kind=10")),
        ):
            runs = [ck.run([program, "latency", threads], 60, env, quiet=True).figures() for _ in range(3)]
            for figure, unit in (("us_first_launch", "us"), ("resident_kb", "kB")):
                values = [r[figure] for r in runs if figure in r]
                ck.figure(f"D: {figure}, {threads} threads", how, unit, values)
                seen[(how, figure)] = min(values) if values else None
        runs = [ck.run(ck.gprof_argv("point-d", [program, "latency", threads]), 60, quiet=True).figures() for _ in range(3)]
        for figure, unit in (("us_first_launch", "us"), ("resident_kb", "kB")):
            ck.figure(f"D: {figure}, {threads} threads", "gprof-run", unit, [r[figure] for r in runs if figure in r])
        clears, zeroed = (seen[(how, "us_first_launch")] for how in ("CUPTI clears buffers", "buffers handed out zeroed"))
        if clears and zeroed:
            ck.true(f"D: {threads} threads: zeroed buffers are no slower", zeroed <= clears * 1.2, f"{zeroed:.1f} and {clears:.1f} us")


def h(ck):
    """Events on a stream of another device than the current one; on the legacy stream beside a capture."""
    program = ck.need_program("points")
    alone = ck.run([program, "capture"], 60)
    outcome, _ = ck.gprof("point-h", [program, "capture"])
    ck.check("H: an event on the legacy stream beside a capture: results alone and with us", alone.lines("capture"), outcome.lines("capture"))
    env = {"SIM_DEVICES": "2"} if ck.sim else {}
    if ck.run([program, "events"], 60, env).rc == 2:
        return ck.skip("H: a stream of device 1 while device 0 is current", "one device here")
    outcome, reports = ck.gprof("point-h-events", [program, "events"], env=env)
    rows = reports.column("event_record", "stream")
    ck.check("H: both records of the event have the stream of device 1", 1, len(set(rows)) if len(rows) >= 2 and outcome.rc == 0 else f"{len(rows)} rows")


def p(ck):
    """Kernels that kernels launch."""
    program = ck.program("nested", "static")
    if ck.sim or not program:
        raise Skip("the simulated GPU has no dynamic parallelism" if ck.sim else "nested is not built")
    outcome, reports = ck.gprof("point-p", [program, 50])
    ck.check("P: status", 0, outcome.rc)
    ck.counts("P: kernels that the host launched", outcome.out, reports)
    ck.value("P: rows of kernels that kernels launched", reports.found("kernel", "child"))
    for reason in reports.health():
        ck.value("P: health", reason)
    report = os.path.join(ck.work, "point-p.report")
    env = {"CUDA_INJECTION64_PATH": ck.object("client.so"), "GPU_CHECK_CLIENT": "count kind=10", "GPU_CHECK_REPORT": report}
    ck.run([program, 50], 60, dict(env, GPU_CHECK_LIBCUPTI=ck.libcupti or ""))
    ck.value("P: records by kind with CONCURRENT_KERNEL alone", ", ".join(f"{k[8:]}: {v[0]}" for k, v in sorted(read(report).items()) if k.startswith("records.")))


def j(ck):
    """Contexts that come and go: green ones, the primary one, and one that is reset with work in flight."""
    program = ck.need_program("points")
    pairs = 200 if ck.quick else 1000
    figures = [ck.run([program, "retain", pairs], 60).figures().get("us_per_pair")]
    outcome, reports = ck.gprof("point-j", [program, "retain", pairs], limit=100)
    ck.counts("J: the primary context retained and released", outcome.out, reports)
    figures.append(outcome.figures().get("us_per_pair"))
    if all(figures):
        ck.figure("J: retaining and releasing the primary context", "bare", "us", figures[:1])
        ck.figure("J: retaining and releasing the primary context", "gprof-run", "us", figures[1:], figures[0])
        ck.true("J: a release costs no full flush", figures[1] < figures[0] + 1000, f"{figures[1]:.1f} us, alone {figures[0]:.1f}", "less than 1 ms more")
    outcome, reports = ck.gprof("point-j-reset", [program, "reset"])
    ck.check("J: cudaDeviceReset with work in flight: status", 0, outcome.rc)
    ck.value("J: kernels recorded of 100 that were in flight", reports.found("kernels"))
    nested = ck.program("nested", "static")
    if ck.sim or not nested:
        return ck.skip("J: green contexts", "the simulated GPU has none" if ck.sim else "nested is not built")
    outcome, reports = ck.gprof("point-j-green", [nested, "green"])
    if outcome.rc == 2:
        return ck.skip("J: green contexts", "this driver has none")
    ck.check("J: green context: status", 0, outcome.rc)
    ck.counts("J: green context", outcome.out, reports)
    return None


def m(ck):
    """Eight devices, and a window that opens while a flush runs."""
    devices = 8 if ck.sim else len(glob.glob("/dev/nvidia[0-9]*"))
    ck.value("M: devices here", devices)
    startup = ck.program("startup")
    if startup:
        env = {"SIM_DEVICES": "8"} if ck.sim else {}
        bare, (with_us, _) = ck.run([startup], 60, env).figures(), ck.gprof("point-m", [startup], env=env)
        for name in sorted(set(bare) & set(with_us.figures())):
            ck.value(f"M: {name}, bare and with us", f"{bare[name]:,.1f}, {with_us.figures()[name]:,.1f}")
    reports = windows(ck, "M", "--cuda-flush-interval=20")
    ck.check("M: windows that open while our thread flushes: flushes that took too long", 0, reports.lost("flush_timeout"))
    if devices < 8:
        ck.skip("M: eight devices", f"{devices} here")


def g(ck):
    """Other profilers around us: what CUPTI answers then, and that the program goes on."""
    counts = ck.need_program("counts")
    for tool, argv in (
        ("nsys", ["nsys", "profile", "-o", os.path.join(ck.work, "outer"), "--force-overwrite=true"]),
        ("ncu", ["ncu", "--target-processes", "all", "--set", "none"]),
    ):
        if not shutil.which(tool, path=ck.env["PATH"]):
            ck.skip(f"G: {tool} around us", "it is not here")
            continue
        outcome = ck.run(argv + ck.gprof_argv("point-g-" + tool, [counts]), 100)
        ck.true(f"G: {tool} around us: the program ends well", "expect kernels" in outcome.out, outcome.last_words())
        reports = ck.reports("point-g-" + tool)
        ck.value(f"G: {tool} around us: our kernels, health", f"{reports.found('kernels')}, {', '.join(reports.health()) or 'nothing'}")
        ck.true(f"G: {tool} around us: rows, or a reason", bool(reports.found("kernels")) or bool(reports.health()), "yes")


def o(ck):
    """MPS, and an instance of a divided GPU."""
    divided = machine.is_divided()
    if divided:
        ck.counted("O: a MIG instance", [ck.need_program("counts")])
    else:
        ck.skip("O: a MIG instance", "the GPU is not divided, and it stays as it is")
    if ck.sim or not shutil.which("nvidia-cuda-mps-control"):
        return ck.skip("O: MPS", "no nvidia-cuda-mps-control here")
    folder = os.path.join(ck.work, "mps")
    os.makedirs(folder, exist_ok=True)
    env = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
    if ck.run(["nvidia-cuda-mps-control", "-d"], 20, env).rc:
        return ck.skip("O: MPS", "its daemon does not start")
    try:
        ck.counted("O: under MPS", [ck.need_program("counts")], env=env)
    finally:
        ck.run(["sh", "-c", "echo quit | nvidia-cuda-mps-control"], 20, env)
    return None


def l(ck):  # noqa: E743
    """Graph replay for a while: does our thread, or memory, grow.  GPU_CHECK_REPLAY_S=1800 for the half hour that it wants."""
    if ck.sim:
        raise Skip("the simulated GPU's memory says nothing")
    seconds = int(os.environ.get("GPU_CHECK_REPLAY_S", "20"))
    program = ck.need_program("points")
    once = ck.run(ck.gprof_argv("point-l", [program, "graph", 100, 2000]), 60).figures().get("us_per_launch")
    if not once:
        raise Skip("no figure")
    samples = []

    def watch(pid):
        import threading
        import time

        def look():
            begin = time.monotonic()
            while time.monotonic() - begin < seconds + 60:
                seen = machine.tree_usage(pid, "gprof-flush")
                if not seen:
                    return
                samples.append((time.monotonic() - begin,) + seen)
                time.sleep(0.5)

        threading.Thread(target=look, daemon=True).start()

    ck.run(ck.gprof_argv("point-l", [program, "graph", 100, int(seconds * 1e6 / once)]), seconds + 60, started=watch)
    half = [s for s in samples if s[0] > samples[-1][0] / 2] if samples else []
    if len(half) < 4:
        raise Skip("too short")
    ck.value("L: seconds of replay", round(samples[-1][0]))
    growth = half[-1][1] - half[0][1]
    ck.value("L: resident memory, growth in the second half", f"{half[-1][1]:,} kB, {growth:+,} kB")
    ck.value("L: CPU of gprof-flush in the second half", f"{(half[-1][2] - half[0][2]) / (half[-1][0] - half[0][0]):.1%} of a core")
    ck.true("L: memory does not grow", growth < 0.05 * half[0][1] + 4096, f"{growth:+,} kB", "less than 5 % and 4 MB")


# Riskiest first.
POINTS = (
    ("A", "torch.profiler inside, three sessions, share and yield", 25, 180, a),
    ("N", "libcupti 13.2, 13.3, 13.4", 6, 60, n),
    ("B", "a buffer for each thread: 64 threads, 5000 short ones, by release", 25, 120, b),
    ("C", "records of events with SYNCHRONIZATION alone; unknown records", 8, 60, c),
    ("F", "a second subscriber", 4, 120, f),
    ("K", "one buffer under load", 3, 40, k),
    ("E", "graphs of 20,000 nodes, conditional nodes, sleep and wake", 12, 60, e),
    ("I", "runtimes and libraries of other versions", 6, 40, i),
    ("H", "events on streams of other devices, beside a capture", 4, 30, h),
    ("P", "kernels that kernels launch", 3, 30, p),
    ("J", "contexts that come and go", 6, 60, j),
    ("D", "latency and memory of buffers", 15, 60, d),
    ("M", "eight devices, windows beside flushes", 6, 40, m),
    ("G", "nsys and ncu around us", 15, 120, g),
    ("O", "MPS and MIG", 6, 60, o),
    ("L", "replay for a while", 25, 90, l),
)
