"""hta_set.py DATA [SET...]: Holistic Trace Analysis and gprof-trace answer the same questions about the same files, in turn.

DATA/hta/golden/SET/ names the analyses, DATA/hta/traces/SET/ has the files.  A run goes from the files to one CSV (or
JSON) file for each analysis: HTA loads the trace once, and a second time where the critical path wants the last step,
which its default leaves out; ours is one process with all reports, its start and end included.  Not counted is HTA's
start with the import of Python packages.  The least of several runs; one of HTA's and OURS of ours in turn.

Prints rows for bench.sh; CPU times are of all threads and child processes.  Run by the Python that has HTA."""
import contextlib
import glob
import io
import json
import logging
import os
import resource
import sys
import tempfile
import time
import warnings

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

from hta.memory_analysis import MemoryAnalysis
from hta.trace_analysis import TraceAnalysis
from hta.trace_diff import DeviceType, TraceDiff

DATA = os.path.join(sys.argv[1], "hta")
NO_REPORT = ("parsed_events", "cupti_counters")
PATIENCE = 3                            # seconds of HTA's after which it is run no more
RUNS = (3, 9)                           # but so many times at least, and at most
OURS = 3                                # runs of ours for each of HTA's: it finds memory warm that it had before, the first of ours does not
ANNOTATIONS = {"alexnet_forward": "[param|pytorch.model.alex_net|0|0|0|measure|forward]", "all": ""}


def analyses(name):
    """Names of the golden files, without their ends."""
    found = []
    for path in sorted(glob.glob(os.path.join(DATA, "golden", name, "*.*"))):
        file = os.path.basename(path).replace(".gz", "")
        base, end = file.rsplit(".", 1)
        kept = end == "csv" and not base.startswith(NO_REPORT) and not base.endswith(".edges")
        if kept or (end == "json" and base.startswith(("critical_path.", "ops_diff."))):
            found.append(base)
    return found


# ---- HTA ----

def tables(answers):
    """Answers are frames, or a frame for each rank."""
    for name, frame in answers.items():
        for rank, one in frame.items() if isinstance(frame, dict) else [(0, frame)]:
            one.to_csv("%s.%s.csv" % (name, rank))


def critical(analysis, last, rank, name):
    """critical_path.WORD.NUMBER"""
    _, word, number = name.split(".")
    number = None if number == "None" else int(number)
    graph, _ = (last or analysis).critical_path_analysis(rank, ANNOTATIONS.get(word, word), number)
    with open(name + ".json", "w", encoding="utf-8") as file:
        json.dump({"summary": graph.summary().to_dict(), "events": list(graph.critical_path_events_set)}, file, default=int)


def of_ranks(name, wanted):
    """What the golden files of one job were made by; one call where it makes two of them."""
    folder = os.path.join(DATA, "traces", name)
    a = TraceAnalysis(trace_dir=folder)
    ranks = sorted(a.t.get_all_traces())
    again = any(w.startswith("critical_path") for w in wanted) and os.path.exists(
        os.path.join(DATA, "golden", name, "variants", "include-last-step"))
    last = TraceAnalysis(trace_dir=folder, include_last_profiler_step=True) if again else None
    out = {}

    def has(*words):
        return any(w in wanted for w in words)
    if has("temporal_breakdown"):
        out["temporal"] = a.get_temporal_breakdown(visualize=False)
    if has("idle_time_breakdown"):
        out["idle"], out["intervals"] = a.get_idle_time_breakdown(ranks=ranks, visualize=False, show_idle_interval_stats=True)
    if has("kernel_type_breakdown", "kernel_breakdown_top10"):
        out["types"], out["top10"] = a.get_gpu_kernel_breakdown(visualize=False, num_kernels=10)
    if has("kernel_type_breakdown_no_memory"):
        out["no_memory"] = a.get_gpu_kernel_breakdown(visualize=False, include_memory_kernels=False)[0]
    if has("kernel_breakdown_all"):
        out["all"] = a.get_gpu_kernel_breakdown(visualize=False, num_kernels=10**9)[1]
    if has("comm_comp_overlap"):
        out["overlap"] = a.get_comm_comp_overlap(visualize=False)
    if has("cuda_kernel_launch_stats"):
        out["launch"] = a.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)
    if has("queue_length_time_series"):
        out["queue"] = a.get_queue_length_time_series(ranks=ranks)
    if has("queue_length_summary"):
        out["queue_summary"] = a.get_queue_length_summary_from_time_series(out["queue"])
    if has("time_blocked_on_full_queue"):
        out["blocked"] = a.get_time_spent_blocked_on_full_queue(out["queue"])
    if has("memory_bw_time_series"):
        out["bw"] = a.get_memory_bw_time_series(ranks=ranks)
    if has("memory_bw_summary"):
        out["bw_summary"] = a.get_memory_bw_summary(ranks=ranks)
    for side in ("gpu", "cpu"):
        if has(side + "_user_annotation_breakdown"):
            out[side] = a.get_gpu_user_annotation_breakdown(use_gpu_annotation=side == "gpu", visualize=False)
    for one in wanted:
        if one.startswith("kernel_sequences."):
            out[one] = a.get_frequent_cuda_kernel_sequences(one.split(".")[1].replace("aten_", "aten::"), ".", rank=ranks[0])
        elif one.startswith("aten_op_kernels"):
            out[one] = a.get_aten_op_kernels_and_delay(ranks=[int(one.split(".rank")[1])])
        elif one.startswith("critical_path"):
            critical(a, last, ranks[0], one)
    tables({k: v for k, v in out.items() if v is not None})


