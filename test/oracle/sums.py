"""Sums by a name, with nsys's columns: how often, how long, mean, median (mean of the two middle ones, as nsys has it), standard deviation."""
import math
from fractions import Fraction

from values import near, share

OPERATIONS = {"HtoD": "[CUDA memcpy Host-to-Device]", "DtoH": "[CUDA memcpy Device-to-Host]", "DtoD": "[CUDA memcpy Device-to-Device]",
              "HtoH": "[CUDA memcpy Host-to-Host]", "PtoP": "[CUDA memcpy Peer-to-Peer]"}


def deviation(values):
    """Of a sample; None: of one value there is none."""
    n = len(values)
    if n < 2:
        return 0.0
    mean = Fraction(sum(values), n)
    return math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))


def middle(values):
    ordered = sorted(values)
    n = len(ordered)
    return Fraction(ordered[(n - 1) // 2] + ordered[n // 2], 2)


def statistics(values, unit):
    """avg, med, min, max, stddev as cells; unit: ns each."""
    if not values:
        return [None] * 5
    return [near(Fraction(sum(values), len(values) * unit)), near(middle(values) / unit), near(Fraction(min(values), unit)),
            near(Fraction(max(values), unit)), near(Fraction(deviation(values)) / unit)]


def by(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def nsys_table(groups, count, name):
    """{name: [durations or None]} -> rows of an nsys sum."""
    times = {k: [v for v in values if v is not None] for k, values in groups.items()}
    total = sum(sum(v) for v in times.values())
    for key, values in groups.items():
        known = times[key]
        avg, med, low, high, std = statistics(known, 1)
        yield {"Time (%)": share(sum(known), total) if total else near(0), "Total Time (ns)": sum(known), count: len(values), "Avg (ns)": avg,
               "Med (ns)": med, "Min (ns)": low, "Max (ns)": high, "StdDev (ns)": std, name: key}


def duration(row):
    return row.end - row.start if row.timed() else None


def durations(rows, key):
    return {k: [duration(r) for r in group] for k, group in by(rows, key).items()}


def operation(row):
    """nsys's word for a copy or memory set."""
    if row.kind == "memset":
        return "[CUDA memset]"
    words = row.moves or row.name
    for word, text in OPERATIONS.items():
        if word in words.replace(" -> ", "to"):
            return text
    return "[CUDA memcpy %s]" % words


def kernel_sum(processes):
    rows = [r for p in processes for r in p.gpu if r.kind == "kernel"]
    return nsys_table(durations(rows, lambda r: r.name), "Instances", "Name")


def api_sum(processes):
    calls = {k: [c.end - c.start for c in group] for k, group in by((c for p in processes for c in p.calls), lambda c: c.name).items()}
    return nsys_table(calls, "Num Calls", "Name")


def memory_time(processes):
    rows = [r for p in processes for r in p.gpu if r.kind in ("memcpy", "memset")]
    return nsys_table(durations(rows, operation), "Count", "Operation")


def memory_size(processes):
    rows = [r for p in processes for r in p.gpu if r.kind in ("memcpy", "memset")]
    for name, group in by(rows, operation).items():
        sizes = [r.bytes for r in group if r.bytes is not None]
        avg, med, low, high, std = statistics(sizes, 10 ** 6)
        yield {"Total (MB)": near(Fraction(sum(sizes), 10 ** 6)) if sizes else None, "Count": len(group), "Avg (MB)": avg, "Med (MB)": med, "Min (MB)": low,
               "Max (MB)": high, "StdDev (MB)": std, "Operation": name}
