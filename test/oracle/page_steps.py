"""The page's lines `steps`, `phases` and `comm`."""
import re
from fractions import Fraction

from intervals import intersect, length, median
from more import issued
from gpu import Work, inside
from page import TIME, Shown
from steps import Steps

PARTS = ("data", "forward", "backward", "optimizer", "zero_grad", "other")


class Step:
    """number, process (its number), wall; comm, exposed, idle: None where unknown; issued: host time of calls that issue collectives."""

    def __init__(self, process, number, kind, wall):
        self.process, self.number, self.kind, self.wall = process, number, kind, wall
        self.comm = self.exposed = self.idle = self.issued = self.phases = None


class Known:
    """What reports say and the file does not: numbers of processes, which steps are complete, phases."""

    def __init__(self):
        self.steps, self.incomplete, self.numbers, self.found = [], 0, {}, False


def cell(row, column):
    return int(row[column]) if row and row[column] != "" else None


def of_reports(processes, reports):
    known, order = Known(), list(reports["processes"].rows)
    for p in processes:
        row = next(r for r in order if r["pid"] in (str(p.pid), "") and r["rank"] in (str(p.rank), ""))
        order.remove(row)
        known.numbers[row["process"]] = p
    phases = {(r["process"], r["step"], kind): r for r in reports["phases"].rows for kind in {r["kind"], ""}}
    made = {n: Steps(p, [(s.start, s.end) for s in p.steps]) for n, p in known.numbers.items() if p.steps}
    for row in reports["steps"].rows:
        if row["complete"] != "1":
            known.incomplete += 1
        elif row["warmup"] != "1":
            step = step_of(row, made.get(row["process"]))
            step.phases = phases.get((row["process"], row["step"], row["kind"]))
            known.found |= row["process"] not in made
            known.steps.append(step)
    return known


def step_of(row, made):
    step = Step(row["process"], int(row["step"]), row["kind"], cell(row, "wall_ns"))
    if made is None:
        step.comm, step.exposed, step.idle = (cell(row, c) for c in ("comm_ns", "comm_exposed_ns", "gpu_idle_ns"))
        return step
    at = [int(s.name.split("#")[1]) for s in made.process.steps].index(step.number)
    numbers, announced = made.numbers(at), issued(made.process)
    step.wall, step.comm, step.exposed, step.idle = (numbers[c] for c in ("wall_ns", "comm_ns", "comm_exposed_ns", "gpu_idle_ns"))
    step.issued = length(intersect(announced, [made.spans[at]]))
    return step


def steps_and_phases(sheet, processes, known):
    kinds = {}
    for step in known.steps:
        kinds.setdefault(step.kind, []).append(step)
    steps_line(sheet, max(kinds.values(), key=len) if kinds else [], known)
    said = sheet.page.one("phases")
    if said:
        phases_line(sheet, said, known)
    else:
        comm_line(sheet, sheet.page.one("comm"), processes, known)


def steps_line(sheet, steps, known):
    said = sheet.page.one("steps")
    if not steps:
        sheet.same("steps", "nothing", True, not said or said.startswith("none complete"))
        return
    found = re.match(r"(\d+)(?: of kind (\S+))?(?: \(and (?:\d+ not recorded)?(?:, )?(?:(\d+) incomplete)?\))?, (?:median (" + TIME + r"), slowest )?#(\d+)"
                     r"(?: of process (\d+))? at (" + TIME + r") \((found from launches that repeat; )?details: report -r steps\)$", said)
    if not found:
        sheet.wrong("steps", "text", "a line", said)
        return
    count, kind, incomplete, middle, number, process, slowest, repeat = found.groups()
    walls = [s.wall for s in steps]
    of = [s for s in steps if s.number == int(number) and process in (None, s.process)]
    sheet.same("steps", "count", (len(steps), steps[0].kind), (int(count), kind or ""))
    sheet.same("steps", "incomplete", known.incomplete, int(incomplete or 0))
    sheet.same("steps", "slowest", True, max(walls) in [s.wall for s in of])
    sheet.same("steps", "found", False, bool(repeat) and not known.found)
    sheet.rounded("steps", "slowest's time", max(walls), Shown(slowest))
    if len(walls) > 1:
        sheet.rounded("steps", "median", median(walls), middle and Shown(middle))


def of_most(steps):
    """Those of the process and kind with most; of several the first."""
    groups = {}
    for step in steps:
        groups.setdefault((step.process, step.kind), []).append(step)
    return max(groups.values(), key=len)


def median_step(steps):
    wall = median([s.wall for s in steps])
    return next(s for s in steps if s.wall == wall)


def phases_line(sheet, said, known):
    with_phases = {s.process for s in known.steps if s.phases}
    steps = of_most([s for s in known.steps if s.process in with_phases])
    step = median_step(steps)
    found = re.match(r"(?:process (\d+)(?: \(rank \d+\))?: )?(?:median of (\d+) steps(?: of kind \S+)? \(#(\d+)\)|step #(\d+)(?: of kind \S+)?), (" + TIME + r"): (.*)$", said)
    if not found:
        sheet.wrong("phases", "text", "a line", said)
        return
    process, count, number, only, wall, rest = found.groups()
    sheet.same("phases", "process", step.process if len(with_phases) > 1 else None, process)
    sheet.same("phases", "step", (len(steps), step.number), (int(count or 1), int(number or only)))
    sheet.rounded("phases", "wall", step.wall, Shown(wall))
    parts, *more = rest.split("; ")
    parts_of(sheet, parts, wall, step)
    of_gpu(sheet, more, step)


