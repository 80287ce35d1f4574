"""The reports by rank: docs/reference/numbers.md, "Reports by rank".  A rank is one Kineto file here, with all processes that are in it."""
from fractions import Fraction

from compare import Start
from gpu import Work, inside, spans
from intervals import intersect, length, median, percentile, subtract, union
from rows import is_communication
from values import near, share

ORDER = {"kernel": 0, "memcpy": 1, "memset": 2, "graph": 3}


class Rank:
    def __init__(self, number, trace):
        self.number = number
        self.rows = [r for p in trace.processes for r in p.gpu]
        self.processes = trace.processes
        self.work = Work(self.rows)

    def launches(self):
        """(call, its first GPU row, all its GPU rows), by start of the call."""
        if not hasattr(self, "_launches"):
            groups = {}
            for row in self.rows:
                if row.call is not None and row.timed():
                    groups.setdefault(id(row.call), []).append(row)
            found = [(group[0].call, min(group, key=lambda r: (r.start, ORDER[r.kind], r.index)), group) for group in groups.values()]
            self._launches = sorted(found, key=lambda x: (x[0].start, x[0].index))
        return self._launches

    def streams(self):
        out = {}
        for row in self.rows:
            if row.timed():
                out.setdefault((row.device, row.stream), []).append(row)
        return out


TEMPORAL = ("span_ns", "busy_ns", "busy_pct", "idle_ns", "idle_pct", "compute_ns", "compute_pct", "comm_ns", "comm_exposed_ns", "memcpy_ns",
            "memset_ns")


def temporal(ranks):
    for r in ranks:
        if not r.work.span:
            yield dict.fromkeys(TEMPORAL, None) | {"rank": r.number}
            continue
        cut = inside(r.work, r.work.span)
        row = {"rank": r.number, **{k: cut[k] for k in ("span_ns", "busy_ns", "idle_ns", "compute_ns", "comm_ns", "comm_exposed_ns",
                                                       "memcpy_ns", "memset_ns")}}
        for name in ("busy", "idle", "compute"):
            row[name + "_pct"] = share(row[name + "_ns"], row["span_ns"]) if row[name + "_ns"] is not None else None
        yield row


def overlap(ranks):
    for r in ranks:
        if not r.work.span:
            yield {"rank": r.number, "comm_ns": None, "overlap_ns": None, "comm_exposed_ns": None, "overlap_pct": None}
            continue
        cut = inside(r.work, r.work.span)
        yield {"rank": r.number, "comm_ns": cut["comm_ns"], "overlap_ns": cut["overlap_ns"], "comm_exposed_ns": cut["comm_exposed_ns"],
               "overlap_pct": share(cut["overlap_ns"], cut["comm_ns"]) if cut["comm_ns"] else None}


def kernel_types(ranks, memory=True):
    sums = {}
    for r in ranks:
        kinds = {"compute": r.work.compute, "communication": r.work.comm}
        if memory:
            kinds["memory"] = union(r.work.memcpy + r.work.memset)
        names = list(kinds)
        for chosen in range(1, 1 << len(names)):
            together = r.work.span
            for i, name in enumerate(names):
                together = intersect(together, kinds[name]) if chosen >> i & 1 else subtract(together, kinds[name])
            label = " overlapping ".join(n for i, n in enumerate(names) if chosen >> i & 1)
            sums[label] = sums.get(label, 0) + length(together)
    total = sum(sums.values())
    for label, time in sums.items():
        if time:
            yield {"kernel_type": label, "time_ns": time, "time_pct": share(time, total)}


def gaps(rank):
    """(stream, reason, length) of each gap between rows of a stream."""
    for stream, rows in rank.streams().items():
        rows.sort(key=lambda r: (r.start, r.end))
        latest = None
        for row in rows:
            if latest is not None and row.start > latest:
                gap = row.start - latest
                if row.call is None:
                    reason = "unknown"
                elif row.call.start > latest:
                    reason = "host_wait"
                else:
                    reason = "kernel_wait" if gap < 30000 else "other"
                yield stream, reason, gap
            latest = row.end if latest is None else max(latest, row.end)


