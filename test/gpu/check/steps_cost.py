"""What it costs: interleaved runs of loops that measure themselves; start-up; each activity kind; each option."""

import os
import re
import shutil
import time

from check import PYTHON, Skip
from stats import median
from steps_facts import number, read

# Words of client.c.
KINDS = (
    ("CONCURRENT_KERNEL", 10),
    ("KERNEL, which serialises", 3),
    ("MEMCPY", 1),
    ("MEMCPY2", 22),
    ("MEMSET", 2),
    ("SYNCHRONIZATION", 38),
    ("OVERHEAD", 17),
    ("RUNTIME", 5),
    ("DRIVER", 4),
    ("MEMORY2", 49),
    ("MEMORY_POOL", 50),
    ("JIT", 52),
    ("CUDA_EVENT", 36),
    ("GRAPH_TRACE", 51),
    ("EXTERNAL_CORRELATION", 39),
    ("DEVICE, CONTEXT, STREAM", (8, 9, 37)),
)
OURS = (
    "callback kind=10 kind=1 kind=22 kind=2 kind=38 kind=17 kind=8 kind=9 kind=37"  # what gprof-run asks for by default
)
ALL = ["-t", "cuda,nvtx,cuda-jit,cublas,cudnn,cusparse,cusolver", "--cuda-memory-usage=true"]


def client(ck, argv, words):
    report = os.path.join(ck.work, "client.report")
    return list(argv), {
        "CUDA_INJECTION64_PATH": ck.object("client.so"),
        "GPU_CHECK_CLIENT": words,
        "GPU_CHECK_REPORT": report,
        "GPU_CHECK_LIBCUPTI": ck.libcupti or "",
    }


def ways_of(ck, argv, graph=False):
    """Bare, ours and the others', as Check.cost() wants them."""
    ways = [("bare", argv, None), ("gprof-run", ck.gprof_argv("cost", argv), None)]
    if graph:
        ways.append(("gprof-run, whole graphs", ck.gprof_argv("cost", argv, ["--cuda-graph-trace=graph"]), None))
    ways += [
        ("gprof-run, all tracers", ck.gprof_argv("cost", argv, ALL), None),
        ("gprof-run -t none", ck.gprof_argv("cost", argv, ["-t", "none"]), None),
    ]
    for how, words in (("CUPTI, empty callback", "callback"), ("CUPTI, what we ask of it", OURS)):
        ways.append((how,) + client(ck, argv, words))
    if graph:
        ways.append(("CUPTI, whole graphs",) + client(ck, argv, OURS + " kind=51"))
    if shutil.which("nsys"):
        out = os.path.join(ck.work, "nsys")
        ways.append(
            ("nsys -t cuda,nvtx", ["nsys", "profile", "-f", "true", "-o", out, "-t", "cuda,nvtx"] + list(argv), None)
        )
    return ways


def share(ck, what, medians, unit):
    """What is ours: with us, less CUPTI doing the same for nobody."""
    if "gprof-run" in medians and "CUPTI, what we ask of it" in medians:
        ck.value(
            f"{what}: ours over CUPTI's", f"{medians['gprof-run'] - medians['CUPTI, what we ask of it']:,.0f} {unit}"
        )
    if "gprof-run" in medians and "CUPTI, empty callback" in medians:
        ck.value(
            f"{what}: ours over an empty callback",
            f"{medians['gprof-run'] - medians['CUPTI, empty callback']:,.0f} {unit}",
        )


def launch(ck):
    argv = [ck.need_program("loops"), "launch", str(3000 if ck.quick else 20000 if ck.sim else 200000)]
    share(
        ck, "a launch", ck.cost("ns per launch", "ns", ways_of(ck, argv), 1 if ck.quick else 7, "ns_per_launch"), "ns"
    )


def compute(ck):
    argv = [ck.need_program("loops"), "compute", str(100 if ck.quick else 500 if ck.sim else 5000)]
    ck.cost("ns per 100 us kernel", "ns", ways_of(ck, argv), 1 if ck.quick else 5, "ns_per_kernel")


def graph(ck):
    argv = [ck.need_program("loops"), "graph", str(20 if ck.quick else 100 if ck.sim else 3000)]
    share(
        ck,
        "a graph's node",
        ck.cost("ns per graph node", "ns", ways_of(ck, argv, True), 1 if ck.quick else 5, "ns_per_node"),
        "ns",
    )


def torch(ck):
    needs_torch(ck)
    loop = [PYTHON, "-W", "ignore", os.path.join(ck.top, "test", "gpu", "torch_loop.py"), "time"]
    ways = ways_of(ck, loop)
    ways.append(("torch.profiler", loop + ["profiler"], None))
    ck.cost("us per training step", "us", ways, 2 if ck.quick else 5, "us_per_step", 120)


