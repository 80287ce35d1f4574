"""check_pairs.py DATA|FILE.gtrace [TRACE]: reports that print the same quantity of the same trace print the same number.  The list is PAIRS."""
import collections
import concurrent.futures
import re
import sys
import time

import command
from job import found
from page import TIME, Shown

NAMES = ("temporal", "overlap", "steps", "phases", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_api_sum", "cuda_gpu_trace", "launch_sites",
         "call_sites", "kernel_breakdown", "kernel_types", "occupancy", "windows", "processes", "ops", "ops_by_shape", "memory_bandwidth",
         "queue_length", "launch_delay_sum", "launch_delays", "stacks", "lines", "idle_stacks", "cuda_graph_kern_sum", "ranks")
PARTS = ("data", "forward", "backward", "optimizer", "zero_grad", "other")


def number(cell):
    return int(cell) if re.fullmatch(r"-?\d+", cell) else None


def total(table, column):
    """Of a column; None: a cell of it, or every one, is unknown."""
    values = [number(r[column]) for r in table.rows]
    return sum(values) if values and None not in values else None


def known(table, column):
    """The same, without what is unknown."""
    values = [number(r[column]) for r in table.rows]
    return sum(v for v in values if v is not None)


def key(row):
    """Of a step.  Report phases says of a step without a kind whether it is train or inference; steps of several kinds have numbers of their own each."""
    return row["process"], row["step"], row["kind"] if row["kind"] not in ("train", "inference") else ""


def of_steps(table, column, only):
    return {key(r): number(r[column]) for r in table.rows if key(r) in only}


def common(reports):
    """Steps that both steps and phases have."""
    keys = [{key(r) for r in reports[n].rows} for n in ("steps", "phases")]
    return keys[0] & keys[1]


def steps_and_phases(column):
    return lambda r: (of_steps(r["steps"], column, common(r)), of_steps(r["phases"], column, common(r)))


def parts(suffix, whole):
    """All phases of a step add up to a column of it."""
    def pair(r):
        sums = {}
        for row in r["phases"].rows:
            if key(row) in common(r):
                cells = [number(row[p + suffix]) for p in PARTS]
                sums[key(row)] = sum(c for c in cells if c is not None) if any(c is not None for c in cells) else None
        return of_steps(r["steps"], whole, common(r)), sums
    return pair


def sums(one, column, other, other_column):
    return lambda r: (known(r[one], column), known(r[other], other_column))


def same(one, other, column):
    return lambda r: ([x[column] for x in r[one].rows], [x[column] for x in r[other].rows])


def kernels_of_trace(r):
    rows = [x for x in r["cuda_gpu_trace"].rows if x["GrdX"] or not re.match(r"\[CUDA mem", x["Name"])]
    return sum(number(x["Duration (ns)"]) or 0 for x in rows)


def copies_of_trace(r):
    return sum(number(x["Duration (ns)"]) or 0 for x in r["cuda_gpu_trace"].rows if re.match(r"\[CUDA mem", x["Name"]))


def breakdown(r, memory):
    return sum(number(x["gpu_ns"]) for x in r["kernel_breakdown"].rows if (x["kernel_type"] == "memory") == memory)


def share_as_on_page(r):
    """The page's busy figure of the one GPU of one process."""
    found_on = re.findall(r"GPU \d+ .*?: busy\s+([\d.]+)\s+%", re.sub(r"\s+", " ", r["page"]))
    users = [x for x in r["processes"].rows if number(x["kernels"]) or number(x["copies"])]
    if len(found_on) != 1 or len(users) != 1 or len(r["temporal"].rows) != 1:
        return None, None
    row = r["temporal"].rows[0]
    exact = 100 * number(row["busy_ns"]) / number(row["span_ns"])
    shown = float(found_on[0])
    return shown, shown if abs(shown - exact) <= 0.0501 else exact


def without_stack(r, report):
    """How many calls a report says that it leaves out; None: it has none."""
    found = re.search(report + r": calls (?:without a line or )?without a stack: ([\d,]+)", r["said"])
    return None if not r[report].rows else int(found.group(1).replace(",", "")) if found else 0


def of_stacks(r):
    """GPU time of all rows, where every call that has some has a stack: the stacks have as many kernels as there are."""
    rows = [x for x in r["stacks"].rows if number(x["gpu_ns"]) is not None]
    if not rows or sum(number(x["kernels"]) for x in rows) != known(r["cuda_gpu_kern_sum"], "Instances"):
        return None, None
    return sum(number(x["gpu_ns"]) for x in rows), sum(known(r[n], "Total Time (ns)") for n in ("cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum"))


