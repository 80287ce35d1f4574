"""Rows of `make bench` for test/bench/sampling.sh.  GPROF_PEERS: a folder with py-spy and scalene; ROUNDS: how often (default 9).

The program does the same work, about a tenth of a second, twelve times and says what CPU time that took it at least, its start and end not
counted; beside it the CPU time of the whole tree of processes.  One of each in turn; the least of each counts, the others were disturbed.
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

LEAST = '''
least = 1e9
for _ in range(12):
    begin = time.process_time()
    main()
    least = min(least, time.process_time() - begin)
print("used", least)
'''

PYTHON_LOOP = '''
import time

def squares(n):
    return [i * i for i in range(n)]

def words(n):
    d = {}
    for i in range(n):
        k = i % 97
        d[k] = d.get(k, 0) + i
    return d

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def main():
    for _ in range(16):
        squares(60000)
        words(50000)
        fib(18)

''' + LEAST + '''
'''

NATIVE_LOOP = '''
import ctypes, os, time
lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libloops.so"))

def multiply():
    lib.multiply(30000000)

def add():
    lib.add(10000000)

def main():
    for _ in range(3):
        multiply()
        add()

''' + LEAST + '''
'''

LOOPS_C = '''
#include <stdint.h>
void multiply(long n) { volatile uint64_t y = 1; while (n--) y = y * 6364136223846793005u + 1; }
void add(long n) { volatile uint64_t y = 1; while (n--) y = y * 6364136223846793005u + 3; }
'''

work = tempfile.mkdtemp(prefix="gprof-sampling-")
peers = os.environ.get("GPROF_PEERS", "")
rounds = int(os.environ.get("ROUNDS", "9"))


def children():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def once(command):
    """CPU seconds of the work, and of all processes."""
    before = children()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=work, text=True)
    used = re.search(r"^used ([0-9.]+)", done.stdout, re.M)
    return (float(used.group(1)), children() - before) if used else None


def ours(program, hz):
    return ["gprof-run", "-q", "-f", "-s", "cpu", "--sampling-frequency", str(hz), "-o", "ours", "--", sys.executable, program]


def py_spy(program, hz):
    return [os.path.join(peers, "py-spy"), "record", "-r", str(hz), "-f", "raw", "-o", "pyspy", "--", sys.executable, program]


def scalene(program, hz):
    return [os.path.join(peers, "python"), "-m", "scalene", "run", "--cpu-only", "--cpu-sampling-rate", str(1 / hz), "-o", "scalene.json", program]


def shares(counts):
    whole = sum(counts.values()) or 1
    return {name: n / whole for name, n in counts.items()}


def top_of_ours(program):
    counts = {}
    text = subprocess.run(["gprof-trace", "export", "--format", "folded", "--metric", "cpu_samples", "-o", "-", "ours.gtrace"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=work, text=True).stdout
    for line in text.splitlines():
        stack, n = line.rsplit(" ", 1)
        inside = [f for f in stack.split(";") if re.search(re.escape(program) + r":\d+\)$", f)]
        if inside:
            name = inside[-1].split(" (")[0].split(".<locals>")[0]
            counts[name] = counts.get(name, 0) + int(n)
    return shares(counts)


def top_of_py_spy(program):
    counts = {}
    for line in open(os.path.join(work, "pyspy")):
        stack, n = line.rsplit(" ", 1)
        inside = [f for f in stack.split(";") if program in f]
        if inside:
            name = inside[-1].split(" (")[0].split(".<locals>")[0]
            counts[name] = counts.get(name, 0) + int(n)
    return shares(counts)


def top_of_scalene(program):
    counts = {}
    for path, f in json.load(open(os.path.join(work, "scalene.json")))["files"].items():
        if path.endswith(program):
            for g in f["functions"]:
                counts[g["line"]] = g["n_cpu_percent_python"] + g["n_cpu_percent_c"] + g["n_sys_percent"]
    return shares(counts)


def told(top):
    return ", ".join("%s %.0f %%" % (name, 100 * part) for name, part in sorted(top.items(), key=lambda t: -t[1])[:3])


def measure(what, program):
    ways = [("no sampler", [sys.executable, program], None)]
    for hz in (100, 1000):
        ways.append(("gprof-run, %d Hz" % hz, ours(program, hz), top_of_ours))
    if os.access(os.path.join(peers, "py-spy"), os.X_OK):
        for hz in (100, 1000):
            ways.append(("py-spy, %d Hz" % hz, py_spy(program, hz), top_of_py_spy))
    if os.access(os.path.join(peers, "scalene"), os.X_OK):
        for hz in (100, 1000):
            ways.append(("Scalene, %d Hz" % hz, scalene(program, hz), top_of_scalene))
    best, tops = {}, {}
    for _ in range(rounds):
        for name, command, top in ways:
            got = once(command)
            if not got:
                continue
            old = best.get(name, got)
            best[name] = (min(old[0], got[0]), min(old[1], got[1]))
            if top:
                for function, part in top(program).items():
                    seen = tops.setdefault(name, {})
                    seen[function] = seen.get(function, 0) + part
    bare = best["no sampler"]
    for name, _, top in ways:
        if name not in best:
            print("%s, %s: it does not run here" % (what, name))
            continue
        own, whole = best[name]
        print("%s, %s\t%.2f\tms\t%+.1f %%; with the sampler's processes %+.1f %%" % (
            what, name, 1000 * own, 100 * (own / bare[0] - 1), 100 * (whole / bare[1] - 1)))
        if top:
            print("    " + told(shares(tops[name])))


try:
    open(os.path.join(work, "loop.py"), "w").write(PYTHON_LOOP)
    measure("Python loop", "loop.py")
    open(os.path.join(work, "loops.c"), "w").write(LOOPS_C)
    if subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", "libloops.so", "loops.c"], cwd=work).returncode == 0:
        open(os.path.join(work, "calls.py"), "w").write(NATIVE_LOOP)
        measure("native loop", "calls.py")
finally:
    shutil.rmtree(work)
