"""kill -9 of the program, and of the collector: what is kept."""

import glob
import os
import signal
import time

import command


def _wait_for(text_path, word, count, limit):
    """Until the file has so many lines that begin with the word; the words of the last one, or None."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            with open(text_path, encoding="utf-8", errors="replace") as f:
                lines = [line for line in f.read().split("\n")[:-1] if line.startswith(word + " ")]
        except OSError:
            lines = []
        if len(lines) >= count:
            return lines[-1].split()
        time.sleep(0.02)
    return None


def _children(pid):
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                stat = f.read()
        except OSError:
            continue
        name, rest = stat[stat.index("(") + 1 : stat.rindex(")")], stat[stat.rindex(")") + 2 :].split()
        if int(rest[1]) == pid:
            found.append((int(stat.split()[0]), name))
    return found


def _killed(ck, name, seconds, victim):
    """`loops until` under gprof-run; after so many seconds of launches `victim(children)` is killed with SIGKILL.  Gives the outcome and
    the last line of the program ("ran N NS") before the kill, and when that was."""
    said = os.path.join(ck.work, "said")
    open(said, "w").close()
    argv = ck.gprof_argv(name, ["/bin/sh", "-c", 'exec "$0" until >"$1"', ck.need_program("loops"), said])
    kept = {}

    def started(pid):
        first = _wait_for(said, "ran", 1, 30)
        if not first:
            return command.kill_group(pid)
        time.sleep(seconds)
        kept["line"] = _wait_for(said, "ran", 1, 1)
        kept["when"] = time.time_ns()
        kept["first"] = int(first[2])
        target = victim(_children(pid))
        if target:
            kept["victim"] = True
            os.kill(target, signal.SIGKILL)
        if not target or victim is _collector:
            time.sleep(0.5)
            kept["alive"] = any(n.startswith("loops") for _, n in _children(pid))
            command.kill_group(pid)

    outcome = ck.run(argv, 60, started=started)
    return outcome, kept


def _program(children):
    return next((pid for pid, name in children if name.startswith("loops")), None)


def _collector(children):
    return next((pid for pid, name in children if name.startswith("gprof-collector"[:15])), None)


def killed(ck):
    seconds = 2.5
    outcome, kept = _killed(ck, "killed", seconds, _program)
    if "victim" not in kept or not kept.get("line"):
        return ck.true("killed: the program ran", False, outcome.last_words())
    ran, at = int(kept["line"][1]), int(kept["line"][2])
    ck.check("program killed: gprof-run ends as it did", -signal.SIGKILL, outcome.rc)
    reports = ck.reports("killed")
    ck.check("program killed: the trace is whole", 0, ck.run([ck.bin("gprof-trace"), "check", reports.path]).rc)
    calls, kernels = reports.found("api", "cudaLaunchKernel"), reports.found("kernels")
    ck.true("program killed: every launch it had finished is there", calls >= ran, calls, f"at least {ran}")
    ck.value("program killed: kernels kept of those that had run", f"{kernels} of {ran} ({100 * kernels / ran:.1f} %)")
    rate = ran / max(at - kept["first"], 1)
    # One flush interval, and time for it; the simulated GPU may share two cores with others.
    slack = 2e9 if ck.sim else 1.2e9
    flushed = int(rate * max(at - kept["first"] - slack, 0))
    ck.true(
        "program killed: kernels up to the last flush are there", kernels >= flushed, kernels, f"at least {flushed}"
    )
    outcome, kept = _killed(ck, "orphan", 1.5, _collector)
    if "victim" not in kept:
        return ck.true("collector killed: it was found", False, outcome.last_words())
    ck.true("collector killed: the program runs on", kept.get("alive", False), "yes" if kept.get("alive") else "no")
    reports = ck.reports("orphan")
    ck.check(
        "collector killed: the trace can be recovered", 0, ck.run([ck.bin("gprof-trace"), "recover", reports.path]).rc
    )
    ck.value(
        "collector killed: rows that can still be read",
        f"{reports.found('api', 'cudaLaunchKernel')} launches, {reports.found('kernels')} kernels",
    )
