"""Files read once, and what every comparison wants of them."""
import glob
import os

import kineto
from compare import Tally
from jobs import Rank


class Job:
    """One or more Kineto files that are the ranks of a job."""

    def __init__(self, name, paths):
        self.name, self.paths = name, paths
        self.traces = [kineto.read(p) for p in paths]
        self.tally = Tally()
        self.zero = []                  # what printed absolute times count from

    def ranks(self):
        """By number; files without one are numbered from 0 as they come."""
        known = [t.processes[0].rank if t.processes else None for t in self.traces]
        numbers = known if all(k is not None for k in known) else range(len(self.traces))
        return [Rank(n, t) for n, t in sorted(zip(numbers, self.traces), key=lambda x: x[0])]

    def processes(self):
        return [p for t in self.traces for p in t.processes]


def found(data):
    """(name, paths) of every trace in a folder of shared test data: each file by itself, and each folder with several as a job."""
    for pattern in ("hta/traces/*", "hta/minimal/traces/*", "tb/traces/*"):
        for folder in sorted(glob.glob(os.path.join(data, pattern))):
            files = sorted(glob.glob(os.path.join(folder, "*.json*")))
            for path in files:
                yield os.path.join(os.path.basename(folder), os.path.basename(path)), [path]
            if len(files) > 1:
                yield os.path.basename(folder), files
