"""critical.py FILE...: the critical path of a step of each Kineto file, by the rules of docs/reference/critical-path.md, beside that of the report.

What is on the GPU, between it and its launches, and on the host is compared to the nanosecond; of what kind the host's time is, is not.
"""
import bisect
import csv
import io
import re
import subprocess
import sys

import kineto
from intervals import union
from rows import is_communication

SLACK, FULL = 1000, 1000        # ns; launches
HOST = {*kineto.CALLS, *kineto.OPERATORS, *kineto.OTHERS, "python_function", "hip_runtime"}
ON_GPU = ("GPU compute", "GPU communication", "GPU copy", "GPU memory set", "launch delay", "gap on the stream")


class Queue:
    """A stream's rows in the order in which they ran, and since when the last of them had been launched."""

    def __init__(self, rows):
        self.rows = sorted(rows, key=lambda r: (r.start, r.end, r.call.start if r.call else -1))
        self.starts = [r.start for r in self.rows]
        self.latest, at = [], -1
        for row in self.rows:
            at = max(at, row.call.start if row.call else -1)
            self.latest.append(at)

    def launched(self, when):
        return bisect.bisect_left(self.latest, when) - 1


def last(rows):
    """Of those that are there the one that ended last; of several the first."""
    best = None
    for row in rows:
        if row is not None and (best is None or row.end > best.end):
            best = row
    return best


