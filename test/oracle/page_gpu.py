"""The page's lines about what a trace holds and what the GPUs did, and its table of kernels."""
import re
from fractions import Fraction

from gpu import Work, inside
from intervals import length
from page import MOST_LINES, TIME, Shown

MOST_GPUS, MOST_KERNELS, FEWEST_KERNELS = 3, 5, 3
WORDS = {"kernel": "kernels", "memcpy": "copies", "memset": "memory sets", "graph": "graph launches"}


def holds(sheet, processes):
    printed = sheet.page.counts()
    wanted = {"processes": len(processes), "API calls": sum(len(p.calls) for p in processes), "PyTorch ranges": sum(len(p.ranges) for p in processes),
              "other ranges": sum(p.other_ranges for p in processes)}
    for kind, word in WORDS.items():
        wanted[word] = sum(r.kind == kind for p in processes for r in p.gpu)
    for word, number in wanted.items():
        sheet.same("holds", word, number, printed.get(word, 0))


class Device:
    def __init__(self, number, process, order):
        self.number, self.rank, self.pid, self.order, self.rows = number, process.rank, process.pid, order, []

    def who(self, alone):
        pid = "process" if self.pid is None else "pid %s" % self.pid
        return pid if self.rank is None else "rank %s, %s" % (self.rank, pid) if alone else "rank %s" % self.rank

    def measure(self):
        work = Work(self.rows)
        self.busy, self.span = length(work.busy), length(work.span)
        self.tenths = (2000 * self.busy + self.span) // (2 * self.span) if self.span else 0


def devices(processes):
    """In the order of processes."""
    out = {}
    for i, p in enumerate(processes):
        for row in p.gpu:
            device = out.setdefault((i, row.device), Device(row.device, p, i))
            device.rows.append(row)
    for device in out.values():
        device.measure()
    return list(out.values())


def same_user(who, said):
    return who == re.sub(r"process \d+$", "process", said)


def gpus(sheet, processes):
    wanted, printed = devices(processes), sheet.page.gpus()
    said = sheet.page.one("GPUs")
    count = re.match(r"(\d+) x ", said)
    sheet.same("GPU", "how many", len(wanted), int(count.group(1)) if count else len(printed))
    if len(wanted) > MOST_GPUS:
        spread(sheet, wanted, said)
        return
    sheet.same("GPU", "how many are shown", len(wanted), len(printed))
    alone = len(wanted) == 1
    for device, text in printed:
        one(sheet, wanted, alone, device, text)


def one(sheet, wanted, alone, device, text):
    found = re.search(r"\((?P<who>[^()]*)\) busy (?P<busy>[\d.]+) % of the (?P<span>" + TIME + ") from the first to the last GPU row$" if alone else
                      r"^busy (?P<busy>[\d.]+) % of (?P<span>" + TIME + r") from first to last GPU row \((?P<who>.*)\)$", text)
    of = [d for d in wanted if found and d.number == device and same_user(d.who(alone), found.group("who"))]
    sheet.same("GPU", "whose", True, bool(of))
    if of:
        wanted.remove(of[0])
        sheet.rounded("GPU", "span", of[0].span, Shown(found.group("span")))
        sheet.rounded("GPU", "busy", Fraction(100 * of[0].busy, of[0].span), Shown(found.group("busy")))


def spread(sheet, wanted, said):
    known = sorted((d for d in wanted if d.span), key=lambda d: (d.tenths, d.number, d.order))
    found = re.search(r" busy ([\d.]+) % \(GPU (\d+), (.*?)\) to ([\d.]+) % \(GPU (\d+), (.*?)\) median ([\d.]+) %, each of the time from its first to its last row", said)
    if not found:
        sheet.wrong("GPU", "spread", "a line", said)
        return
    low, low_gpu, low_who, high, high_gpu, high_who, middle = found.groups()
    for what, device, busy, gpu, who in (("least", known[0], low, low_gpu, low_who), ("most", known[-1], high, high_gpu, high_who)):
        sheet.rounded("GPU", what + " busy", Fraction(100 * device.busy, device.span), Shown(busy))
        sheet.same("GPU", what + " busy one", True, device.number == int(gpu) and same_user(device.who(False), who))
    sheet.rounded("GPU", "median busy", Fraction(known[(len(known) - 1) // 2].tenths, 10), Shown(middle))


LARGEST = {"phases": "idle", "idle_stacks": "idle", "idle": "idle", "ranks": "exposed", "overlap": "exposed"}


def largest(sheet, processes):
    """`next` names what the GPUs lost most time by: idle, exposed communication; else their work."""
    all_of = devices(processes)
    if not all_of:
        return
    cuts = [inside(w, w.span) for p in processes if p.gpu for w in [Work(p.gpu)] if length(w.span)]
    times = {"idle": sum(d.span - d.busy for d in all_of), "exposed": sum(c["comm_exposed_ns"] or 0 for c in cuts)}
    times["work"] = sum(d.busy for d in all_of) - times["exposed"]
    why, report = sheet.page.next()
    sheet.same("next", "largest", max(times.values()), times[LARGEST.get(report, "work")])
    sheet.same("next", "says so", report in LARGEST, why.startswith("largest loss: "))


def plain(name):
    """Without what a function returns and takes: `void a::b<int>(float*)` is a::b<int>."""
    ends, at, depth = name.endswith(")"), len(name), 0
    while ends and at:
        at -= 1
        depth += (name[at] == ")") - (name[at] == "(")
        if not depth:
            break
    front, depth = name[:at], 0
    for i in range(len(front) - 1, -1, -1) if ends else ():
        depth += (front[i] in ")>") - (front[i] in "(<")
        if front[i] == " " and not depth:
            return front[i + 1:]
    return front[5:] if front.startswith("void ") else front


def kernels(sheet, processes):
    groups, names = {}, {name: plain(name) for name in {r.name for p in processes for r in p.gpu}}
    for row in (r for p in processes for r in p.gpu if r.kind == "kernel"):
        groups.setdefault(names[row.name], []).append(row)
    sums = {name: sum(r.end - r.start for r in rows if r.timed()) for name, rows in groups.items()}
    order, lines, total = sorted(sums.values(), reverse=True), sheet.page.table, sum(sums.values())
    if not groups:
        return
    users = sum(any(r.kind == "kernel" for r in p.gpu) for p in processes)
    said = re.search(r"kernel \(% of kernels\)(?: \((\d+) processes\))?$", sheet.page.heading or "")
    sheet.same("kernels", "processes", users, int(said.group(1) or 1) if said else None)
    # A block of two lines may have been left out of a full page.
    fewest = FEWEST_KERNELS if len(sheet.page.lines) >= MOST_LINES - 1 else MOST_KERNELS
    sheet.same("kernels", "lines", True, min(len(groups), fewest) <= len(lines) <= MOST_KERNELS)
    sheet.same("kernels", "how many", len(groups), len(lines) + sheet.page.more)
    for line, most in zip(lines, order):
        fits = [n for n in groups if line.names(n) and sums[n] == most and len(groups[n]) == int(line.runs.replace(",", ""))]
        sheet.same("kernels", "name and runs", True, bool(fits))
        sheet.rounded("kernels", "time", most, Shown(line.time))
        sheet.rounded("kernels", "%", Fraction(100 * most, total), Shown(line.share))
        if fits:
            timed = sum(r.timed() for r in groups[fits[0]])
            sheet.rounded("kernels", "mean", Fraction(most, timed), Shown(line.mean))
