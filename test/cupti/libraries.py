"""libraries.py FOLDER: holds what we believe of libcupti against the real libraries and headers that fetch.sh unpacked (README.md).

One line for each thing that is compared, "ok RELEASE WHAT" or "FAIL RELEASE WHAT: WHY".
"""
import ctypes
import glob
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CC = os.environ.get("CC", "cc")
CUDA = os.environ.get("CUDA", "/usr/local/cuda")
DOMAINS = {"DRIVER": 1, "RUNTIME": 2}
NOT_INITIALIZED, UNKNOWN, CRASH = 15, 999, "signal 11"
failed = 0


def say(release, what, wrong):
    global failed
    failed += bool(wrong)
    print("%s %s %s%s" % ("FAIL" if wrong else "ok", release, what, ": " + str(wrong) if wrong else ""))


def in_child(ask):
    """What ask() returns, "signal N" where it ends its process."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        os.write(w, json.dumps(ask()).encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as answer:
        text = answer.read()
    status = os.waitpid(pid, 0)[1]
    return json.loads(text) if text else "signal %d" % os.WTERMSIG(status)


def call(path, name, *args, result=lambda: None):
    return in_child(lambda: [getattr(ctypes.CDLL(path), name)(*args), result()])


def functions():
    text = open(os.path.join(TOP, "inject", "cupti", "cupti_api.def")).read()
    return re.findall(r"^CUPTI_FN\((true|false),\s*(\w+)", text, re.M)


def calls():
    text = open(os.path.join(TOP, "inject", "cupti", "cupti_calls.def")).read()
    return re.findall(r"^CUPTI_CALL\((\w+),\s*(\d+),\s*\w+,\s*(\w+)\)", text, re.M)


def read_define(header):
    return int(re.search(r"#define CUPTI_API_VERSION (\d+)", open(header).read()).group(1))


# ---- the library ----

def check_functions(release, path, said):
    there = in_child(lambda: [hasattr(ctypes.CDLL(path), "cupti" + name) for _, name in functions()])
    missing = [name for (needed, name), has in zip(functions(), there) if not has and (needed == "true" or said >= 130000)]
    say(release, "has the functions that are called", missing)


def simulated(release):
    """What the simulator says for this release."""
    text = open(os.path.join(TOP, "test", "sim", "release.c")).read()
    number = tuple(int(n) for n in release.split("."))
    rows = [(tuple(map(int, r[:3])), int(r[3])) for r in re.findall(r"\{ RELEASE\((\d+), (\d+), (\d+)\), (\d+) \}", text)]
    return [version for at, version in rows if at <= number][-1]


def check_answers(release, path, header):
    """Without a driver.  13.2.75 calls itself until its stack ends, and later ones ask the driver for everything."""
    dispatcher = header >= 130200
    crash = header in (130200, 130201)
    failure = CRASH if crash else [UNKNOWN, None]
    version, text, time = ctypes.c_uint(7), ctypes.c_char_p(), ctypes.c_uint64()
    subscriber, nothing = ctypes.c_void_p(), ctypes.CFUNCTYPE(None)(lambda: None)
    want = {
        "cuptiGetVersion": failure if dispatcher else [0, header],
        "cuptiGetResultString": failure if dispatcher else [0, "CUPTI_ERROR_NOT_INITIALIZED"],
        "cuptiGetTimestamp": failure if dispatcher else [0, None],
        "cuptiSubscribe": failure if header >= 130000 else [NOT_INITIALIZED, None],
    }
    got = {
        "cuptiGetVersion": call(path, "cuptiGetVersion", ctypes.byref(version), result=lambda: version.value if version.value != 7 else None),
        "cuptiGetResultString": call(path, "cuptiGetResultString", NOT_INITIALIZED, ctypes.byref(text), result=lambda: text.value and text.value.decode()),
        "cuptiGetTimestamp": call(path, "cuptiGetTimestamp", ctypes.byref(time)),
        "cuptiSubscribe": call(path, "cuptiSubscribe", ctypes.byref(subscriber), nothing, None),
    }
    for name in want:
        say(release, "%s without a driver" % name, got[name] != want[name] and "%s, not %s" % (got[name], want[name]))
    say(release, "version of the simulator", simulated(release) != header and "%d, the real one says %d" % (simulated(release), header))
    return not dispatcher


def check_names(release, path):
    """A library that knows a call gives it our name; older ones do not know the newest."""
    lib = ctypes.CDLL(path)
    text, wrong, known = ctypes.c_char_p(), [], 0
    for domain, cbid, name in calls():
        if lib.cuptiGetCallbackName(DOMAINS[domain], int(cbid), ctypes.byref(text)) == 0 and text.value not in (None, b"", b"INVALID"):
            known += 1
            # Up to 12.9 a second version says so before its suffix (cudaMemPrefetchAsync_v2_v12020), and 12.6 and 12.8 name two calls by number.
            theirs = re.sub(r"_v2(_ptsz)?(_v1\d+)$", r"\1\2", text.value.decode())
            if theirs != name and theirs != "cuda%s_v12060" % cbid:
                wrong.append("%s %s is %s, not %s" % (domain, cbid, text.value.decode(), name))
    say(release, "names of %d calls" % known, wrong or (known < 100 and "so few are known"))


# ---- its header ----

# The record, the member of struct cupti_layouts, and of this the members with the field that each is the offset of.
RECORDS = [
    ("Kernel", "kernel", {"node": "graphNodeId", "graph": "graphId", "cluster": "clusterX"}),
    ("Memcpy", "memcpy", {"node": "graphNodeId", "graph": "graphId", "copies": "copyCount"}),
    ("MemcpyPtoP", "memcpy2", {"node": "graphNodeId", "graph": "graphId", "copies": "copyCount"}),
    ("Memset", "memset", {"node": "graphNodeId", "graph": "graphId"}),
    ("Synchronization", "sync", {"result": "returnValue"}),
    ("Overhead", "overhead", {"corr": "correlationId", "data": "overheadData"}),
    ("GraphTrace", "graph", {"end_device": "endDeviceId"}),
    ("Memory", "memory", {"used": "memoryPoolConfig.utilizedSize"}),
    ("MemoryPool", "pool", {"used": "utilizedSize"}),
    ("Jit", "jit", {"tid": "threadId"}),
    ("UnifiedMemoryCounter", "unified", {"processors": "processors"}),
    ("Device", "device", {}),
    ("Context", "context", {}),
    ("Stream", "stream", {}),
]


def newest_records(include):
    """The newest layout of each record, and its body's text."""
    text = open(os.path.join(include, "cupti_activity.h")).read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    best = {}
    for body, name, number in re.findall(r"typedef struct\s*(?:PACKED_ALIGNMENT)?\s*\{((?:[^{}]|\{[^{}]*\}|\{(?:[^{}]|\{[^{}]*\})*\})*)\}\s*CUpti_Activity([A-Za-z]+?)(\d*);", text):
        if int(number or 1) >= best.get(name, (0,))[0]:
            best[name] = (int(number or 1), "CUpti_Activity" + name + number, body)
    return best


