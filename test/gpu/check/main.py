"""scripts/gpu-check.sh: what it does after building.  Each step is cut off at its limit, and whatever a step does, the next one runs."""

import argparse
import collections
import datetime
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback

import machine
import result
import stats
import steps_cost
import steps_counts
import steps_facts
import steps_killed
import steps_points
import steps_replay
import steps_torch
from check import Check, OutOfTime, Skip

Step = collections.namedtuple("Step", "name title seconds limit run")

# In the order of importance: what no longer fits into the budget is left out from the end.  seconds: what it takes on hardware, about.
STEPS = (
    Step("first", "a program under gprof-run, and which CUPTI that finds", 5, 60, steps_counts.first_light),
    Step(
        "counts",
        "kernels, copies, sets, graph nodes, calls and ranges against the programs' own counts",
        60,
        170,
        steps_counts.counts,
    ),
    Step("facts", "what NVIDIA's documents leave open", 12, 60, steps_facts.facts),
    *(Step("point-" + letter, title, seconds, limit, run) for letter, title, seconds, limit, run in steps_points.POINTS),
    Step("torch-counts", "counts against torch.profiler's", 30, 150, steps_torch.counts),
    Step("torch-both", "torch.profiler inside the program, and us", 45, 200, steps_torch.both),
    Step("killed", "kill -9 of the program, and of the collector", 12, 60, steps_killed.killed),
    Step("replay", "raw buffers of CUPTI, with the rows that we made of them", 15, 60, steps_replay.replay),
    Step("cost-launch", "slowdown of a launch-bound loop", 70, 90, steps_cost.launch),
    Step("cost-graph", "slowdown of graph replay", 60, 70, steps_cost.graph),
    Step("cost-torch", "slowdown of a small training step", 90, 130, steps_cost.torch),
    Step("startup", "latency and memory of start-up, first kernel and exit", 30, 45, steps_cost.startup),
    Step("libraries", "NVTX of cuBLAS and cuDNN", 35, 90, steps_torch.libraries),
    Step("kinds", "cost of each activity kind alone", 60, 90, steps_cost.kinds),
    Step("options", "cost of our options", 35, 50, steps_cost.options),
    Step("cost-compute", "slowdown of a compute-bound loop", 30, 50, steps_cost.compute),
    Step("torch-start", "PyTorch's start with us", 35, 60, steps_torch.start),
)
BY_NAME = {step.name: step for step in STEPS}


def arguments():
    p = argparse.ArgumentParser(
        prog="gpu-check.sh", description="Holds gprof-run against a real GPU; docs/howto/check-a-gpu.md."
    )
    p.add_argument("steps", nargs="*", metavar="STEP", help="only these; --list names them")
    p.add_argument("--list", action="store_true", help="the steps, what they do, seconds")
    p.add_argument("--quick", action="store_true", help="fewer programs, single runs")
    p.add_argument("--sim", action="store_true", help="on the simulated GPU: checks this script")
    p.add_argument("--out", metavar="DIR", help="where the result goes")
    p.add_argument("--budget", type=float, default=540, metavar="SECONDS", help="for all of it (540)")
    p.add_argument("--step-limit", type=float, metavar="SECONDS", help="no step gets more")
    p.add_argument("--compare", metavar="OLD.json", help="afterwards, what changed since")
    p.add_argument(
        "--threshold",
        type=float,
        default=1.10,
        metavar="RATIO",
        help="by how much a figure must differ for --compare (1.10)",
    )
    p.add_argument("--join", nargs="+", metavar="RESULT.json", help="one result of several runs; checks nothing")
    p.add_argument("--diff", nargs=2, metavar=("OLD.json", "NEW.json"), help="what changed; checks nothing")
    args = p.parse_args()
    for name in args.steps:
        if name not in BY_NAME:
            p.error(f"no step '{name}'; --list names them")
    return args


def load(path):
    try:
        with open(path, encoding="utf-8") as f:
            loaded = json.load(f)
    except (OSError, json.JSONDecodeError) as e:
        sys.exit(f"gpu-check: cannot read '{path}': {e}")
    wrong = result.faults(loaded)
    if wrong:
        sys.exit(f"gpu-check: '{path}' is no result of this script: {wrong[0]}")
    return loaded


def file_name(res):
    return f"{res['date'][:10]}-{re.sub('[^A-Za-z0-9]+', '-', res['label'].replace('NVIDIA ', ''))}.md"


def say(text):
    print(text, file=sys.stderr, flush=True)


def new_step(step):
    return {
        "name": step.name,
        "title": step.title,
        "status": "not run",
        "why": "not reached",
        "seconds": 0.0,
        "checks": [],
        "figures": [],
    }


