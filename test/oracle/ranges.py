"""Ranges of a thread in each other: self time, GPU time of what was launched in them."""
import bisect

TOLERANCE = 1000        # ns that a range may end behind the one it begins in: files of whole microseconds do


def nest(process):
    """Fills parent and children; a range that ends behind the one it begins in has neither (crossing)."""
    threads = {}
    for r in process.ranges:
        threads.setdefault(r.thread, []).append(r)
    for members in threads.values():
        members.sort(key=lambda r: (r.start, -r.end, r.index))
        stack = []
        for r in members:
            while stack and stack[-1].end <= r.start:
                stack.pop()
            if stack and r.end > stack[-1].end + TOLERANCE:
                r.crossing = True
                continue
            if stack:
                r.parent = stack[-1]
                stack[-1].children.append(r)
            stack.append(r)
    return threads


def self_time(r):
    """None of its own: a range that is in no other and has none in it, since it crosses them."""
    if r.crossing:
        return 0
    return r.end - r.start - sum(c.end - c.start for c in r.children)


class Innermost:
    """Which range a moment of a thread is in."""

    def __init__(self, threads):
        self.threads = {t: [r for r in members if not r.crossing] for t, members in threads.items()}
        self.starts = {t: [r.start for r in members] for t, members in self.threads.items()}

    def at(self, thread, start):
        members = self.threads.get(thread)
        if not members:
            return None
        i = bisect.bisect_right(self.starts[thread], start) - 1
        r = members[i] if i >= 0 else None
        while r is not None and r.end <= start:
            r = r.parent
        return r


def add_gpu(process):
    """Nests the ranges, and adds up the GPU time of each: of what was launched directly in it, and in those inside of it too.  Once."""
    if process.nested:
        return
    process.nested = True
    threads = nest(process)
    innermost = Innermost(threads)
    for row in process.gpu:
        if row.call is None or not row.timed():
            continue
        r = innermost.at(row.call.thread, row.call.start)
        if r is not None:
            r.self_gpu += row.end - row.start
            r.launched.append(row)
        while r is not None:
            r.gpu += row.end - row.start
            r = r.parent
