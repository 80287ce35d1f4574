"""pytorch_judge.py KINETO RANGES OPS: every operator of torch.profiler's file, with its inputs, is in our dumps at least as often."""
import collections
import json
import re
import sys

want, got, names = collections.Counter(), collections.Counter(), {}
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    if e.get("cat") == "cpu_op":
        want[e["name"], json.dumps(e["args"].get("Input Dims")), json.dumps(e["args"].get("Input type"))] += 1
for line in open(sys.argv[2]):
    m = re.search(r' id=(\d+) .* name="(.*)" color', line)
    names[m[1]] = m[2]
for line in open(sys.argv[3]):
    m = re.search(r' range=(\d+) .* dims="(.*)" types="(.*)" external', line)
    got[names[m[1]], m[2] or "null", m[3].replace('\\"', '"') or "null"] += 1
for key in sorted(want):
    if got[key] < want[key]:
        print("torch.profiler has", want[key], "of", *key, "; we have", got[key])
print("operators", len(want) > 60, "missing", sum(got[k] < want[k] for k in want))
