"""Holds a table that was printed against the rows that it must have."""
from values import holds


class Tally:
    """What was compared, and what was not equal."""

    def __init__(self):
        self.values = 0
        self.columns = {}               # (report, column) -> how many values
        self.wrong = []                 # (trace, report, column, row, wanted, printed)

    def add(self, other):
        self.values += other.values
        self.wrong += other.wrong
        for key, n in other.columns.items():
            self.columns[key] = self.columns.get(key, 0) + n


class Start:
    """An absolute time: the same distance from what is printed for all rows of a trace."""

    def __init__(self, time):
        self.time = time


def key_of(row, key, printed):
    return tuple(row[k] if printed else text(row[k]) for k in key)


def text(value):
    return "" if value is None else str(value)


def cell_holds(want, cell, zero):
    """zero: a list, empty until the first absolute time was seen; then what all of them are counted from."""
    if not isinstance(want, Start):
        return holds(want, cell)
    try:
        value = int(cell)
    except ValueError:
        return False
    if not zero:
        zero.append(want.time - value)
    return want.time - zero[0] == value


def row_wrong(want, got, columns, zero):
    return [c for c in columns if c in want and not cell_holds(want[c], got[c], zero)]


def table(tally, trace, report, wanted, printed, key, zero):
    """wanted: dicts with some or all columns; printed: a Table.  Rows are those of a key; several of one key in any order."""
    want, got = {}, {}
    for row in wanted:
        want.setdefault(key_of(row, key, False), []).append(row)
    for row in printed.rows:
        got.setdefault(key_of(row, key, True), []).append(row)
    for name in list(want) + [k for k in got if k not in want]:
        a, b = want.get(name, []), list(got.get(name, []))
        if len(a) != len(b):
            tally.wrong.append((trace, report, "rows", name, len(a), len(b)))
            continue
        for row in a:
            match(tally, trace, report, name, row, b, printed.columns, zero)


def match(tally, trace, report, name, row, rest, columns, zero):
    """Takes the printed row that fits best out of rest."""
    best = None
    for i, candidate in enumerate(rest):
        wrong = row_wrong(row, candidate, columns, zero)
        if best is None or len(wrong) < len(best[1]):
            best = i, wrong
        if not wrong:
            break
    i, wrong = best
    candidate = rest.pop(i)
    for column in columns:
        if column in row:
            tally.values += 1
            tally.columns[report, column] = tally.columns.get((report, column), 0) + 1
    for column in wrong:
        want = row[column]
        tally.wrong.append((trace, report, column, name, want.time - zero[0] if isinstance(want, Start) else want, candidate[column]))
