"""The page's line `ranks`: the verdict of docs/reference/numbers.md, "The late rank"."""
import re

import ranks as of_ranks
from page import TIME, Shown

LATE = re.compile(r"rank (\d+) arrives last: it waits (" + TIME + r") in collectives( per step)?, the other ranks? (?:(" + TIME + r") to )?(" + TIME + r") \((.*?); "
                  r"difference at least (" + TIME + r"), noise between (steps|collectives) (" + TIME + r")\)$")


def ranks(sheet, job):
    """The line is there where one rank is late, and only there."""
    said = sheet.page.one("ranks")
    verdict = None
    if len(job.traces) > 1:
        verdict = of_ranks.judged([of_ranks.read_kineto(path, trace) for path, trace in zip(job.paths, job.traces)])[1]
    late = verdict if verdict and verdict[0] == "late" else None
    sheet.same("ranks", "a rank is named", bool(late), bool(said))
    found = LATE.match(said)
    if late and not found:
        sheet.wrong("ranks", "text", late, said)
    elif late:
        figures(sheet, late, *found.groups())


def figures(sheet, late, rank, wait, per_step, least, most, of, margin, between, noise):
    _, number, waits, others_least, others_most, exact_margin, exact_noise, exact_between, steps = late
    sheet.same("ranks", "which", (number, exact_between, bool(steps)), (int(rank), between, bool(per_step)))
    sheet.same("ranks", "steps", "one step" if steps == 1 else steps, of if of == "one step" else int(re.search(r"\d+", of).group()))
    for what, exact, shown in (("its wait", waits, wait), ("least wait of others", others_least, least or most), ("most", others_most, most),
                               ("difference", exact_margin, margin), ("noise", exact_noise, noise)):
        sheet.rounded("ranks", what, exact, Shown(shown))