class Path:
    def __init__(self, path, number):
        document = kineto.load(path)
        trace = kineto.read(path)
        step = "ProfilerStep#%s" % number
        self.process = next(p for p in trace.processes if any(s.name == step for s in p.steps))
        found = next(s for s in self.process.steps if s.name == step)
        self.begin, self.end, self.main = found.start, found.end, found.thread
        self.events = [e for e in document["traceEvents"] if e.get("ph") == "X"]
        self.find_queues(document["traceEvents"])
        self.find_acts()
        self.find_events()
        self.arrivals = {}
        self.find_waits()
        self.find_full()
        self.find_turns()
        for thread in self.arrivals.values():
            thread.sort(key=lambda a: a[0])
        self.sums = {}
        self.walk()

    # ---- what there is ----

    def find_queues(self, events):
        streams = {}
        for row in self.process.gpu:
            if row.timed() and row.end > self.begin and (row.start < self.end or row.call and row.call.start < self.end):
                row.node = kineto.number((events[row.index].get("args") or {}).get("graph node id")) or 0
                streams.setdefault((row.device, row.stream), []).append(row)
        self.queues = {key: Queue(rows) for key, rows in streams.items()}
        self.place = {id(r): (q, i) for q in self.queues.values() for i, r in enumerate(q.rows)}
        self.batches = {}
        for queue in self.queues.values():
            for row in queue.rows:
                if row.node:
                    self.batches.setdefault(row.correlation, []).append(row)
        for rows in self.batches.values():
            rows.sort(key=lambda r: r.end)

    def find_acts(self):
        """Host events by thread, those that lie in the step's time."""
        self.acts = {}
        for e in self.events:
            if e.get("cat") not in HOST or e.get("pid") != self.process.pid:
                continue
            start = kineto.ns(e["ts"])
            end = start + max(kineto.ns(e.get("dur", 0)) or 0, 0)
            if start < self.end and end > self.begin:
                self.acts.setdefault(e.get("tid"), []).append((start, end))
        self.busy = {thread: union(acts) for thread, acts in self.acts.items()}

    def find_events(self):
        """By correlation: what a wait is for, and the streams that wait: as rows of cuda_sync say."""
        self.syncs, self.orders, self.guesses = {}, {}, {}
        by_corr = {c.correlation: c for c in self.process.calls}
        for e in self.events:
            if e.get("cat") == "cuda_sync":
                a = e.get("args") or {}
                corr, stream = kineto.number(a.get("correlation")), kineto.number(a.get("stream"))
                on, record = kineto.number(a.get("wait_on_stream")), kineto.number(a.get("wait_on_cuda_event_record_corr_id"))
                record = by_corr.get(record) if record and record > 0 and on is not None and on >= 0 else None
                self.syncs[corr] = (e["name"], stream, on, record)
        for call in self.process.calls:
            if "WaitEvent" not in call.name or call.start >= self.end:
                continue
            _, stream, on, record = self.syncs.get(call.correlation, (None,) * 4)
            if record is None or stream is None or stream < 0:
                self.guesses.setdefault(call.thread, []).append(call.start)
            elif self.queue(stream) and self.queue(on):
                self.orders.setdefault(stream, []).append((call.start, on, record.start))
        for times in self.guesses.values():
            times.sort()

    def queue(self, stream):
        found = [q for (_, s), q in self.queues.items() if s == stream]
        return found[0] if len(found) == 1 else None

    # ---- what waits are for ----

    def done(self, queue, when):
        i = queue.launched(when)
        since = queue.latest[i] if i >= 0 else -1
        row = queue.rows[i] if i >= 0 else None
        return last([row] + self.ordered(queue, since, when))

    def ordered(self, queue, since, when):
        streams = {s for (_, s), q in self.queues.items() if q is queue}
        return [self.done(self.queue(on), recorded) for s in streams for at, on, recorded in self.orders.get(s, ())
                if since <= at < when and recorded <= at]

    def ended_last(self, launched, until):
        found = []
        for queue in self.queues.values():
            i = queue.launched(launched)
            while i >= 0 and queue.rows[i].end > until:
                i -= 1
            found.append(queue.rows[i] if i >= 0 else None)
        return last(found)

    def awaited(self, call):
        name = call.name
        _, stream, on, record = self.syncs.get(call.correlation, (None,) * 4)
        if "EventSynchronize" in name:
            if record:
                return self.done(self.queue(on), record.start) if self.queue(on) else None
            return self.ended_last(call.start, call.end + SLACK)
        if "StreamSynchronize" in name and stream is not None and stream >= 0:
            return self.done(self.queue(stream), call.start) if self.queue(stream) else None
        if any(word in name for word in ("StreamSynchronize", "DeviceSynchronize", "CtxSynchronize", "ThreadSynchronize")):
            rows = [self.done(q, call.start) for q in self.queues.values()]
            everything = "Stream" not in name and call.correlation in self.syncs
            return last(r for r in rows if r and (everything or r.end <= call.end + SLACK))
        return None

    def arrive(self, thread, start, end, row, turn=None):
        at = min(row.end if row else turn[2], end)
        if at > start:
            self.arrivals.setdefault(thread, []).append((at, row, turn))

    def find_waits(self):
        for call in self.process.calls:
            if call.start < self.end and call.end > self.begin:
                row = self.awaited(call)
                if row:
                    self.arrive(call.thread, call.start, call.end, row)
        for queue in self.queues.values():
            for row in queue.rows:
                call = row.call
                if row.kind == "memcpy" and call and row.end <= call.end + SLACK and (
                        ("Memcpy" in call.name and "Async" not in call.name) or re.search(r"DtoH .*-> Pageable", row.name)):
                    self.arrive(call.thread, call.start, call.end, row)

    def find_full(self):
        for queue in self.queues.values():
            graph = False
            for i, row in enumerate(queue.rows):
                graph |= row.node != 0
                begun = min(bisect.bisect_right(queue.starts, row.call.start), i) if row.call else i
                if not row.call or graph or i - begun < FULL:
                    continue
                while begun < i and queue.rows[begun].end <= row.call.end:
                    begun += 1
                if begun and queue.rows[begun - 1].end > row.call.start:
                    self.arrivals.setdefault(row.call.thread, []).append((queue.rows[begun - 1].end, queue.rows[begun - 1], None))

    def find_turns(self):
        times = sorted({t for act in self.acts.get(self.main, ()) for t in act} | {self.begin, self.end})
        turns = {}
        for r in sorted(self.process.ranges, key=lambda r: r.start):
            if r.thread == self.main or r.start < self.begin or r.end > self.end or not (
                    r.kind == "backward" or r.name.startswith("autograd::engine::evaluate_function: ") or
                    r.name == "torch::autograd::AccumulateGrad"):
                continue
            i = bisect.bisect_right(times, r.start)
            if 0 < i < len(times) and r.end <= times[i]:
                turn = turns.setdefault((times[i - 1], times[i], r.thread), [r.thread, r.start, r.end])
                turn[2] = max(turn[2], r.end)
        self.turns = list(turns.values())
        for (start, end, _), turn in turns.items():
            self.arrive(self.main, start, end, None, turn)

    # ---- the walk ----

    def take(self, kind, since):
        since = max(since, self.begin)
        if since < self.at:
            self.sums[kind] = self.sums.get(kind, 0) + self.at - since
            self.at = since

    def since(self, thread):
        """Back to when another thread has to be left for the main one."""
        if thread == self.main:
            return self.begin
        return next((start for start, end in self.busy.get(thread, ()) if start < self.at <= end), self.at)

    def walk(self):
        self.at, row, thread, floor = self.end, None, self.main, self.begin
        while self.at > self.begin:
            if row is not None:
                row, thread = self.from_row(row)
                if row is None:
                    floor = self.since(thread)
                    floor = next((t[1] for t in self.turns if thread == t[0] != self.main and t[1] < self.at <= t[2]), floor)
                continue
            arrivals = self.arrivals.get(thread, [])
            while arrivals and arrivals[-1][0] > self.at:
                arrivals.pop()
            if not arrivals or arrivals[-1][0] <= floor:
                self.take("host", floor)
                thread, floor = self.main, self.begin
                continue
            at, row, turn = arrivals.pop()
            self.take("host", at)
            if turn:
                thread, floor = turn[0], turn[1]

    def before(self, row):
        queue, i = self.place[id(row)]
        found = [queue.rows[i - 1] if i else None]
        if row.call:
            since = queue.latest[i - 1] if i else -1
            other = [last(self.ordered(queue, since, row.call.start))]
            times = self.guesses.get(row.call.thread, [])
            k = bisect.bisect_left(times, since)
            if k < len(times) and times[k] < row.call.start:
                other.append(self.ended_last(row.call.start, row.start))
            found += [r for r in other if r is not None and r is not row and r.end <= row.start + SLACK]
        else:
            other = self.ended_last(float("inf"), row.start)
            found += [other] if other is not None and other.start < other.end else []
        batch = self.batches.get(row.correlation, []) if row.node else []
        earlier = [r for r in batch if r.end <= row.start and r is not row]
        return last(found + earlier[-1:])

    def from_row(self, row):
        kind = {"memcpy": "GPU copy", "memset": "GPU memory set"}.get(row.kind)
        self.take(kind or ("GPU communication" if is_communication(row.name) else "GPU compute"), row.start)
        if self.at <= self.begin:
            return None, self.main
        before, call = self.before(row), row.call
        launch = None if call is None else call.end if call.end <= row.start else call.start
        if before is not None and (call is None or before.end >= launch):
            self.take("gap on the stream", before.end)
            return before, None
        if call is None:
            return None, self.main
        self.take("launch delay", call.end)
        return None, call.thread


def report(path):
    done = subprocess.run(["gprof-trace", "report", "-f", "csv", "-r", "critical_path", path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=True, encoding="utf-8")
    step = re.search(r"step (\d+) of process \d+, (?:the|one)", done.stderr)
    sums = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        kind = row["kind"] if row["kind"] in ON_GPU else "host"
        sums[kind] = sums.get(kind, 0) + int(row["time_ns"])
    return step and step.group(1), sums


def main():
    compared, wrong = 0, 0
    for path in sys.argv[1:]:
        number, got = report(path)
        try:
            want = Path(path, number).sums if number else None
        except (StopIteration, ValueError):
            want = None         # its steps are no ProfilerSteps, or it is no JSON
        if want is None:
            continue
        compared += 1
        if got != want:
            wrong += 1
            print("%s: step %s\n  is    %s\n  wants %s" % (path, number, sorted(got.items()), sorted(want.items())))
    print("compared: %d" % compared)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
