"""Steps, launch delays and queues of test/programs/train.py on the simulated GPU: by its own clock (--clock FILE) and the simulator's truth.
Numbers of calls and rows are exact; a time of a step lies between those by the clock inside and outside of its range."""
import command
from gpu import Work, inside
from intervals import length, median, union
from jobs import launch_delays, queue_length
from steps import is_launch

BETWEEN = ("busy_ns", "compute_ns", "comm_ns", "memcpy_ns", "memset_ns")
LATE = 1000000          # of a delay: a thread may lose its processor between the simulator's look at the clock and the recorder's


class Step:
    def __init__(self, words):
        self.pid, self.rank, self.number, self.before, self.first, self.last, self.after = words

    def has(self, call):
        return self.first <= call.start < self.last


def read_clock(path, numbers):
    """Steps by pid; numbers: those that were recorded, None: all."""
    out = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            step = Step(list(map(int, line.split())))
            if numbers is None or step.number in numbers:
                out.setdefault(step.pid, []).append(step)
    return out


def keep(process, steps):
    """Only what the steps launched; the GPU span is that of each window, which is steps without one between them that was not recorded."""
    process.calls = [c for c in process.calls if any(s.has(c) for s in steps)]
    known = set(map(id, process.calls))
    process.gpu = [r for r in process.gpu if id(r.call) in known]


def windows(process, steps):
    spans, last = [], None
    for s in steps:
        rows = [(r.start, r.end) for r in process.gpu if s.has(r.call)]
        if last is not None and s.number == last + 1:
            rows.append(spans.pop())
        spans.append((min(a for a, _ in rows), max(b for _, b in rows)))
        last = s.number
    return union(spans)


class Looks:
    def __init__(self, tally, path):
        self.tally, self.path = tally, path

    def at(self, report, column, row, low, value, high):
        self.tally.values += 1
        if not low <= value <= high:
            self.tally.wrong.append((self.path, report, column, row, "%s to %s" % (low, high), value))


def check(tally, path, ranks, clock):
    printed, _ = command.reports(["processes", "steps", "launch_delays", "queue_length"], [path])
    pids = {r["process"]: int(r["pid"]) for r in printed["processes"].rows}
    looks = Looks(tally, path)
    listed = {(pids[r["process"]], int(r["step"])): r for r in printed["steps"].rows}
    wanted = {(s.pid, s.number) for steps in clock.values() for s in steps}
    if set(listed) != wanted:
        tally.wrong.append((path, "steps", "rows", "", sorted(wanted), sorted(listed)))
        return
    for rank in ranks:
        process = rank.processes[0]
        work = Work(process.gpu)
        for step in clock[process.pid]:
            of_step(looks, process, work, step, listed[process.pid, step.number])
        delays(looks, rank, [r for r in printed["launch_delays"].rows if r["rank"] == str(rank.number)])
        queues(looks, rank, [r for r in printed["queue_length"].rows if r["rank"] == str(rank.number)])


def of_step(looks, process, work, step, row):
    calls = [c for c in process.calls if step.has(c)]
    rows = [r for r in process.gpu if r.call is not None and step.has(r.call)]
    least, most = inside(work, [(step.first, step.last)]), inside(work, [(step.before, step.after)])
    n, key = len(work.rows), (process.pid, step.number)

    def look(column, low, high):
        looks.at("steps", column, key, low, int(row[column]), high)
    look("wall_ns", step.last - step.first, step.after - step.before)
    look("launches", sum(map(is_launch, calls)), sum(map(is_launch, calls)))
    look("kernels", sum(r.kind == "kernel" for r in rows), sum(r.kind == "kernel" for r in rows))
    for name in BETWEEN:
        look("gpu_busy_ns" if name == "busy_ns" else name, least[name] - n, most[name] + n)
    if not rows:
        looks.at("steps", "rows launched in the step", key, 1, 0, n)
        return
    busy = length(union((r.start, r.end) for r in rows))
    look("launched_busy_ns", busy - len(rows), busy + len(rows))
    reach = max(r.end for r in rows) - min(r.start for r in rows)
    # Times between two rows are converted by readings of both clocks, 100 ms apart and each known to some 50 ns: a millionth.
    far = 2 + reach // 1000000
    looks.at("steps", "launched_end_ns - launched_start_ns", key, reach - far, int(row["launched_end_ns"]) - int(row["launched_start_ns"]), reach + far)
    api = sum(c.end - c.start for c in calls)
    look("api_ns", api * 4 // 5, api * 5 // 4 + LATE)


def delays(looks, rank, printed):
    wanted = {str(x["correlation"]): x for x in launch_delays([rank])}
    looks.at("launch_delays", "launches", rank.number, len(wanted), len(printed), len(wanted))
    apart = []
    for row in printed:
        want = wanted[row["correlation"]]
        apart.append(abs(int(row["delay_ns"]) - want["delay_ns"]))
        looks.at("launch_delays", "gpu_rows", row["correlation"], want["gpu_rows"], int(row["gpu_rows"]), want["gpu_rows"])
        looks.at("launch_delays", "gpu_ns", row["correlation"], want["gpu_ns"] - want["gpu_rows"], int(row["gpu_ns"]), want["gpu_ns"] + want["gpu_rows"])
    looks.at("launch_delays", "delay_ns, median distance", rank.number, 0, median(apart), LATE // 100)
    looks.at("launch_delays", "delay_ns, most are near", rank.number, 0, sum(a > LATE for a in apart), len(apart) // 50)


def queues(looks, rank, printed):
    """Depths by the simulator's begin of each call: the recorder's is a moment later, in which a kernel may have started."""
    wanted = {(str(x["device"]), str(x["stream"])): x for x in queue_length([rank])}
    looks.at("queue_length", "streams", rank.number, len(wanted), len(printed), len(wanted))
    for row in printed:
        want = wanted[row["device"], row["stream"]]
        looks.at("queue_length", "launches", row["stream"], want["launches"], int(row["launches"]), want["launches"])
        looks.at("queue_length", "mean", row["stream"], float(want["mean"].value) - .25, float(row["mean"]), float(want["mean"].value) + .25)
        for column in ("median", "p95", "max"):
            looks.at("queue_length", column, row["stream"], want[column] - 1, int(row[column]), want[column] + 1)