def of_lines(column, wanted):
    """Where the lines have all launches of kernels."""
    def pair(r):
        rows = [x for x in r["lines"].rows if number(x["gpu_ns"]) is not None]
        if not rows or sum(number(x["launches"]) for x in rows) != known(r["cuda_gpu_kern_sum"], "Instances"):
            return None, None
        return sum(number(x[column]) for x in rows), wanted(r)
    return pair


def of_graphs(r):
    """Kernels whose call launches a graph."""
    if not r["cuda_graph_kern_sum"].rows:
        return None, None
    graphs = {x["correlation"] for x in r["launch_delays"].rows if "GraphLaunch" in x["call"]}
    rows = [x for x in r["cuda_gpu_trace"].rows if x["CorrId"] in graphs and x["GrdX"]]
    return known(r["cuda_graph_kern_sum"], "gpu_ns"), sum(number(x["Duration (ns)"]) or 0 for x in rows)


def idle_said(r):
    """The note of idle_stacks, as it rounds: idle time and span of the one process."""
    found = re.findall(r"idle_stacks: (?:.*: )?GPU idle (%s) of the (%s) from" % (TIME, TIME), r["said"])
    rows = [x for x in r["temporal"].rows if x["span_ns"]]
    if len(found) != 1 or len(rows) != 1:
        return None, None
    shown = [Shown(text) for text in found[0]]
    exact = [number(rows[0][c]) for c in ("idle_ns", "span_ns")]
    return [s.text for s in shown], [s.text if s.is_of(e) else e for s, e in zip(shown, exact)]


def steps_of_windows(r):
    """How many steps were recorded in each window, with those that are not complete."""
    listed = {}
    for x in r["steps"].rows:
        if x["window"] and x["warmup"] == "0":
            listed[x["process"], x["window"]] = listed.get((x["process"], x["window"]), 0) + 1
    windows = {(x["process"], x["window"]): number(x["steps"]) for x in r["windows"].rows if number(x["steps"])}
    return windows, listed if windows or listed else {}


def of_ranks(column):
    return lambda r: ([x[column] for x in r["ranks"].rows], [x[column] for x in r["temporal"].rows]) \
        if len(r["ranks"].rows) == len(r["temporal"].rows) else (None, None)