def of_two(name, wanted):
    """compare_traces.DEVICE[.short], ops_diff.DEVICE"""
    control, test = (TraceAnalysis(trace_dir=os.path.join(DATA, "traces", n), include_last_profiler_step=True).t
                     for n in name[5:].split(".vs."))
    for one in wanted:
        kind, device = one.split(".")[:2]
        device = DeviceType[device]
        if kind == "compare_traces":
            frame = TraceDiff.compare_traces(control, test, device_type=device, use_short_name=one.endswith(".short"))
            frame.to_csv(one + ".csv")
        else:
            with open(one + ".json", "w", encoding="utf-8") as file:
                json.dump(TraceDiff.ops_diff(control, test, device_type=device), file)


def of_memory(name, _):
    for path in glob.glob(os.path.join(DATA, name, "*")):
        times, sizes = MemoryAnalysis(path)._process_raw_events()
        with open("memory.csv", "w", encoding="utf-8") as file:
            file.writelines("%d,%s\n" % (t, ",".join(map(str, s))) for t, s in zip(times, sizes))


def used():
    """CPU seconds of this process and of its children that have ended."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def theirs(run, name, wanted):
    cpu, wall = used(), time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        run(name, wanted)
    return time.perf_counter() - wall, used() - cpu


# ---- ours ----

def find(program):
    return next(os.path.join(d, program) for d in os.environ["PATH"].split(":") if os.access(os.path.join(d, program), os.X_OK))


def ours(program, reports, operands):
    with contextlib.suppress(FileNotFoundError):
        os.unlink("ours.csv")           # that the file system forgets the last one is no part of it
    argv = [program, "report", "-r", ",".join("hta_" + r for r in reports), "--format", "csv", "-o", "ours.csv", *operands]
    wall = time.perf_counter()
    pid = os.posix_spawn(program, argv, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - wall
    if status:
        sys.exit("gprof-trace fails on %s" % operands)
    return wall, usage.ru_utime + usage.ru_stime


# ---- all of them ----

def kind_of(name):
    if name.startswith("diff."):
        return of_two, [os.path.join(DATA, "traces", n) for n in name[5:].split(".vs.")]
    if name == "memory-timeline":
        return of_memory, [os.path.join(DATA, name)]
    return of_ranks, [os.path.join(DATA, "traces", name)]


def one_set(program, name):
    run, operands = kind_of(name)
    wanted = analyses(name)
    if not wanted:
        return None
    try:
        theirs(run, name, wanted)       # Python loads and compiles on demand: not counted
    except Exception as e:              # with some versions of pandas HTA cannot read every file
        print("%s: HTA stops with %s: not compared" % (name, type(e).__name__))
        return None
    ours(program, wanted, operands)
    a, b, spent = [], [], 0.0
    while len(a) < RUNS[0] or (len(a) < RUNS[1] and spent < PATIENCE):
        a.append(theirs(run, name, wanted))
        b.extend(ours(program, wanted, operands) for _ in range(OURS))
        spent += a[-1][0]
    their_wall, their_cpu = (min(x[i] for x in a) for i in (0, 1))
    wall, cpu = (min(x[i] for x in b) for i in (0, 1))
    print("%s: %d analyses\t%.1f\tms\tHTA %.0f ms, %.0f x; CPU time %.1f ms, HTA %.0f ms, %.0f x" % (
        name, len(wanted), wall * 1e3, their_wall * 1e3, their_wall / wall, cpu * 1e3, their_cpu * 1e3, their_cpu / cpu), flush=True)
    return their_wall, wall, their_cpu, cpu


def main():
    program = find("gprof-trace")
    names = sys.argv[2:] or sorted(n for n in os.listdir(os.path.join(DATA, "golden")) if os.path.isdir(os.path.join(DATA, "golden", n)))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        done = [x for x in (one_set(program, n) for n in names) if x]
    if not done:
        return
    their_wall, wall, their_cpu, cpu = (sum(x) for x in zip(*done))
    print("all %d sets\t%.0f\tms\tHTA %.0f ms, %.0f x; CPU time %.0f ms, HTA %.0f ms, %.0f x" % (
        len(done), wall * 1e3, their_wall * 1e3, their_wall / wall, cpu * 1e3, their_cpu * 1e3, their_cpu / cpu))
    print("sets of which ours is 100 times as fast, by CPU time\t%d\tof %d\tby wall time %d" % (
        sum(x[2] >= 100 * x[3] for x in done), len(done), sum(x[0] >= 100 * x[1] for x in done)))
    print("load at the end: %.1f on %d cores" % (os.getloadavg()[0], os.cpu_count()))


main()