# ---- each kind alone ----
def kinds(ck):
    argv = [ck.need_program("loops"), "launch", str(3000 if ck.quick else 20000 if ck.sim else 100000)]
    wanted = KINDS[:3] if ck.quick else KINDS
    ways, report = [("bare", argv, None)], os.path.join(ck.work, "client.report")
    for how, words in (
        ("subscribed, nothing enabled", "subscribe"),
        ("callbacks on our calls", "callback"),
        ("callbacks on all calls", "domain"),
    ):
        ways.append((how,) + client(ck, argv, words))
    refused = []
    for name, numbers in wanted:
        words = "subscribe " + " ".join(f"kind={n}" for n in (numbers if isinstance(numbers, tuple) else (numbers,)))
        if os.path.exists(report):
            os.unlink(report)
        command, env = client(ck, argv[:2] + ["1000"], words)
        ck.run(command, 60, env, quiet=True)
        found = read(report)
        errors = [found.get(word, ["no answer"])[0] for word in words.split()]
        if any(e != "0" for e in errors):
            refused.append(f"{name}: {', '.join(e for e in errors if e != '0')}")
            continue
        ck.value(f"{name} alone: records of 2000 launches", f"{number(found, 'bytes', 0):,} bytes")
        ways.append((name,) + client(ck, argv, words))
    ways.append(("CONCURRENT_KERNEL, buffers of the process",) + client(ck, argv, "process-buffers kind=10"))
    for text in refused:
        ck.value("activity kind refused, CUPTI's error", text)
    ck.cost("ns per launch, one kind alone", "ns", ways, 1 if ck.quick else 3, "ns_per_launch")


def cupti_modes(ck):
    """What --cupti can be, by gprof-run's own help; without the option there is one way, which has no name."""
    said = ck.run([ck.bin("gprof-run"), "--help-all"], quiet=True).out
    match = re.search(r"^ +--cupti\b.*\n(?: {12,}.*\n)*", said, re.MULTILINE)
    if not match or "this version" in match[0]:
        return []
    return [mode for mode in ("share", "yield", "keep") if re.search(rf"\b{mode}\b", match[0])]


def options(ck):
    rounds = 1 if ck.quick else 3
    memory = [ck.need_program("loops"), "memory", str(2000 if ck.quick else 20000)]
    ck.cost(
        "ns per allocation and release",
        "ns",
        [
            ("bare", memory, None),
            ("gprof-run", ck.gprof_argv("cost", memory), None),
            ("gprof-run --cuda-memory-usage", ck.gprof_argv("cost", memory, ["--cuda-memory-usage=true"]), None),
        ],
        rounds,
        "ns_per_pair",
    )
    launches = [ck.need_program("loops"), "launch", str(3000 if ck.quick else 20000 if ck.sim else 100000)]
    ways = [("bare", launches, None), ("gprof-run", ck.gprof_argv("cost", launches), None)]
    for text in (
        ["-t", "cuda,nvtx,cuda-jit"],
        ["--cuda-memory-usage=true"],
        ["--cuda-flush-interval=100"],
        ["-t", "nvtx"],
    ):
        ways.append((f"gprof-run {' '.join(text)}", ck.gprof_argv("cost", launches, text), None))
    for mode in cupti_modes(ck):
        ways.append((f"gprof-run --cupti={mode}", ck.gprof_argv("cost", launches, [f"--cupti={mode}"]), None))
    ck.cost("ns per launch, by option", "ns", ways, rounds, "ns_per_launch")


# ---- start and end ----
def startup(ck):
    program = ck.need_program("startup")
    ways = {
        "bare": [program],
        "gprof-run": ck.gprof_argv("start", [program]),
        "gprof-run -t none": ck.gprof_argv("start", [program], ["-t", "none"]),
    }
    empty, empty_env = client(ck, [program], "callback")
    kept = {}
    for _ in range(2 if ck.quick else 9):
        for how, argv, env in [(h, a, {}) for h, a in ways.items()] + [("CUPTI, empty callback", empty, empty_env)]:
            begin = time.time_ns()
            outcome = ck.run(argv, 60, dict(env, GPU_CHECK_T0=str(begin)), quiet=True)
            end = time.time_ns()
            if outcome.rc:
                return ck.true(f"startup, {how}: ends well", False, outcome.last_words())
            stamps = {words[0]: int(words[1]) / 1e6 for words in outcome.lines("stamp")}
            memory = {words[0]: int(words[1]) / 1024 for words in outcome.lines("memory")}
            figures = {
                "to main": stamps["main"],
                "main to CUDA being up": stamps["cuda"] - stamps["main"],
                "first kernel": stamps["kernel"] - stamps["cuda"],
                "end of main to the command's end": (end - begin) / 1e6 - stamps["end"],
                "all": (end - begin) / 1e6,
                "memory of the process": memory["rss_kb"],
                "memory of the device": memory["device_used_kb"],
            }
            for what, value in figures.items():
                kept.setdefault(what, {}).setdefault(how, []).append(value)
    for what, by_how in kept.items():
        for how, values in by_how.items():
            ck.figure(what, how, "MiB" if "memory" in what else "ms", values, median(by_how["bare"]))


def needs_torch(ck):
    if not ck.torch:
        raise Skip("no PyTorch here")
    if not ck.torch["ok"]:
        raise Skip("PyTorch has no GPU here")
