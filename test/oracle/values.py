"""What a cell must hold.  An int or a Fraction: exactly that.  near(v): v, rounded to the decimals that are printed.  None: nothing.
A str: that text."""
from fractions import Fraction


class Near:
    def __init__(self, value, within=None):
        self.value, self.within = value, within

    def __repr__(self):
        return "about %s" % float(self.value)


def near(value, within=None):
    return None if value is None else Near(Fraction(value), within)


class OneOf:
    """A text that is any of several: where rows of equal weight stand in any order."""

    def __init__(self, choices):
        self.choices = set(choices)

    def __repr__(self):
        return "one of %s" % sorted(self.choices)[:4]


def share(part, whole):
    return near(Fraction(100 * part, whole)) if whole else None


def as_printed(cell):
    """The number in a cell, exactly, and how many decimals it has."""
    return Fraction(cell), len(cell.partition(".")[2])


def holds(want, cell):
    if want is None:
        return cell == ""
    if isinstance(want, str):
        return cell == want
    if isinstance(want, OneOf):
        return cell in want.choices
    try:
        got, decimals = as_printed(cell)
    except ValueError:
        return False
    if not isinstance(want, Near):
        return got == want
    if want.within is not None:
        return abs(got - want.value) <= want.within
    half = Fraction(1, 2 * 10 ** decimals)
    return abs(got - want.value) <= half + abs(want.value) * Fraction(1, 10 ** 12)