def layout_program(include, version):
    """A program that prints for each record: our size, its size, and of each field our offset and its."""
    newest = newest_records(include)
    lines = ['#include "inject/cupti/cupti_layout.h"', "#include <cuda.h>", "#include <cupti.h>", "#include <stddef.h>", "#include <stdio.h>",
             "int main(void)", "{", "struct cupti_layouts l;", "if (cupti_layouts_choose(&l, %u)) return 1;" % version]
    for record, member, fields in RECORDS:
        _, struct, body = newest[record]
        lines.append('printf("%s size %%u %%zu\\n", l.%s.size, sizeof(%s));' % (struct, member, struct))
        for ours, theirs in fields.items():
            if re.search(r"\b%s\b" % theirs.split(".")[-1], body):
                lines.append('printf("%s %s %%u %%zu\\n", l.%s.%s, offsetof(%s, %s));' % (struct, theirs, member, ours, struct, theirs))
            else:
                lines.append('printf("%s no-%s %%u 0\\n", l.%s.%s);' % (struct, theirs, member, ours))
    return "\n".join(lines + ["return 0;", "}"])


def check_layouts(release, include, flags, version):
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "a.c"), os.path.join(folder, "a")
        with open(source, "w") as out:
            out.write(layout_program(include, version))
        made = subprocess.run([CC, "-std=gnu11", "-D_GNU_SOURCE", "-w", "-iquote", TOP, *flags, "-o", program, source, os.path.join(TOP, "inject", "cupti", "cupti_layout.c")],
                              capture_output=True, text=True)
        if made.returncode:
            return say(release, "record layouts", "does not compile: " + made.stderr[:300])
        lines = subprocess.run([program], capture_output=True, text=True).stdout.split("\n")[:-1]
    wrong, compared = [], 0
    for line in lines:
        struct, field, ours, theirs = line.split()[0], line.split()[1], int(line.split()[2]), int(line.split()[3])
        compared += 1
        # A field that the version's layout does not have yet is read nowhere; a record may be longer than what is read.
        if ours > theirs if field == "size" else ours not in (0, theirs):
            wrong.append(line)
        # Where the version tells the release, nothing that its header has is left unread.
        if version != 18 and version <= 130001 and field != "size" and ours != theirs:
            wrong.append("not read: " + line)
    say(release, "%d sizes and offsets of records" % compared, wrong or (compared < 25 and "too few"))


def check_header(release, include, more):
    header = read_define(os.path.join(include, "cupti_version.h"))
    flags = []
    for folder in [include] + more + [os.path.join(CUDA, "include")]:
        flags += ["-isystem", folder]
    made = subprocess.run([CC, "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-iquote", TOP, *flags, "-fsyntax-only",
                           os.path.join(TOP, "test/unit/inject/abi/cupti_abi_check.c")], capture_output=True, text=True)
    say(release, "our declarations", made.returncode and made.stderr[:300])
    check_layouts(release, include, flags, header)
    return header


def one(folder, release):
    include = os.path.dirname(glob.glob("%s/%s/**/cupti_activity.h" % (folder, release), recursive=True)[0])
    path = glob.glob("%s/%s/**/libcupti.so.*" % (folder, release), recursive=True)[0]
    newer = [os.path.dirname(p) for p in glob.glob("%s/headers/**/cuda.h" % folder, recursive=True)]
    header = check_header(release, include, newer if int(release.split(".")[0]) >= 13 and not release.startswith("13.0") else [])
    check_functions(release, path, header)
    if check_answers(release, path, header):
        check_names(release, path)


def main():
    folder = sys.argv[1]
    wheels = [line.split()[0] for line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "wheels.txt")) if not line.startswith("#")]
    for release in wheels:
        if release != "headers":
            one(folder, release)
    sys.exit(failed != 0)


main()
