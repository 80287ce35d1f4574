"""Runs commands so that none outlives its time, and says what they took."""

import os
import re
import signal
import subprocess
import threading
import time


class Outcome:
    """What a command left: status, output, wall time in s, peak memory in kB.  It was killed at its limit when `late`."""

    def __init__(self, rc, out, err, wall, peak_kb, late):
        self.rc, self.out, self.err, self.wall, self.peak_kb, self.late = rc, out, err, wall, peak_kb, late

    def figures(self):
        """The "figure NAME VALUE" lines of our programs."""
        return dict((name, float(value)) for name, value in self.lines("figure"))

    def lines(self, word):
        """The words behind `word` of each line that begins with it."""
        return [line.split()[1:] for line in self.out.splitlines() if line.startswith(word + " ")]

    def last_words(self):
        err = re.split(r"^gprof-run: the trace", self.err, flags=re.MULTILINE)[0]  # what comes then is our page
        said = [line.strip() for line in (self.out + err).splitlines() if line.strip()]
        return ("did not end in time; " if self.late else "") + (said[-1][:200] if said else "no output")


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(argv, limit, env=None, scratch="/tmp", started=None):
    """The command in a session of its own; at the limit all of that is killed.  Its output goes through files: a child that it leaves
    behind may hold a pipe open for ever.  `started` is called with its pid."""
    paths = [os.path.join(scratch, f"{kind}.{os.getpid()}") for kind in ("out", "err")]
    with open(paths[0], "wb") as out, open(paths[1], "wb") as err:
        begin = time.monotonic()
        try:
            child = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, start_new_session=True
            )
        except OSError as e:
            return Outcome(127, "", str(e), 0.0, 0, False)
        late = threading.Event()

        def too_late():
            late.set()
            kill_group(child.pid)

        watchdog = threading.Timer(max(limit, 0.1), too_late)
        watchdog.daemon = True
        watchdog.start()
        try:
            if started:
                started(child.pid)
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            kill_group(child.pid)
            raise
        finally:
            watchdog.cancel()
            wall = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    texts = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as f:
            texts.append(f.read(64 << 20))
        os.unlink(path)
    return Outcome(child.returncode, texts[0], texts[1], wall, usage.ru_maxrss, late.is_set())
