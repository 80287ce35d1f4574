"""stacks_say.py STACK_ROWS FILE...: puts function names to the frames that stack_rows printed, by nm of those files.

A frame elsewhere is named after its file, and several of them in a row are one.
"""
import bisect
import os
import re
import subprocess
import sys

symbols = {}
for path in sys.argv[2:]:
    found = []
    for line in subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout.splitlines():
        if m := re.match(r"([0-9a-f]+) [tTwW] (\S+)$", line):
            found.append((int(m[1], 16), m[2]))
    symbols[os.path.basename(path)] = sorted(found)


def name(frame):
    image, _, offset = frame.rpartition("+")
    table = symbols.get(image)
    i = bisect.bisect_right(table, (int(offset, 16), chr(0x10ffff))) if table else 0
    return table[i - 1][1] if i else re.sub(r"\.so.*", "", image)


for line in open(sys.argv[1], encoding="utf-8"):
    words = line.split()
    if words[0] in ("api", "range"):
        names = [name(w) for w in words[4:]]
        # Several functions of a library without names here are one.
        words[4:] = [n for i, n in enumerate(names) if i == 0 or n != names[i - 1] or not n.startswith("lib")]
    print(" ".join(words))
