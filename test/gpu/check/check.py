"""One run of the check: where things are, what is being done, how much time is left, and what was found."""

import os
import re
import socket
import sys
import time

import command
import result
import trace
from stats import median

OTHERS = ("nsys", "torch.profiler")


class OutOfTime(Exception):
    """The step, or all of it, has used its time."""


class Skip(Exception):
    """This cannot be answered here; says why."""


class Check:
    def __init__(self, top, build, work, sim, quick, budget, on_change):
        self.top, self.build, self.work, self.sim, self.quick, self.budget = top, build, work, sim, quick, budget
        self.begin = time.monotonic()
        self.step, self.step_end = None, self.begin + budget
        self.out, self.torch = work, None
        self.on_change = on_change
        self.cupti_options = []  # for gprof-run, where it does not find a libcupti by itself
        self.libcupti = None  # for our own clients
        self.env = dict(os.environ, LC_ALL="C", PYTHONDONTWRITEBYTECODE="1")
        for name in (
            "LD_PRELOAD",
            "CUDA_INJECTION64_PATH",
            "NVTX_INJECTION64_PATH",
            "GPROF_SESSION",
            "RANK",
            "WORLD_SIZE",
        ):
            self.env.pop(name, None)
        cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        self.env["PATH"] = os.pathsep.join(
            [os.path.join(build, "bin"), self.env.get("PATH", "/usr/bin:/bin"), os.path.join(cuda, "bin")]
        )
        if sim:
            self.env["LD_LIBRARY_PATH"] = os.path.join(build, "sim")
            self.libcupti = os.path.join(build, "sim", "libcupti.so.13")
        self.log_path = os.path.join(work, "log.txt")

    # ---- time ----
    def elapsed(self):
        return time.monotonic() - self.begin

    def left(self):
        return self.step_end - time.monotonic()

    def need(self, seconds):
        if self.left() < seconds:
            raise OutOfTime()

    # ---- what was found ----
    def clean(self, text):
        """Nothing of this machine's names and places gets into a result."""
        text = str(text)
        for path, name in (
            (self.work, "WORK"),
            (self.build, "BUILD"),
            (self.top, "TOP"),
            (os.path.expanduser("~"), "HOME"),
        ):
            if len(path) > 1:
                text = text.replace(path, name)
        host = socket.gethostname()
        if len(host) > 2:
            text = re.sub(r"\b" + re.escape(host) + r"\b", "HOST", text)
        return re.sub(r"(?<![\w.])/(?:[\w.+@-]+/)+(?=[\w.+@-])", ".../", text)

    def _note(self, what, verdict, expected, got):
        self.step["checks"].append(
            {"what": self.clean(what), "verdict": verdict, "expected": self.clean(expected), "got": self.clean(got)}
        )
        self.on_change()
        return verdict == "PASS"

    def check(self, what, expected, got):
        return self._note(what, "PASS" if expected == got else "FAIL", expected, "nothing" if got is None else got)

    def true(self, what, holds, got, expected="yes"):
        return self._note(what, "PASS" if holds else "FAIL", expected, got)

    def value(self, what, got):
        return self._note(what, "VALUE", "", got)

    def skip(self, what, why):
        return self._note(what, "SKIP", "", why)

    def figure(self, what, how, unit, values, base=None):
        if values:
            self.step["figures"].append(result.make_figure(what, how, unit, values, base))
            self.on_change()

    # ---- commands ----
    def log(self, title, outcome):
        with open(self.log_path, "a", encoding="utf-8") as f:
            f.write(self.clean(f"== {self.elapsed():.1f} s: {title}: status {outcome.rc}, {outcome.wall:.2f} s\n"))
            for text in (outcome.out, outcome.err):
                if text:
                    f.write(self.clean(text[-3000:]).rstrip() + "\n")

    def run(self, argv, limit=60, env=None, started=None, quiet=False):
        self.need(0.5)
        outcome = command.run(
            [str(a) for a in argv], min(limit, self.left()), dict(self.env, **(env or {})), self.work, started
        )
        if not quiet or outcome.rc:
            self.log(" ".join(str(a) for a in argv), outcome)
        if outcome.late and self.left() <= 0:
            raise OutOfTime()
        return outcome

    def bin(self, name):
        return os.path.join(self.build, "bin", name)

    def program(self, name, runtime="shared"):
        """A test program, or None where it is not built."""
        places = [os.path.join(self.build, "gpu", f"{name}-{runtime}")]
        if runtime == "shared":
            places.append(os.path.join(self.build, "test", "programs", name))
        return next((p for p in places if os.access(p, os.X_OK)), None)

    def need_program(self, name, runtime="shared"):
        path = self.program(name, runtime)
        if not path:
            raise Skip(f"{name} is not built")
        return path

    def object(self, name):
        path = os.path.join(self.build, "gpu", name)
        if not os.path.exists(path):
            raise Skip(f"{name} is not built")
        return path

    def ask(self, arguments):
        outcome = self.run([self.bin("gprof-trace")] + arguments, 60, quiet=True)
        return outcome.out

    def gprof_argv(self, name, argv, options=()):
        return (
            [self.bin("gprof-run"), "-f", "-o", os.path.join(self.work, name)]
            + self.cupti_options
            + list(options)
            + ["--"]
            + list(argv)
        )

    def reports(self, name):
        return trace.Reports(self.ask, os.path.join(self.work, name + ".gtrace"))

    def gprof(self, name, argv, options=(), limit=60, env=None):
        """The command under gprof-run: how it went, and its trace.  An older trace of that name is gone."""
        path = os.path.join(self.work, name + ".gtrace")
        if os.path.exists(path):
            os.unlink(path)
        return self.run(self.gprof_argv(name, argv, options), limit, env), self.reports(name)

    # ---- comparing ----
    def counts(self, name, said, reports):
        """Each thing that the program says of itself against the trace."""
        expected = trace.expectations(said)
        for kind, what, n in expected:
            got = reports.found(kind, what)
            if got is None:
                self.skip(f"{name}: {kind}", "no question for that")
            else:
                self.check(f"{name}: {kind}{' ' + what if what else ''}", n, got)
        return len(expected)

    def counted(self, name, argv, options=(), env=None, limit=60):
        """Runs it under gprof-run and compares everything; the trace must be whole."""
        outcome, reports = self.gprof(name, argv, options, limit, env)
        if outcome.rc == 2 and not trace.expectations(outcome.out):
            self.skip(f"{name}", "wants arguments")
            return None
        self.true(
            f"{name}: ends as without us",
            outcome.rc == 0,
            f"status {outcome.rc}: {outcome.last_words()}" if outcome.rc else "status 0",
            "status 0",
        )
        if not self.counts(name, outcome.out, reports):
            self.value(f"{name}: says of itself", "nothing to compare")
        whole = self.run([self.bin("gprof-trace"), "check", reports.path], quiet=True)
        self.true(f"{name}: the trace is whole", whole.rc == 0, "yes" if whole.rc == 0 else whole.last_words())
        return reports

    # ---- costs ----
    def cost(self, what, unit, ways, rounds, figure, limit=60):
        """`ways`: (how, argv, environment), the first one bare.  Runs them in turn, round after round while there is time, so that what
        drifts hits all; the program measures itself.  Gives the medians by how."""
        values, failed, longest = {how: [] for how, _, _ in ways}, {}, 0.0
        try:
            for done in range(rounds):
                before = time.monotonic()
                if done and self.left() < longest * 1.2:
                    break
                self._round(ways, values, failed, figure, limit)
                longest = max(longest, time.monotonic() - before)
        finally:  # also when the time is up: what was measured stays
            base = median(values[ways[0][0]])
            for how, _, _ in ways:
                self.figure(what, how, unit, values[how], base)
            for how, why in failed.items():
                if how.startswith(OTHERS):  # that another tool does not work here is no fault of ours
                    self.skip(f"{what}, {how}", why)
                else:
                    self.true(f"{what}, {how}: gives a figure", False, why)
        return {how: median(v) for how, v in values.items() if v}

    def _round(self, ways, values, failed, figure, limit):
        for how, argv, env in ways:
            if how in failed:
                continue
            outcome = self.run(argv, limit, env, quiet=True)
            value = outcome.figures().get(figure)
            if value is None:
                failed[how] = outcome.last_words()
            else:
                values[how].append(value)


PYTHON = sys.executable