def run_step(step, entry, check, limit):
    """Sets the entry's status; raises only what ends all of it."""
    check.step, begin = entry, time.monotonic()
    check.step_end = min(begin + limit, check.begin + check.budget)
    try:
        step.run(check)
        entry["status"] = "failed" if any(c["verdict"] == "FAIL" for c in entry["checks"]) else "passed"
    except Skip as e:
        entry["status"], entry["why"] = "skipped", check.clean(e)
    except OutOfTime:
        entry["status"], entry["why"] = "cut off", f"after {time.monotonic() - begin:.0f} s"
    except Exception as e:  # a step must not take the others with it
        entry["status"], entry["why"] = "broken", check.clean(f"{type(e).__name__}: {e}")
        with open(check.log_path, "a", encoding="utf-8") as f:
            f.write(check.clean(traceback.format_exc()))
    entry["seconds"] = round(time.monotonic() - begin, 1)


def run_all(args, top, build, work, out):
    res = {
        "schema": result.SCHEMA,
        "label": machine.label(args.sim),
        "simulated": args.sim,
        "quick": args.quick,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "finished": False,
        "seconds": 0.0,
        "budget": args.budget,
        "machine": {},
        "totals": {},
        "steps": [],
    }
    wanted = [step for step in STEPS if not args.steps or step.name in args.steps]
    if args.steps and wanted[0].name != "first":
        wanted.insert(0, BY_NAME["first"])  # which CUPTI the others use
    res["steps"] = [new_step(step) for step in wanted]
    saved = [0.0]

    def save(now=False):
        if now or time.monotonic() - saved[0] > 1:  # at any moment there is a file at most a second old
            res["seconds"], res["totals"] = round(check.elapsed(), 1), result.totals(res["steps"])
            result.save(res, out, file_name(res))
            shutil.copyfile(check.log_path, os.path.join(out, "log.txt")) if os.path.exists(check.log_path) else None
            saved[0] = time.monotonic()

    check = Check(top, build, work, args.sim, args.quick, args.budget, save)
    check.out = out
    check.torch = None if args.sim else machine.torch_facts()
    res["machine"] = {
        key: check.clean(value) for key, value in machine.describe(top, build, args.sim, check.torch).items()
    }
    save(True)
    for step, entry in zip(wanted, res["steps"]):
        left = args.budget - check.elapsed()
        if not args.quick and left < step.seconds / 2:
            entry["why"] = f"takes about {step.seconds} s, {max(left, 0):.0f} s were left"
            continue
        say(f"== {step.name}: {step.title} ({check.elapsed():.0f} s)")
        entry["status"], entry["why"] = "running", ""
        save(True)
        run_step(step, entry, check, min(step.limit, args.step_limit or step.limit))
        save(True)
        for c in entry["checks"]:
            if c["verdict"] == "FAIL":
                say(f"   FAIL {c['what']}: expected {c['expected']}, got {c['got']}")
        say(f"   {entry['status']}{': ' + entry['why'] if entry['why'] else ''}, {entry['seconds']:.0f} s")
    res["finished"] = True
    save(True)
    return res


def tell(res, out, shown):
    t = res["totals"]
    left = [s["name"] for s in res["steps"] if s["status"] == "not run"]
    if left:
        say(f"gpu-check: not run for lack of time: {' '.join(left)}; run those alone, and --join the results")
    say(f"gpu-check: wrote {os.path.join(shown, file_name(res))} and {os.path.join(shown, 'latest.json')}")
    print(
        f"{t['passed']} passed, {t['failed']} failed, {t['values']} values, {t['skipped']} skipped in {res['seconds']:.0f} s"
    )


def tell_changes(old, new, threshold):
    changes = stats.compare(old, new, threshold)
    for line in changes or ["nothing changed"]:
        print(line)


def main():
    args = arguments()
    if args.list:
        for step in STEPS:
            print(f"{step.name:14} {step.seconds:4} s  {step.title}")
        return 0
    if args.diff:
        tell_changes(load(args.diff[0]), load(args.diff[1]), args.threshold)
        return 0
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    out = (
        os.path.abspath(args.out)
        if args.out
        else tempfile.mkdtemp(prefix="gpu-check.") if args.sim else os.path.join(top, "test", "gpu", "results")
    )
    if args.join:
        try:
            res = result.join([load(path) for path in args.join])
        except ValueError as e:
            sys.exit(f"gpu-check: cannot join: {e}")
        result.save(res, out, file_name(res))
        tell(res, out, args.out or "test/gpu/results")
        return 0
    if not args.sim and not machine.has_gpu():
        say("gpu-check: no GPU here (nvidia-smi -L lists none)")
        return 1
    old = load(args.compare) if args.compare else None
    work = tempfile.mkdtemp(prefix="gprof-gpu.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        res = run_all(args, top, os.path.abspath(os.environ["GPROF_BUILD"]), work, out)
    finally:
        if not os.environ.get("KEEP"):
            shutil.rmtree(work, ignore_errors=True)
        else:
            say(f"kept: {work}")
    tell(res, out, args.out or (out if args.sim else "test/gpu/results"))
    if old:
        tell_changes(old, res, args.threshold)
    return 1 if res["totals"]["failed"] else 0


sys.exit(main())
