"""critical_path_check.py TRACE TRUTH TIMES: the critical path of each step, worked out again from what the simulated GPU says it did.

The truth has each call, each row of the GPU and each event; TIMES has when the program says its steps began and ended.  What ran on the
GPU has to be equal to the nanosecond, but for what the conversion of clocks rounds; what the host did, as exactly as two clocks that
are read one after the other can be.
"""
import csv
import io
import json
import subprocess
import sys

GPU = {"GPU compute", "GPU communication", "GPU copy", "GPU memory set", "gap on the stream"}
ROUNDING = 3            # ns a segment
CUT = 2000              # ns: a row that ends where a call returns is cut there, and of that the two have clocks of their own
SLACK = 400000          # ns: of the host, on a busy machine


class Truth:
    def __init__(self, path):
        self.calls, self.rows, self.records, self.waits, self.blocking = {}, [], [], {}, {}
        for line in open(path, encoding="utf-8", errors="surrogateescape"):
            t = json.loads(line)
            kind = t["type"]
            if kind == "api" and t["outermost"]:
                self.calls[t["correlation"]] = t
            elif kind in ("kernel", "memcpy", "memset"):
                self.rows.append(t)
            elif kind == "event_record":
                self.records.append(t)
            elif kind == "event_wait":
                # The event as it was recorded last, by then.
                self.waits[t["correlation"]] = (t, [r for r in self.records if r["event"] == t["event"]][-1:])
            elif kind == "stream":
                self.blocking[t["stream"]] = {1: "blocking", 3: "null"}.get(t["flags"])
        self.rows.sort(key=lambda r: (r["start"], r["end"]))

    def launched(self, row):
        return self.calls[row["correlation"]]["start"]

    def given(self, stream, when):
        """Everything that a stream had to do, or to wait for, when something was put into it."""
        rows = [r for r in self.rows if r["stream"] == stream and self.launched(r) < when]
        for wait, record in self.waits.values():
            if wait["stream"] == stream and record and self.calls[wait["correlation"]]["start"] < when:
                rows += self.given(record[0]["stream"], self.calls[record[0]["correlation"]]["start"])
        kind = self.blocking.get(stream)
        for other, of in self.blocking.items():
            if kind and of and {kind, of} == {"blocking", "null"}:
                rows += [r for r in self.rows if r["stream"] == other and self.launched(r) < when]
        return rows

    def awaited(self, call):
        """What a call of the host waited for; None: it is no such call."""
        name, corr = call["name"], call["correlation"]
        if name == "cuStreamSynchronize":
            stream = next(r["stream"] for r in self.rows if r["correlation"] < corr and self.blocking.get(r["stream"]) == "null")
            return self.given(stream, call["start"])
        if name == "cuCtxSynchronize":
            return [r for r in self.rows if self.launched(r) < call["start"]]
        if name == "cuEventSynchronize":
            record = self.waits[corr][1][0]
            return self.given(record["stream"], self.calls[record["correlation"]]["start"])
        own = [r for r in self.rows if r["correlation"] == corr and r["type"] == "memcpy" and r["name"] == "DtoH" and r["to"] == 1]
        return own or None


def kind_of(row):
    if row["type"] == "memcpy":
        return "GPU copy"
    if row["type"] == "memset":
        return "GPU memory set"
    return "GPU communication" if "nccl" in row["name"] else "GPU compute"


class Walk:
    def __init__(self, truth, begin, end):
        self.truth, self.begin, self.at = truth, begin, end
        self.sums, self.segments, self.cut = {}, 0, 0
        row = None
        while self.at > begin:
            row = self.from_row(row) if row else self.from_host()

    def take(self, kind, since):
        since = max(since, self.begin)
        if since < self.at:
            self.sums[kind] = self.sums.get(kind, 0) + self.at - since
            self.segments += 1
            self.at = since

    def from_host(self):
        """To the end of the last thing on the GPU that the host waited for."""
        best, of = self.begin, None
        for call in self.truth.calls.values():
            if call["start"] >= self.at:
                continue
            rows = self.truth.awaited(call)
            last = max(rows, key=lambda r: r["end"]) if rows else None
            came = last and min(last["end"], call["end"])
            if last and call["start"] < came <= self.at and came > best:
                best, of = came, last
        self.cut += of is not None and best < of["end"]
        self.take("host", best)
        return of

    def from_row(self, row):
        self.take(kind_of(row), row["start"])
        call = self.truth.calls[row["correlation"]]
        before = [r for r in self.truth.given(row["stream"], call["start"]) if r["end"] <= row["start"]]
        last = max(before, key=lambda r: r["end"]) if before else None
        launch = call["end"] if call["end"] <= row["start"] else call["start"]
        if last and last["end"] >= launch:
            self.take("gap on the stream", last["end"])
            return last
        self.take("host", call["end"])
        return None


def report(trace, name):
    text = subprocess.run(["gprof-trace", "report", "-f", "csv", "-r", name, trace], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, encoding="utf-8").stdout
    return list(csv.DictReader(io.StringIO(text)))


def tiles(segments, wall):
    at = 0
    for s in segments:
        if int(s["start_ns"]) != at or int(s["duration_ns"]) <= 0:
            return False
        at += int(s["duration_ns"])
    return at == wall


def check(number, ours, segments, walk, wall):
    wrong = []
    got = {r["kind"]: int(r["time_ns"]) for r in ours}
    if sum(got.values()) != wall or not tiles(segments, wall):
        wrong.append("its segments are not the step")
    for kind in GPU:
        if abs(got.get(kind, 0) - walk.sums.get(kind, 0)) > ROUNDING * walk.segments + CUT * walk.cut:
            wrong.append("%s is %d, not %d" % (kind, got.get(kind, 0), walk.sums.get(kind, 0)))
    host = sum(time for kind, time in got.items() if kind not in GPU)
    if abs(host - walk.sums.get("host", 0)) > SLACK:
        wrong.append("the host is %d, not %d" % (host, walk.sums.get("host", 0)))
    for row in ours:
        if int(row["segments"]) != sum(s["kind"] == row["kind"] for s in segments):
            wrong.append("segments of " + row["kind"])
    for text in wrong:
        print("step %d: %s" % (number, text))
    return not wrong


def main():
    trace, truth, times = sys.argv[1:]
    truth = Truth(truth)
    walls = {int(r["step"]): int(r["wall_ns"]) for r in report(trace, "steps")}
    right, kinds = True, set()
    for number, line in enumerate(open(times, encoding="ascii")):
        begin, end, _ = map(int, line.split())
        walk = Walk(truth, begin, end)
        kinds |= walk.sums.keys()
        right &= check(number, report(trace, "critical_path:%d" % number), report(trace, "critical_path_segments:%d" % number), walk,
                       walls[number])
    print(*sorted(kinds), sep="\n")
    sys.exit(0 if right else 1)


main()
