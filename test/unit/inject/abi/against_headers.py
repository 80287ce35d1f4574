"""Holds inject/cupti/cupti_layout.c against the CUPTI headers of one release: against_headers.py INCLUDE_DIR... [-- CC FLAGS...]

For each folder with a cupti_activity.h it finds the newest struct of each activity record, asks our table for the layout of that
header's CUPTI_API_VERSION, and compares: no field that we read may be elsewhere, and no record may be shorter than we think.  A field that
the release has and we do not read is named, and is no error.  Prints one line a release; exits 1 when one differs.
"""
import os
import re
import subprocess
import sys
import tempfile

# our layout: (CUPTI's name without number, {our member: CUPTI's field}); every fixed offset is in cupti_abi_check.c
RECORDS = {
    "kernel": ("Kernel", {"node": "graphNodeId", "graph": "graphId", "cluster": "clusterX"}),
    "memcpy": ("Memcpy", {"node": "graphNodeId", "graph": "graphId", "copies": "copyCount"}),
    "memcpy2": ("MemcpyPtoP", {"node": "graphNodeId", "graph": "graphId"}),
    "memset": ("Memset", {"node": "graphNodeId", "graph": "graphId"}),
    "sync": ("Synchronization", {"result": "returnValue"}),
    "overhead": ("Overhead", {"corr": "correlationId", "data": "overheadData"}),
    "graph": ("GraphTrace", {"end_device": "endDeviceId"}),
    "memory": ("Memory", {}),
    "pool": ("MemoryPool", {}),
    "unified": ("UnifiedMemoryCounter", {"processors": "processors"}),
    "device": ("Device", {}),
    "context": ("Context", {}),
    "stream": ("Stream", {}),
}
# enough of a prefix to notice a record that was laid out anew
PREFIX = {"Kernel": {"start": 16, "end": 24, "deviceId": 40, "gridX": 52, "correlationId": 92, "name": 104},
          "Memcpy": {"bytes": 8, "start": 16, "streamId": 40, "correlationId": 44},
          "MemcpyPtoP": {"bytes": 8, "start": 16, "correlationId": 60},
          "Memset": {"value": 4, "bytes": 8, "start": 16, "correlationId": 44},
          "Synchronization": {"type": 4, "start": 8, "correlationId": 24},
          "Overhead": {"start": 24, "end": 32},
          "UnifiedMemoryCounter": {"counterKind": 4, "value": 8, "start": 16, "address": 32, "srcId": 40, "dstId": 44, "flags": 56}}


def newest(header, name):
    """(type, its members) of the struct with the highest number; None where the release has none."""
    found = {}
    for body, number in re.findall(r"typedef struct[^{;]*\{(.*?)\}\s*CUpti_Activity%s(\d*)\s*;" % name, header, re.S):
        # the match begins at the first open typedef before it: keep what follows the last one
        found[int(number or 1)] = body.split("typedef struct")[-1]
    if not found:
        return None
    number = max(found)
    body = re.sub(r"/\*.*?\*/", "", found[number], flags=re.S)
    return "CUpti_Activity%s%s" % (name, number if number > 1 else ""), set(re.findall(r"(\w+)\s*(?:\[[^]]*\])?\s*;", body))


def program(folder):
    header = open(os.path.join(folder, "cupti_activity.h"), errors="replace").read()
    lines, unread = [], []
    for ours, (name, members) in RECORDS.items():
        struct = newest(header, name)
        if not struct:
            continue
        kind, fields = struct
        lines.append('\tlonger("%s", l.%s.size, sizeof(%s));' % (kind, ours, kind))
        for field, offset in PREFIX.get(name, {}).items():
            lines.append('\tsame("%s.%s", %d, offsetof(%s, %s));' % (kind, field, offset, kind, field))
        for member, field in members.items():
            if field in fields:
                lines.append('\tread("%s.%s", l.%s.%s, offsetof(%s, %s));' % (kind, field, ours, member, kind, field))
            else:
                lines.append('\tsame("%s has no %s", l.%s.%s, 0);' % (kind, field, ours, member))
    return """
#include <stddef.h>
#include <stdio.h>
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_version.h>
#include "inject/cupti/cupti_layout.h"

static int wrong, unread;

static void same(const char *what, size_t ours, size_t theirs)
{
	if (ours != theirs)
		wrong += 1 + 0 * printf("  %s is at %zu, not %zu\\n", what, theirs, ours);
}

static void read(const char *what, size_t ours, size_t theirs)
{
	if (ours)
		same(what, ours, theirs);
	else
		unread += 1 + 0 * printf("  not read: %s\\n", what);
}

static void longer(const char *what, size_t ours, size_t theirs)
{
	if (ours > theirs)
		wrong += 1 + 0 * printf("  %s has %zu bytes, not %zu\\n", what, theirs, ours);
}

int main(void)
{
	struct cupti_layouts l;

	if (cupti_layouts_choose(&l, CUPTI_API_VERSION) < 0)
		return puts("  no layout"), 1;
""" + "\n".join(lines) + """
	printf("CUPTI %d: %d records, %d differ, %d fields not read\\n", CUPTI_API_VERSION, """ + str(len(RECORDS)) + """, wrong, unread);
	return wrong != 0;
}
"""


def check_calls(folder):
    """How many calls of our list have another number, or another name, in this release."""
    theirs, wrong, known = {}, 0, 0
    for domain in "runtime", "driver":
        text = open(os.path.join(folder, "cupti_%s_cbid.h" % domain), errors="replace").read()
        for name, cbid in re.findall(r"CUPTI_%s_TRACE_CBID_(\w+)\s*=\s*(\d+)" % domain.upper(), text):
            theirs[domain.upper(), int(cbid)] = name
    last = {domain: max(cbid for d, cbid in theirs if d == domain) for domain in ("RUNTIME", "DRIVER")}
    for domain, cbid, name in re.findall(r"^CUPTI_CALL\((\w+), *(\d+), *\w+, *(\w+)\)", open("inject/cupti/cupti_calls.def").read(), re.M):
        if int(cbid) >= last[domain]:       # that of SIZE
            continue
        known += 1
        # a call that nothing can make any more, or yet, has a number for a name; a second version of one lost its mark with CUDA 13
        has = theirs.get((domain, int(cbid)), "")
        if re.sub(r"_v2(_ptsz)?(_v\d+)$", r"\1\2", has) != re.sub(r"_v2(_ptsz)?(_v\d+)$", r"\1\2", name) and \
           not re.fullmatch(r"cuda%s(_v\d+)?" % cbid, has):
            print("  %s %s is %s, not %s" % (domain, cbid, theirs.get((domain, int(cbid))), name))
            wrong += 1
    print("  calls: %d of our list, %d differ" % (known, wrong))
    return wrong != 0


def check(folder, cc):
    with tempfile.TemporaryDirectory() as work:
        source, binary = os.path.join(work, "check.c"), os.path.join(work, "check")
        with open(source, "w") as f:
            f.write(program(folder))
        subprocess.run(cc + ["-std=gnu11", "-D_GNU_SOURCE", "-iquote", ".", "-isystem", folder, "-isystem", "/usr/local/cuda/include",
                             "-o", binary, source, "inject/cupti/cupti_layout.c"], check=True)
        return subprocess.run([binary]).returncode | check_calls(folder)


def main():
    args = sys.argv[1:]
    cc = args[args.index("--") + 1:] if "--" in args else ["cc"]
    folders = args[:args.index("--")] if "--" in args else args
    return max([check(f, cc) for f in folders] or [2])


sys.exit(main())
