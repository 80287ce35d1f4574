"""Reads the page (`gprof-trace report TRACE`) back into its figures."""
import re
from fractions import Fraction

UNITS = {"s": 10 ** 9, "ms": 10 ** 6, "us": 1000, "ns": 1}
LABEL = 12
TIME = r"[\d.]+ (?:s|ms|us|ns)"
ROW = re.compile(r" +(" + TIME + r"|-) +([\d.]+|-) +([\d,]+) +(" + TIME + r"|-)  (.*)$")
HEADING = re.compile(r" +(time|self|samples) +(self )?% +")
MOST_LINES, MOST_COLUMNS = 25, 80


class Shown:
    """A figure as it is printed: what it says, and the most that rounding took or added."""

    def __init__(self, text):
        digits, _, unit = text.replace(",", "").partition(" ")
        self.text, self.unit = text, UNITS.get(unit, 1)
        self.value = Fraction(digits) * self.unit
        self.half = Fraction(self.unit, 2 * 10 ** len(digits.partition(".")[2]))
        self.digits = len(digits.replace(".", ""))

    def __repr__(self):
        return self.text

    def is_of(self, exact):
        """Rounding is to the nearest; a time above 1 us has three digits or more."""
        return abs(self.value - exact) <= self.half and (self.unit == 1 or self.digits >= 3)


class Line:
    """A row of the table."""

    def __init__(self, text):
        found = ROW.match(text)
        self.time, self.share, self.runs, self.mean, self.name = found.groups() if found else ("", "", "", "", text)

    def names(self, name):
        """Whether it is the line of that name, whose middle may be left out."""
        front, left_out, back = self.name.partition("\u2026")
        return name.startswith(front) and name.endswith(back) if left_out else name == self.name


class Page:
    def __init__(self, text):
        self.parts, self.table, self.heading, self.more = {}, [], None, 0
        self.lines = text.splitlines()
        label = None
        for line in text.splitlines():
            if HEADING.match(line):
                self.heading, label = line.strip(), "table"
            elif label == "table" and line.strip():
                left = re.fullmatch(r" {10,}and (\d+) more \w+", line)
                if left:
                    self.more = int(left.group(1))
                else:
                    self.table.append(Line(line))
            elif not line.strip():
                label = None
            elif re.match(r"  \S", line):
                label = line[2:LABEL].strip()
                self.parts.setdefault(label, []).append(line[LABEL:])
            elif label and line.startswith(" " * LABEL):
                self.parts[label][-1] += " " + line[LABEL:]

    def one(self, label):
        return " ".join(self.parts.get(label, []))

    def gpus(self):
        """(device, text) of each line."""
        return [(int(label[4:]), text) for label, texts in self.parts.items() if re.fullmatch(r"GPU \d+", label) for text in texts]

    def left_out(self, label):
        """It may be, where the page has as many lines as it may have: a block has three at most."""
        return label not in self.parts and len(self.lines) > MOST_LINES - 3

    def next(self):
        """(why, report) of the first that is named."""
        found = re.match(r"(.*?:) gprof-trace report -r (\S+) ", self.one("next") + " ")
        return found.groups() if found else ("", "")

    def counts(self):
        """{word: number} of the line `holds`; kernel is kernels."""
        said = re.sub(r"\([^)]*\)", "", self.one("holds"))
        found = re.findall(r"([\d,]+) ([A-Za-z][^,0-9]*?)(?:,|$)", said.replace(" ,", ","))
        return {plural(word.strip()): int(number.replace(",", "")) for number, word in found}


def plural(word):
    special = {"process": "processes", "copy": "copies", "graph launch": "graph launches"}
    return special.get(word, word if word.endswith("s") else word + "s") if word not in special.values() else word
