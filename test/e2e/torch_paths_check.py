"""torch_paths_check.py TRACE: the path of each operator's module, against the names in the range that the program put around it."""
import collections
import json
import re
import subprocess
import sys

ranges, rows, threads = {}, [], collections.defaultdict(list)
dump = subprocess.run(["gprof-trace", "dump", "-k", "range,modules", sys.argv[1]], stdout=subprocess.PIPE, check=True).stdout.decode()
for line in dump.split("\n"):
    fields = dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', line))
    if line.startswith("range "):
        key, name = (fields["process"], fields["id"]), json.loads(fields["name"])
        begin, thread = int(fields["start"]), (fields["process"], fields["thread"])
        ranges[key] = thread, begin
        if name.startswith("names "):
            threads[thread].append((begin, begin + int(fields["duration"]), name.split(" ")[1:]))
    elif line:
        rows.append(((fields["process"], fields["range"]), json.loads(fields["modules"]).split(" > "), json.loads(fields["paths"]).split(" > ")))

right, wrong, kinds = 0, [], set()
for key, modules, paths in rows:
    thread, begin = ranges[key]
    around = [r for r in threads[thread] if r[0] <= begin < r[1]]
    if not around:
        continue        # of the pre-hook itself, or of a module that has none
    names = max(around)[2]
    kinds.update(names)
    if len(modules) == len(paths) and paths[-1] in names:
        right += 1
    else:
        wrong.append((names, modules, paths))
print("operators %d, names %d" % (right, len(kinds)))
for w in wrong[:20]:
    print(*w)
sys.exit(bool(wrong) or right < 300 or len(kinds) < 80)
