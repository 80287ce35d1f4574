"""pytorch_values.py THEIRS OURS: operators of two files of Kineto's that have not the same inputs, and what is in one alone."""
import collections
import json
import sys


def inputs(name):
    return collections.Counter(
        (e["name"], *(json.dumps(e["args"].get(key)) for key in ("Input Dims", "Input type", "Concrete Inputs")))
        for e in json.load(open(name))["traceEvents"] if e.get("cat") == "cpu_op")


theirs, ours = inputs(sys.argv[1]), inputs(sys.argv[2])
for key in sorted(theirs | ours):
    if theirs[key] != ours[key]:
        print("torch.profiler has", theirs[key], "; we have", ours[key], "of", *key)
if not any("[true" in key[3].lower() for key in theirs):
    print("no list of booleans among", len(theirs))