PAIRS = {
    "busy on the page, in temporal": share_as_on_page,
    "communication: temporal, overlap": same("temporal", "overlap", "comm_ns"),
    "exposed communication: temporal, overlap": same("temporal", "overlap", "comm_exposed_ns"),
    "busy and idle add up to the span": lambda r: ([number(x["span_ns"]) for x in r["temporal"].rows if x["span_ns"]],
                                                    [number(x["busy_ns"]) + number(x["idle_ns"]) for x in r["temporal"].rows if x["span_ns"]]),
    "busy: temporal, kernel_types": lambda r: (known(r["temporal"], "busy_ns"), known(r["kernel_types"], "time_ns")),
    "wall: steps, phases": steps_and_phases("wall_ns"),
    "communication: steps, phases": steps_and_phases("comm_ns"),
    "exposed communication: steps, phases": steps_and_phases("comm_exposed_ns"),
    "phases add up to wall": parts("_ns", "wall_ns"),
    "idle of phases adds up to that of steps": parts("_gpu_idle_ns", "gpu_idle_ns"),
    "kernels: cuda_gpu_kern_sum, cuda_gpu_trace": lambda r: (known(r["cuda_gpu_kern_sum"], "Total Time (ns)"), kernels_of_trace(r)),
    "kernels: cuda_gpu_kern_sum, kernel_breakdown": lambda r: (known(r["cuda_gpu_kern_sum"], "Total Time (ns)"), breakdown(r, False)),
    "kernels: cuda_gpu_kern_sum, launch_sites": sums("cuda_gpu_kern_sum", "Total Time (ns)", "launch_sites", "gpu_ns"),
    "kernels: cuda_gpu_kern_sum, occupancy": sums("cuda_gpu_kern_sum", "Total Time (ns)", "occupancy", "gpu_ns"),
    "number of kernels: cuda_gpu_kern_sum, launch_sites": sums("cuda_gpu_kern_sum", "Instances", "launch_sites", "kernels"),
    "number of kernels: cuda_gpu_kern_sum, windows": sums("cuda_gpu_kern_sum", "Instances", "windows", "kernels"),
    "number of kernels: cuda_gpu_kern_sum, processes": sums("cuda_gpu_kern_sum", "Instances", "processes", "kernels"),
    "copies: cuda_gpu_mem_time_sum, cuda_gpu_trace": lambda r: (known(r["cuda_gpu_mem_time_sum"], "Total Time (ns)"), copies_of_trace(r)),
    "copies: cuda_gpu_mem_time_sum, kernel_breakdown": lambda r: (known(r["cuda_gpu_mem_time_sum"], "Total Time (ns)"), breakdown(r, True)),
    "calls: cuda_api_sum, call_sites": sums("cuda_api_sum", "Total Time (ns)", "call_sites", "total_ns"),
    "number of calls: cuda_api_sum, call_sites": sums("cuda_api_sum", "Num Calls", "call_sites", "calls"),
    "number of calls: cuda_api_sum, windows": sums("cuda_api_sum", "Num Calls", "windows", "api_calls"),
    "number of calls: cuda_api_sum, processes": sums("cuda_api_sum", "Num Calls", "processes", "api_calls"),
    "self time: ops, ops_by_shape": sums("ops", "self_host_ns", "ops_by_shape", "self_host_ns"),
    "GPU time: ops, ops_by_shape": sums("ops", "self_gpu_ns", "ops_by_shape", "self_gpu_ns"),
    "launches: launch_delay_sum, launch_delays": lambda r: (known(r["launch_delay_sum"], "launches"), len(r["launch_delays"].rows)),
    "launches: launch_delay_sum, queue_length": sums("launch_delay_sum", "launches", "queue_length", "launches"),
    "GPU time: stacks; kernels, copies and memory sets": of_stacks,
    "GPU time: lines, cuda_gpu_kern_sum": of_lines("gpu_ns", lambda r: known(r["cuda_gpu_kern_sum"], "Total Time (ns)")),
    "bytes: lines, memory_bandwidth": of_lines("bytes", lambda r: sum(number(x["bytes"]) for x in r["memory_bandwidth"].rows if x["name"] != "Memset")),
    "calls: stacks and those without one, cuda_api_sum": lambda r: (None, None) if without_stack(r, "stacks") is None else
        (sum(number(x["calls"]) for x in r["stacks"].rows) + without_stack(r, "stacks"), known(r["cuda_api_sum"], "Num Calls")),
    "kernels of graphs: cuda_graph_kern_sum, cuda_gpu_trace": of_graphs,
    "idle: the note of idle_stacks, temporal": idle_said,
    "number of steps: windows, steps": steps_of_windows,
    "busy: ranks, temporal": of_ranks("busy_ns"),
    "span: ranks, temporal": of_ranks("span_ns"),
    "communication: ranks, temporal": of_ranks("comm_ns"),
    "exposed communication: ranks, temporal": of_ranks("comm_exposed_ns"),
    "delay: launch_delay_sum, launch_delays": sums("launch_delay_sum", "delay_ns", "launch_delays", "delay_ns"),
}


def check(name, paths):
    """(pairs with a number, those that are not equal)"""
    reports, said = command.reports(list(NAMES), paths)
    reports["said"] = said
    reports["page"] = command.page(paths[0])
    compared, wrong = set(), []
    for what, pair in PAIRS.items():
        one, other = pair(reports)
        if one or other:
            compared.add(what)
        if one != other:
            wrong.append("%s: %s: %s, %s" % (name, what, str(one)[:150], str(other)[:150]))
    return compared, wrong


def main(data, word=""):
    began, compared, wrong = time.time(), collections.Counter(), []
    own = [(data, [data])] if data.endswith(".gtrace") else []
    traces = own or [(name, paths) for name, paths in found(data) if len(paths) == 1 and word in name]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for n, bad in pool.map(lambda t: check(*t), traces):
            compared.update(n)
            wrong += bad
    for line in wrong[:40]:
        print(line)
    print("compared:", "; ".join(sorted(compared)))
    print("%d traces, %d kinds of pairs, %d pairs of numbers, %d not equal (%.0f s)" %
          (len(traces), len(compared), sum(compared.values()), len(wrong), time.time() - began))
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