def idle(ranks):
    for r in ranks:
        sums, total = {}, {}
        for stream, reason, gap in gaps(r):
            sums[stream, reason] = sums.get((stream, reason), 0) + gap
            total[stream] = total.get(stream, 0) + gap
        for (stream, reason), time in sums.items():
            yield {"rank": r.number, "device": stream[0], "stream": stream[1], "reason": reason, "idle_ns": time,
                   "idle_pct": share(time, total[stream])}


def idle_intervals(ranks):
    for r in ranks:
        found = {}
        for stream, reason, gap in gaps(r):
            found.setdefault((stream, reason), []).append(gap)
        for (stream, reason), all_gaps in found.items():
            yield {"rank": r.number, "device": stream[0], "stream": stream[1], "reason": reason, "count": len(all_gaps),
                   **of_durations(all_gaps, ("mean_ns", "min_ns", "median_ns", "p95_ns", "max_ns"))}


def of_durations(values, names):
    found = {"mean_ns": near(Fraction(sum(values), len(values)), 1), "min_ns": min(values), "median_ns": median(values),
             "p95_ns": percentile(values, 95), "max_ns": max(values)}
    return {name: found[name] for name in names}


def launch_delays(ranks):
    for r in ranks:
        for call, first, rows in r.launches():
            yield {"rank": r.number, "correlation": call.correlation, "call": call.name, "name": first.name, "call_ns": call.end - call.start, "gpu_rows": len(rows),
                   "gpu_ns": sum(x.end - x.start for x in rows), "delay_ns": max(first.start - call.end, 0)}


def launch_delay_sum(ranks):
    for r in ranks:
        rows = list(launch_delays([r]))
        delays = [x["delay_ns"] for x in rows]
        yield {"rank": r.number, "launches": len(rows), **{name: sum(x[name] for x in rows) if rows else None for name in
                                                          ("call_ns", "gpu_ns", "delay_ns")},
               "delay_median_ns": median(delays) if rows else None, "delay_p95_ns": percentile(delays, 95) if rows else None,
               "delay_max_ns": max(delays) if rows else None,
               "short_kernels": sum(x["gpu_ns"] < x["call_ns"] for x in rows) if rows else None,
               "slow_calls": sum(x["call_ns"] > 50000 for x in rows) if rows else None,
               "late": sum(x["delay_ns"] > 100000 for x in rows) if rows else None}


def by_stream(rank):
    out = {}
    for call, first, _ in rank.launches():
        out.setdefault((first.device, first.stream), []).append((call, first))
    return out


def queue_length(ranks):
    for r in ranks:
        for stream, launches in by_stream(r).items():
            starts = sorted(max(first.start, call.start) for call, first in launches)
            depths, left = [], 0
            for n, (call, _) in enumerate(launches, 1):
                while left < len(starts) and starts[left] < call.start:
                    left += 1
                depths.append(n - left)
            yield {"rank": r.number, "device": stream[0], "stream": stream[1], "launches": len(launches),
                   "mean": near(Fraction(sum(depths), len(depths))), "median": median(depths), "p95": percentile(depths, 95), "max": max(depths)}


def changes(launches):
    """(time, depth from there on) of each change; launches first at equal times."""
    moves = []
    for call, first in launches:
        moves.append((call.start, 0, 1))
        moves.append((max(first.start, call.start), 1, -1))
    depth = 0
    for time, _, change in sorted(moves):
        depth += change
        yield time, depth


def queue_series(ranks):
    for r in ranks:
        for stream, launches in by_stream(r).items():
            for time, depth in changes(launches):
                yield {"rank": r.number, "device": stream[0], "stream": stream[1], "time_ns": Start(time), "queue_length": depth}