def parts_of(sheet, parts, wall, step):
    """In the unit of the whole; those above half a percent."""
    unit = wall.split()[1]
    row = step.phases
    times = {p: cell(row, p + "_ns") for p in PARTS}
    said = dict(re.findall(r"(\w+) ([\d.]+)(?:,|$| \()", parts))
    wanted = [p for p in PARTS if times[p] is not None and times[p] >= step.wall // 200]
    sheet.same("phases", "which", wanted, list(said))
    sheet.same("phases", "forward unknown", times["forward"] is None, "forward unknown" in parts)
    for name in wanted:
        shown = Shown(said[name] + " " + unit) if name in said else None
        sheet.same("phases", name, True, shown is not None and abs(shown.value - times[name]) <= shown.half)
        if shown and abs(shown.value - times[name]) > shown.half:
            sheet.tally.wrong[-1] = (sheet.name, "page", "phases", name, times[name], said[name] + " " + unit)


def percent(sheet, line, what, part, whole, shown):
    sheet.rounded(line, what, Fraction(100 * part, whole), Shown(shown))


def comm_words(sheet, line, text, comm, exposed):
    """`15.6 ms, 13.2 ms (84 %) exposed`; what is behind it."""
    found = re.match("(" + TIME + r"), (?:(" + TIME + r") \((\d+) %\) exposed|none exposed)", text)
    if not found:
        sheet.wrong(line, "communication", comm, text)
        return ""
    sheet.rounded(line, "communication", comm, Shown(found.group(1)))
    sheet.same(line, "anything exposed", bool(exposed), bool(found.group(2)))
    if found.group(2) and exposed:
        sheet.rounded(line, "exposed", exposed, Shown(found.group(2)))
        percent(sheet, line, "exposed, %", exposed, comm, found.group(3))
    return text[found.end():]


def of_gpu(sheet, texts, step):
    comm = [t[len("communication "):] for t in texts if t.startswith("communication ")]
    idle = [re.match(r"GPU idle (\d+) %, (most of it|longest) during (\w+)$", t) for t in texts if t.startswith("GPU idle")]
    sheet.same("phases", "communication is said", bool(step.comm), bool(comm) and "unknown" not in comm[0])
    if comm and step.comm:
        comm_words(sheet, "phases", comm[0], step.comm, step.exposed)
    sheet.same("phases", "GPU time is unknown", step.idle is None, "GPU time was not recorded" in texts)
    host = [re.match("collectives issued for (" + TIME + r") on the host, (" + TIME + r") \((\d+) %\) outside the backward pass", t) for t in texts]
    host = [h for h in host if h]
    sheet.same("phases", "issued is said", step.idle is None and bool(step.issued), bool(host))
    if host:
        sheet.rounded("phases", "issued", step.issued, Shown(host[0].group(1)))
        outside = cell(step.phases, "comm_host_exposed_ns")
        sheet.rounded("phases", "issued outside of backward", outside, Shown(host[0].group(2)))
        percent(sheet, "phases", "issued, %", outside, step.issued, host[0].group(3))
    sheet.same("phases", "idle is said", bool(step.idle and step.idle >= step.wall // 100), bool(idle))
    if idle and step.idle:
        idle_words(sheet, step, *idle[0].groups())


def idle_words(sheet, step, shown, how, phase):
    parts = {p: cell(step.phases, p + "_gpu_idle_ns") or 0 for p in PARTS}
    percent(sheet, "phases", "idle, %", step.idle, step.wall, shown)
    sheet.same("phases", "idle's phase", True, parts.get(phase) == max(parts.values()))
    sheet.same("phases", "most of idle", 2 * max(parts.values()) > step.idle, how == "most of it")


def comm_line(sheet, said, processes, known):
    communicate = {n: Work(p.gpu) for n, p in known.numbers.items()}
    communicate = {n: w for n, w in communicate.items() if w.comm}
    steps = [s for s in known.steps if s.process in communicate]
    if not communicate or any(w.graphs for w in communicate.values()):
        sheet.same("comm", "nothing", "", said)
        return
    process, said = re.match(r"(?:process (\d+)(?: \(rank \d+\))?: )?(.*)$", said).groups()
    if steps:
        of = of_most(steps)
        step = median_step(of)
        if not step.comm:
            sheet.same("comm", "nothing", "", said)
            return
        number, comm, exposed, whole = step.process, step.comm, step.exposed, step.wall
        rest = comm_words(sheet, "comm", said, comm, exposed)
        tail = re.match(r"; communication is (\d+) % of step #(\d+)(?:, the median of (\d+))?$", rest)
        sheet.same("comm", "step", (step.number, len(of)), (int(tail.group(2)), int(tail.group(3) or 1)) if tail else rest)
    else:
        cuts = {n: inside(w, w.span) for n, w in communicate.items()}
        number = max(cuts, key=lambda n: cuts[n]["comm_ns"])
        comm, exposed, whole = cuts[number]["comm_ns"], cuts[number]["comm_exposed_ns"], cuts[number]["span_ns"]
        rest = comm_words(sheet, "comm", said, comm, exposed)
        tail = re.match(r"; communication is (\d+) % of the GPU's span of (" + TIME + ")$", rest)
        sheet.rounded("comm", "span", whole, tail and Shown(tail.group(2)))
    sheet.same("comm", "process", number if len(communicate) > 1 else None, process)
    if tail:
        percent(sheet, "comm", "%", comm, whole, tail.group(1))
