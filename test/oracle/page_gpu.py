"""The page's lines about what a trace holds and what the GPUs did, and its table of kernels."""
import re
from fractions import Fraction

from gpu import Work
from intervals import length
from page import TIME, Shown

MOST_GPUS, MOST_KERNELS = 4, 5
WORDS = {"kernel": "kernels", "memcpy": "copies", "memset": "memory sets", "graph": "graph launches"}


def holds(sheet, processes):
    printed = sheet.page.counts()
    wanted = {"processes": len(processes), "API calls": sum(len(p.calls) for p in processes), "PyTorch ranges": sum(len(p.ranges) for p in processes),
              "other ranges": sum(p.other_ranges for p in processes)}
    for kind, word in WORDS.items():
        wanted[word] = sum(r.kind == kind for p in processes for r in p.gpu)
    for word, number in wanted.items():
        sheet.same("holds", word, number, printed.get(word, 0))


def devices(processes):
    """{(device, who): its rows}"""
    out = {}
    for p in processes:
        for row in p.gpu:
            who = "pid %s" % p.pid if p.rank is None else "rank %s, pid %s" % (p.rank, p.pid)
            out.setdefault((row.device, who), []).append(row)
    return out


def gpus(sheet, processes):
    wanted = devices(processes)
    printed, more = sheet.page.gpus()
    sheet.same("GPU", "how many", len(wanted), len(printed) + more)
    sheet.same("GPU", "how many are shown", min(len(wanted), MOST_GPUS), len(printed))
    for device, text in printed:
        said = re.search(r": busy ([\d.]+) % of the (" + TIME + r") from the first to the last GPU row \((.*)\)$", text)
        rows = said and wanted.pop((device, re.sub(r"^process \d+$", "pid None", re.sub(r"process \d+$", "pid None", said.group(3)))), None)
        sheet.same("GPU", "whose", True, bool(rows))
        if rows:
            work = Work(rows)
            span = length(work.span)
            sheet.rounded("GPU", "span", span, Shown(said.group(2)))
            sheet.rounded("GPU", "busy", Fraction(100 * length(work.busy), span), Shown(said.group(1)))


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
    said = re.search(r"kernel(?: \(sum of (\d+) processes\))?$", sheet.page.heading or "")
    sheet.same("kernels", "processes", users, int(said.group(1) or 1) if said else None)
    sheet.same("kernels", "lines", (min(len(groups), MOST_KERNELS), max(len(groups) - MOST_KERNELS, 0)), (len(lines), sheet.page.more))
    for line, most in zip(lines, order):
        fits = [n for n in groups if line.names(n) and sums[n] == most and len(groups[n]) == int(line.runs.replace(",", ""))]
        sheet.same("kernels", "name and runs", True, bool(fits))
        sheet.rounded("kernels", "time", most, Shown(line.time))
        sheet.rounded("kernels", "%", Fraction(100 * most, total), Shown(line.share))
        if fits:
            timed = sum(r.timed() for r in groups[fits[0]])
            sheet.rounded("kernels", "mean", Fraction(most, timed), Shown(line.mean))
