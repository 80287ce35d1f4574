"""Reads a Kineto file (torch.profiler's JSON, plain or .gz) into rows.  A time is decimal text: no double ever holds it."""
import gzip
import json
import re
import zlib

from rows import Call, GpuRow, Process, Range, Trace, link

OPERATORS = ("cpu_op", "Operator")
CALLS = ("cuda_runtime", "cuda_driver", "Runtime", "privateuse1_runtime", "privateuse1_driver", "xpu_runtime", "xpu_driver", "mtia_runtime")
OTHERS = ("user_annotation", "nvtx", "os_runtime")
PYTHON = "python_function"
GPU = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "memcpy", "Memcpy": "memcpy", "gpu_memset": "memset", "Memset": "memset"}
STEP = re.compile(r"ProfilerStep#\d+$|ProfilerStep\*?$")


def ns(text):
    """Microseconds as text or integer -> ns, rounded to the nearest where there are more than three decimals.  None: no number."""
    if isinstance(text, int):
        return text * 1000
    if text is None or isinstance(text, (bool, list, dict)):
        return None
    whole, _, part = text.partition(".")
    try:
        if "e" in part or "E" in part or "e" in whole or "E" in whole:
            return None
        value = int(whole) * 1000
        if part:
            value_part = int((part + "000")[:3]) + (1 if len(part) > 3 and part[3] >= "5" else 0)
            value += -value_part if whole.startswith("-") else value_part
        return value
    except ValueError:
        return None


def number(text):
    """7, "7" and 7.0 are 7."""
    if isinstance(text, int):
        return text
    if isinstance(text, str):
        whole, _, part = text.partition(".")
        if re.fullmatch(r"-?\d+", whole) and not part.strip("0"):
            return int(whole)
    return None


def load(path):
    with open(path, "rb") as f:
        raw = f.read()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    document = json.loads(raw, parse_float=str, strict=False)
    return document if isinstance(document, dict) else {"traceEvents": document}


def read(path):
    """A Trace of one file; raises ValueError, OSError, EOFError where Python cannot read it."""
    try:
        document = load(path)
    except zlib.error as e:
        raise ValueError(str(e)) from e
    processes = {}
    lowest = None
    gpu, annotations, functions = [], [], []
    base = int(number(document.get("baseTimeNanoseconds")) or 0)
    for index, event in enumerate(document["traceEvents"]):
        if event.get("ph") != "X":
            continue
        start, duration = ns(event.get("ts")), ns(event.get("dur", 0))
        if start is None:
            continue
        end = start + max(duration or 0, 0)
        lowest = start if lowest is None else min(lowest, start)
        category = event.get("cat")
        if category == "Trace":
            continue
        arguments = event.get("args") or {}
        if category in GPU:
            gpu.append((gpu_row(GPU[category], event, arguments, start, end, index), event.get("pid")))
            continue
        if category == "gpu_user_annotation":
            annotations.append((event["name"], start, end))
            continue
        if category in (PYTHON, None):
            functions.append(event.get("pid"))
            continue
        if category not in CALLS and category not in OPERATORS and category not in OTHERS:
            continue
        process = processes.get(event.get("pid"))
        if process is None:
            process = processes[event.get("pid")] = Process(event.get("pid"))
        if category in CALLS:
            process.calls.append(Call(event["name"], start, end, number(arguments.get("correlation")) or 0, event.get("tid"), index))
        elif category in OPERATORS or category == "user_annotation":
            process.ranges.append(host_range(event, arguments, category, start, end, index))
        else:
            process.other_ranges += 1
    for pid in functions if processes else ():
        processes.get(pid, next(iter(processes.values()))).other_ranges += 1
    give(gpu, annotations, processes)
    trace = Trace(list(processes.values()), lowest or 0, path)
    finish(trace, document, base)
    return trace


def gpu_row(kind, event, arguments, start, end, index):
    device, stream = number(arguments.get("device", event.get("pid"))), number(arguments.get("stream", event.get("tid")))
    row = GpuRow(kind, event["name"], start, end, number(arguments.get("correlation")) or 0, device, stream)
    row.bytes, row.index = number(arguments.get("bytes")), index
    row.grid, row.block, row.registers = arguments.get("grid"), arguments.get("block"), arguments.get("registers per thread")
    row.shared = number(arguments.get("shared memory")) or 0
    return row


def host_range(event, arguments, category, start, end, index):
    forward = number(arguments.get("Fwd thread id", arguments.get("Fwd Thread id"))) or 0
    sequence = number(arguments.get("Sequence number"))
    name = event["name"]
    kind = "user" if category == "user_annotation" or STEP.match(name) else "op"
    if kind == "op" and (forward or (sequence is not None and sequence >= 0 and re.search(r"Backward\d*$", name))):
        kind = "backward"
    made = Range(kind, name, start, end, event.get("tid"), index)
    made.sequence = sequence if sequence is not None else -1
    made.forward_thread = forward
    made.annotation = category == "user_annotation"
    made.shapes = arguments.get("Input Dims", arguments.get("Input dims"))
    return made


def give(gpu, annotations, processes):
    """GPU rows to the process whose call has their correlation id; the others to the one with most calls."""
    if not processes and gpu:
        processes[None] = Process(None)
    if not processes:
        return
    owner = {}
    for process in processes.values():
        for call in process.calls:
            owner[call.correlation] = process if owner.get(call.correlation, process) is process else None
    most = max(processes.values(), key=lambda p: len(p.calls))
    for row, _ in gpu:
        found = owner.get(row.correlation) if row.correlation else None
        (found or most).gpu.append(row)
    most.gpu_ranges = annotations


def without_last(steps, ranges):
    """The last call of a profiler's step() opens a ProfilerStep behind the loop: it lacks the Optimizer.step or backward pass that all others with either have."""
    if len(steps) < 2:
        return steps
    marks = [(r.start, r.name.startswith("Optimizer.step#")) for r in ranges if r.name.startswith("Optimizer.step#") or "Backward" in r.name]
    signs = [{sign for start, sign in marks if s.start <= start < s.end} for s in steps]
    others = [found for found in signs[:-1] if found]
    common = set.intersection(*others) if others else set()
    return steps[:-1] if common and signs[-2] and not signs[-1] & common else steps


def finish(trace, document, base):
    facts = document.get("distributedInfo") or {}
    rank = number(facts.get("rank")) if isinstance(facts, dict) else None
    devices = {number(d.get("id")): d for d in document.get("deviceProperties") or [] if isinstance(d, dict)}
    for process in trace.processes:
        process.rank, process.devices = rank, devices
        process.steps = without_last(sorted((r for r in process.ranges if re.match(r"ProfilerStep#\d+$", r.name)), key=lambda r: r.start),
                                     process.ranges)
        link(process)
    trace.base = base
