"""Are there frames that could not have been there?  python3 samples_check.py FOLDED LEAST

FOLDED: gprof-trace export --format folded --metric cpu_samples of test/programs/sampled.py, whose CALLS say who calls whom.
"""
import ast
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
path = os.path.join(here, "..", "programs", "sampled.py")
tree = ast.parse(open(path).read())
calls = next(ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "CALLS")
lines = {}
for node in ast.walk(tree):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        first = min([node.lineno] + [d.lineno for d in node.decorator_list])
        lines[node.name] = (first, max(n.lineno for n in ast.walk(node) if hasattr(n, "lineno")))
for name in ("<module>", "<lambda>", "<listcomp>", "<dictcomp>", "<genexpr>"):
    lines[name] = (1, 10 ** 6)

FRAME = re.compile(r"(.*) \((.*):(-?\d+)\)$")
OUTERMOST = ("_start (", "start_thread (", "clone3 (", "clone (", "__libc_start_")
counts = {"samples": 0, "python": 0, "frames": 0}
wrong = {}


def is_wrong(why, line, n):
    wrong.setdefault(why, [0, line])
    wrong[why][0] += n


def check(frames, n, line):
    caller = None                       # the Python frame outside of this one; those of other files count, too
    python = False
    for text in frames:
        m = FRAME.match(text)
        if not m:
            continue
        name, file, at = m.group(1).split(".")[-1], m.group(2), int(m.group(3))
        if file.endswith((".c", ".h", ".S", ".cc")):
            continue
        python = True
        counts["frames"] += n
        if file.startswith("/made/"):
            if name not in ("made", "<module>"):
                is_wrong("%s in made code" % name, line, n)
            if name == "made" and caller != "churn" or name == "<module>" and caller != "churn":
                is_wrong("%s called by %s" % (name, caller), line, n)
            caller = name
            continue
        if not file.endswith("sampled.py"):
            caller = "other"
            continue
        if name not in calls:
            is_wrong("no function %s" % name, line, n)
        elif at != -1 and not lines.get(name, (0, 0))[0] <= at <= lines.get(name, (0, 0))[1]:
            is_wrong("line %d of %s" % (at, name), line, n)
        elif "*" not in calls[name] and caller not in calls[name] and not (
                name == "<module>" and caller is None) and caller not in ("__del__", "on_gc", "tracer"):
            is_wrong("%s called by %s" % (name, caller), line, n)
        caller = name
    counts["samples"] += n
    counts["python"] += n * python
    native = [i for i, f in enumerate(frames) if f.startswith(OUTERMOST)]
    if native and FRAME.match(frames[0]) and not frames[0].startswith(OUTERMOST):
        is_wrong("a Python frame outside of the thread's first function", line, n)


for line in open(sys.argv[1]):
    stack, n = line.rstrip("\n").rsplit(" ", 1)
    frames = stack.split(";")
    if re.match(r"\S+ \d+$", frames[0]):
        frames = frames[1:]             # the process
    check(frames, int(n), line.rstrip("\n"))

print(", ".join("%s %d" % (k, v) for k, v in counts.items()))
for why, (n, line) in sorted(wrong.items(), key=lambda w: -w[1][0]):
    print("WRONG %d: %s: %s" % (n, why, line[-700:]))
if counts["python"] < int(sys.argv[2]):
    print("too few samples with Python frames")
    sys.exit(1)
sys.exit(1 if wrong else 0)
