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
    most = max(kinds.values(), key=len) if kinds else []
    steps_line(sheet, most, known)
    said = sheet.page.one("phases")
    if said:
        phases_line(sheet, said, most, known)
    elif not sheet.page.left_out("phases") and not sheet.page.left_out("comm"):
        comm_line(sheet, sheet.page.one("comm"), processes, known)


STEPS = re.compile(r"(\d+)(?: of kind (\S+))?(?: \(and (?:\d+ not recorded)?(?:, )?(?:(\d+) incomplete)?\))?, (?:median (" + TIME + r"), slowest )?#(\d+)"
                   r"(?: of (rank|process) (\d+))? at (" + TIME + r")(?:: ([\w ]+) \+(" + TIME + r"))?"
                   r"(?: \((found from launches that repeat)?(?:; )?(?:details: report -r steps)?\))?$")


def is_of(known, step, word, number):
    """`rank 2`, `process 3`"""
    process = known.numbers[step.process]
    return word is None or str(process.rank if word == "rank" else step.process) == number


def steps_line(sheet, steps, known):
    said = sheet.page.one("steps")
    if not steps:
        sheet.same("steps", "nothing", True, not said or said.startswith("none complete"))
        return
    if sheet.page.left_out("steps"):
        return
    found = STEPS.match(said)
    if not found:
        sheet.wrong("steps", "text", "a line", said)
        return
    count, kind, incomplete, middle, number, word, whose, slowest, what, excess, repeat = found.groups()
    walls = [s.wall for s in steps]
    of = [s for s in steps if s.number == int(number) and is_of(known, s, word, whose)]
    sheet.same("steps", "count", (len(steps), steps[0].kind), (int(count), kind or ""))
    sheet.same("steps", "incomplete", known.incomplete, int(incomplete or 0))
    sheet.same("steps", "slowest", True, max(walls) in [s.wall for s in of])
    sheet.same("steps", "found", False, bool(repeat) and not known.found)
    sheet.rounded("steps", "slowest's time", max(walls), Shown(slowest))
    if len(walls) > 1:
        sheet.rounded("steps", "median", median(walls), middle and Shown(middle))
        slow_by(sheet, next(s for s in steps if s.wall == max(walls)), median_step(steps), what, excess)


def slow_by(sheet, slow, usual, what, excess):
    """The phase that the slowest step was longer in, by most; where phases are not known, busy or idle time of the GPU."""
    parts = {}
    if slow.phases and usual.phases:
        times = {p: (cell(slow.phases, p + "_ns"), cell(usual.phases, p + "_ns")) for p in PARTS}
        parts = {p: a - b for p, (a, b) in times.items() if a is not None and b is not None}
    if max(parts.values(), default=0) <= 0:
        parts = {}
    if not parts and slow.idle is not None and usual.idle is not None:
        parts = {"GPU idle": slow.idle - usual.idle, "GPU busy": slow.wall - slow.idle - usual.wall + usual.idle}
    most = max(parts.values(), default=0)
    said = most > 0 and slow.wall - usual.wall >= usual.wall // 10
    sheet.same("steps", "excess is said", said, excess is not None)
    if said and excess is not None:
        sheet.same("steps", "where", most, parts.get(what))
        sheet.rounded("steps", "excess", most, Shown(excess))


def of_most(steps):
    """Those of the process and kind with most; of several the first."""
    groups = {}
    for step in steps:
        groups.setdefault((step.process, step.kind), []).append(step)
    return max(groups.values(), key=len)


def median_step(steps):
    wall = median([s.wall for s in steps])
    return next(s for s in steps if s.wall == wall)


def phases_line(sheet, said, most, known):
    """The median step of all; where its process has no phases, that of the process with most steps of those that have."""
    with_phases = {s.process for s in known.steps if s.phases}
    steps = most if median_step(most).process in with_phases else of_most([s for s in known.steps if s.process in with_phases])
    step = median_step(steps)
    found = re.match(r"(median )?step #(\d+)(?: of kind \S+)?(?: of (rank|process) (\d+))?, (" + TIME + r"): (.*)$", said)
    if not found:
        sheet.wrong("phases", "text", "a line", said)
        return
    middle, number, word, whose, wall, parts = found.groups()
    sheet.same("phases", "whose", True, is_of(known, step, word, whose))
    sheet.same("phases", "step", (len(steps) > 1, step.number), (bool(middle), int(number)))
    sheet.rounded("phases", "wall", step.wall, Shown(wall))
    parts_of(sheet, parts, wall, step)
    of_gpu(sheet, step)


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


