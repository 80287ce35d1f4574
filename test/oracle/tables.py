"""Rows of the reports about one trace that are no sums by a name."""
from fractions import Fraction

from compare import Start
from gpu import Work, inside
from intervals import intersect, length, subtract, union
from occupancy import of_row
from steps import Steps
from sums import by, duration, operation
from values import OneOf, near, share


def gpu_trace(trace):
    for p in trace.processes:
        for r in p.gpu:
            time = duration(r)
            row = {"Start (ns)": Start(r.start), "Duration (ns)": time, "CorrId": r.correlation or None, "Strm": r.stream,
                   "Name": operation(r) if r.kind in ("memcpy", "memset") else r.name}
            for names, values in ((("GrdX", "GrdY", "GrdZ"), r.grid), (("BlkX", "BlkY", "BlkZ"), r.block)):
                row.update(zip(names, values or (None, None, None)))
            row["Reg/Trd"] = r.registers
            row["Bytes (MB)"] = near(Fraction(r.bytes, 10 ** 6)) if r.bytes is not None else None
            row["Throughput (MB/s)"] = near(Fraction(r.bytes * 1000, time)) if r.bytes is not None and time else None
            if r.kind == "kernel" and r.block:
                row["DymSMem (MB)"] = near(Fraction(r.shared, 10 ** 6))
            yield row


def xyz(three):
    return " ".join(map(str, three)) if three else None


def occupancy(trace):
    rows = [(p, r) for p in trace.processes for r in p.gpu if r.kind == "kernel"]
    total = sum(duration(r) or 0 for _, r in rows)
    groups = by(rows, lambda x: (x[1].name, x[1].device, xyz(x[1].grid), xyz(x[1].block), x[1].registers, x[1].shared + x[1].static))
    for (name, device, grid, block, registers, shared), group in groups.items():
        process, first = group[0]
        known = [duration(r) for _, r in group if r.timed()]
        row = {"name": name, "device": device, "grid": grid, "block": block, "registers_per_thread": registers,
               "shared_bytes": shared if block else None, "gpu_pct": share(sum(known), total) if total else near(0),
               "gpu_ns": sum(known), "count": len(group), "mean_ns": near(Fraction(sum(known), len(known))) if known else None}
        row.update(of_configuration(first, process.devices.get(device)))
        yield row


def of_configuration(row, device):
    found = of_row(row, device)
    if found is None:
        return {"occupancy_pct": None, "limited_by": None, "blocks_per_sm": None, "waves": None}
    blocks, (warps, most), limits = found
    grid = row.grid[0] * row.grid[1] * row.grid[2]
    sms = device.get("numSms")
    return {"occupancy_pct": share(warps, most), "limited_by": OneOf([", ".join(limits), *limits]), "blocks_per_sm": blocks,
            "waves": near(Fraction(grid, blocks * sms)) if blocks and sms else None}


def processes(trace):
    for p in trace.processes:
        known = p.gpu or not p.calls    # a file with calls alone has no rows of a GPU: how many there were is not known
        yield {"pid": p.pid, **({"rank": p.rank} if p.calls else {}), "api_calls": len(p.calls), "kernels": sum(r.kind == "kernel" for r in p.gpu) if known else None,
               "copies": sum(r.kind == "memcpy" for r in p.gpu) if known else None, "ranges": len(p.ranges) + p.other_ranges}


def windows(trace):
    """A file is one window for each process, of all that is in it."""
    for p in trace.processes:
        yield {"pid": p.pid, "kernels": sum(r.kind == "kernel" for r in p.gpu), "api_calls": len(p.calls), "steps": len(p.steps)}


def steps_of(process):
    """The steps that a file marks: ProfilerStep#N on the host."""
    return [(r.start, r.end) for r in process.steps]


def steps(trace, numbers):
    for p in trace.processes:
        made = Steps(p, steps_of(p))
        for i, mark in enumerate(p.steps):
            row = {"process": numbers.get(p.pid), "step": int(mark.name.split("#")[1]), "kind": None, "name": mark.name, "window": 1,
                   "start_ns": Start(mark.start), "warmup": 0, "complete": 1, **made.numbers(i)}
            for name in ("launched_start_ns", "launched_end_ns"):
                if row[name] is not None:
                    row[name] = Start(row[name])
            yield row


def given_steps(trace, printed, zero, numbers):
    """Steps that were found, not marked."""
    first = min((r.start for p in trace.processes for r in p.gpu if r.timed()), default=None)
    if not zero or first is None:
        return
    zero = zero[0]
    for p in trace.processes:
        rows = [r for r in printed.rows if r["process"] == str(numbers.get(p.pid)) and r["wall_ns"]]
        rows.sort(key=lambda r: int(r["start_ns"]))
        spans = [(int(r["start_ns"]) + zero, int(r["start_ns"]) + zero + int(r["wall_ns"])) for r in rows]
        made = Steps(p, spans)
        for i, mark in enumerate(rows):
            row = {"process": numbers.get(p.pid), "step": int(mark["step"]), "kind": mark["kind"] or None, **made.numbers(i)}
            for name in ("launched_start_ns", "launched_end_ns"):
                if row[name] is not None:
                    row[name] = Start(row[name])
            yield row


def idle_of(process):
    """The set of moments of its GPU span in which a process has nothing on a GPU."""
    work = Work(process.gpu)
    return subtract(work.span, work.busy)


def idle_total(trace):
    return sum(length(idle_of(p)) for p in trace.processes)