def queue_full(ranks, full=1024):
    for r in ranks:
        for stream, launches in by_stream(r).items():
            series = list(changes(launches))
            time = sum(b[0] - a[0] for a, b in zip(series, series[1:]) if a[1] >= full)
            span = max(first.start for _, first in launches) - min(call.start for call, _ in launches)
            if time:
                yield {"rank": r.number, "device": stream[0], "stream": stream[1], "full_ns": time, "full_pct": share(time, span)}


def copies(rank):
    out = {}
    for row in rank.rows:
        if row.kind in ("memcpy", "memset") and row.timed() and row.bytes is not None:
            out.setdefault(copy_kind(row), []).append(row)
    return out


def copy_kind(row):
    """Memcpy HtoD: the name in front of what is in brackets; that of the file."""
    return row.name.split(" (")[0] if row.kind == "memcpy" else "Memset"


def bandwidth(ranks):
    for r in ranks:
        for kind, rows in copies(r).items():
            speeds = [Fraction(x.bytes, x.end - x.start) for x in rows if x.end > x.start]
            time = length(spans(rows))
            yield {"rank": r.number, "name": kind, "copies": len(rows), "bytes": sum(x.bytes for x in rows), "time_ns": time,
                   "gb_per_s": near(Fraction(sum(x.bytes for x in rows), time)) if time else None,
                   "median_gb_per_s": near(median(speeds)) if speeds else None, "max_gb_per_s": near(max(speeds)) if speeds else None}


def bandwidth_series(ranks):
    for r in ranks:
        for kind, rows in copies(r).items():
            moves = {}
            for x in rows:
                if x.end > x.start:
                    speed = Fraction(x.bytes, x.end - x.start)
                    moves[x.start] = moves.get(x.start, 0) + speed
                    moves[x.end] = moves.get(x.end, 0) - speed
            now = Fraction(0)
            for time in sorted(moves):
                now += moves[time]
                yield {"rank": r.number, "name": kind, "time_ns": Start(time), "gb_per_s": near(now)}


def kernel_breakdown(ranks):
    for r in ranks:
        groups = {}
        for row in r.rows:
            if row.timed():
                groups.setdefault((row.name, kind_of(row)), []).append(row.end - row.start)
        total = sum(map(sum, groups.values()))
        for (name, kind), times in groups.items():
            yield {"name": name, "kernel_type": kind, "rank": r.number, "gpu_ns": sum(times), "gpu_pct": share(sum(times), total) if total else None,
                   "count": len(times), **of_durations(times, ("mean_ns", "min_ns", "max_ns"))}


def top10(ranks):
    """Of each kind of a rank the ten names with the largest sums, all others as one row."""
    for r in ranks:
        total = sum(x.end - x.start for x in r.rows if x.timed())
        kinds = {}
        for row in kernel_breakdown([r]):
            kinds.setdefault(row["kernel_type"], []).append(row)
        for kind, rows in kinds.items():
            rows.sort(key=lambda x: (-x["gpu_ns"], x["name"]))
            yield from rows[:10]
            names = {x["name"] for x in rows[10:]}
            times = [x.end - x.start for x in r.rows if x.timed() and x.name in names and kind_of(x) == kind]
            if times:
                yield {"name": "others", "kernel_type": kind, "rank": r.number, "gpu_ns": sum(times), "count": len(times),
                       "gpu_pct": share(sum(times), total) if total else None, **of_durations(times, ("mean_ns", "min_ns", "max_ns"))}


def kind_of(row):
    return "memory" if row.kind != "kernel" else "communication" if is_communication(row.name) else "compute"


def annotations(ranks, where):
    """where: gpu or cpu."""
    for r in ranks:
        groups = {}
        for p in r.processes:
            found = p.gpu_ranges if where == "gpu" else [(x.name, x.start, x.end) for x in p.ranges if x.annotation]
            for name, start, end in found:
                groups.setdefault(name, []).append(end - start)
        for name, times in groups.items():
            yield {"name": name, "rank": r.number, "total_ns": sum(times), "count": len(times),
                   **of_durations(times, ("mean_ns", "min_ns", "max_ns"))}