COMM = re.compile("(" + TIME + r") \((\d+) % of (.*?)\); (?:exposed \(no compute runs\): (" + TIME + r"), (\d+) % of comm|none exposed)$")


def comm_words(sheet, line, text, comm, exposed, whole):
    """`15.6 ms (7 % of step #3); exposed (no compute runs): 13.2 ms, 84 % of comm`; what it is a share of, in words."""
    found = COMM.match(text)
    if not found:
        sheet.wrong(line, "communication", comm, text)
        return ""
    sheet.rounded(line, "communication", comm, Shown(found.group(1)))
    percent(sheet, line, "communication, %", comm, whole, found.group(2))
    sheet.same(line, "anything exposed", bool(exposed), bool(found.group(4)))
    if found.group(4) and exposed:
        sheet.rounded(line, "exposed", exposed, Shown(found.group(4)))
        percent(sheet, line, "exposed, %", exposed, comm, found.group(5))
    return found.group(3)


def of_gpu(sheet, step):
    comm, idle = sheet.page.one("comm"), sheet.page.one("GPU idle")
    host = re.match("collectives issued for (" + TIME + r") on the host, (" + TIME + r") \((\d+) %\) outside the backward pass", comm)
    if not sheet.page.left_out("comm"):
        sheet.same("phases", "communication is said", bool(step.comm), bool(comm) and not host and "unknown" not in comm)
        sheet.same("phases", "issued is said", step.idle is None and bool(step.issued), bool(host))
    if comm and step.comm:
        comm_words(sheet, "phases", comm, step.comm, step.exposed, step.wall)
    if host:
        sheet.rounded("phases", "issued", step.issued, Shown(host.group(1)))
        outside = cell(step.phases, "comm_host_exposed_ns")
        sheet.rounded("phases", "issued outside of backward", outside, Shown(host.group(2)))
        percent(sheet, "phases", "issued, %", outside, step.issued, host.group(3))
    found = re.match(r"(\d+) % of (?:the median step|step #.*), (most of it|longest) during (\w+)$", idle)
    if not sheet.page.left_out("GPU idle"):
        sheet.same("phases", "idle is said", bool(step.idle and step.idle >= step.wall // 100), bool(found))
    if found and step.idle:
        idle_words(sheet, step, *found.groups())


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
    if steps:
        of_step(sheet, said, of_most(steps), known)
        return
    cuts = {n: inside(w, w.span) for n, w in communicate.items()}
    number = max(cuts, key=lambda n: cuts[n]["comm_ns"])
    cut = cuts[number]
    of = comm_words(sheet, "comm", said, cut["comm_ns"], cut["comm_exposed_ns"], cut["span_ns"])
    found = re.match(r"the GPU's span of (" + TIME + r")(?: of (rank|process) (\d+))?$", of)
    sheet.rounded("comm", "span", cut["span_ns"], found and Shown(found.group(1)))
    if found:
        process = known.numbers[number]
        sheet.same("comm", "process", len(communicate) > 1, bool(found.group(2)))
        sheet.same("comm", "whose", True, not found.group(2) or str(process.rank if found.group(2) == "rank" else number) == found.group(3))


def of_step(sheet, said, steps, known):
    step = median_step(steps)
    if not step.comm:
        sheet.same("comm", "nothing", "", said)
        return
    of = comm_words(sheet, "comm", said, step.comm, step.exposed, step.wall)
    found = re.match(r"(median )?step #(\d+)(?: of kind \S+)?(?: of (rank|process) (\d+))?$", of)
    sheet.same("comm", "step", (len(steps) > 1, step.number), (bool(found.group(1)), int(found.group(2))) if found else of)
    if found:
        sheet.same("comm", "whose", True, is_of(known, step, found.group(3), found.group(4)))
