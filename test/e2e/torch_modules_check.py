"""torch_modules_check.py TRACE PROFILE.json: outermost operators and the nn.Modules around them, ours against torch.profiler's."""
import collections
import json
import re
import subprocess
import sys

names, rows = {}, []
dump = subprocess.run(["gprof-trace", "dump", "-k", "range,modules", sys.argv[1]], stdout=subprocess.PIPE, check=True).stdout.decode()
for line in dump.split("\n"):
    fields = dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', line))
    if line.startswith("range "):
        names[fields["process"], fields["id"]] = json.loads(fields["name"])
    elif line:
        rows.append(((fields["process"], fields["range"]), json.loads(fields["modules"])))
ours = collections.Counter((names[r], modules) for r, modules in rows)

theirs, threads = collections.Counter(), collections.defaultdict(list)
with open(sys.argv[2]) as profile:
    for e in json.load(profile)["traceEvents"]:
        if e.get("ph") == "X" and e.get("cat") in ("cpu_op", "python_function"):
            threads[e["tid"]].append(e)
for events in threads.values():
    around = []
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while around and e["ts"] >= around[-1]["ts"] + around[-1]["dur"]:
            around.pop()
        modules = [a["name"][len("nn.Module: "):] for a in around if a["name"].startswith("nn.Module: ")]
        if e["cat"] == "cpu_op" and modules and all(a["cat"] != "cpu_op" for a in around):
            theirs[e["name"], " > ".join(modules)] += 1
        around.append(e)

print("operators %d, torch.profiler has %d" % (sum(ours.values()), sum(theirs.values())))
for what, difference in (("ours", ours - theirs), ("theirs", theirs - ours)):
    for key, n in difference.items():
        print(what, n, key)
sys.exit(ours != theirs or not ours)
