"""details.py DUMP TRUTH [no-tids] [no-overhead-corr]: is every row of the GPU, in every field, what the simulated GPU says it did?

DUMP is the output of `gprof-trace dump --uncorrected`, TRUTH the file that SIM_TRUTH names.  Prints what differs; 1 if anything does.
no-tids: CUPTI's thread ids are those that the program's own profiler asked for, or this CUPTI has none, so ours are left out.
no-overhead-corr: this CUPTI does not say in which call it was busy.
A kind of operation in TRUTH that is not known here is a difference too: teach it to this script.
"""
import collections
import json
import re
import sys

FIELD = re.compile(r' ([a-z_0-9]+)=("(?:[^"\\]|\\.)*"|\S*)')
NONE = 0xFFFFFFFF
COPIES = "? HtoD DtoH HtoA AtoH AtoA AtoD DtoA DtoD HtoH PtoP".split()


def number(text):
    return text if text.startswith('"') else NONE if text == "none" else int(text, 0)


def read_dump(path):
    rows, pids, configs = collections.Counter(), {}, {}
    lines = []
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        kind = line.split(" ", 1)[0]
        row = {k: number(v) for k, v in FIELD.findall(line)}
        if kind == "process":
            pids[row["number"]] = row["pid"]
        elif kind == "config":
            configs[row["process"], row["id"]] = row
        else:
            lines.append((kind, row))
    for kind, r in lines:
        tell = ROWS.get(kind)
        if not tell:
            continue
        r = collections.defaultdict(int, r)
        for key in "name", "path":
            if isinstance(r[key], str):
                r[key] = json.loads(r[key])
        c = configs.get((r["process"], r["config"]), {}) if kind == "kernel" else None
        rows[(pids[r["process"]], kind) + tuple(tell(r) if c is None else tell(r, c))] += 1
    return rows


def times(r):
    return (r["start"], r["start"] + r["duration"])


def where(r):
    return (r["device"], r["context"], r["stream"])


ROWS = {
    "kernel": lambda r, c: times(r) + where(r) + (r["corr"], r["name"], r["graph"], r["graph_node"]) + tuple(
        c[k] for k in "grid_x grid_y grid_z block_x block_y block_z registers static_shared dynamic_shared launch_type "
        "cluster_x cluster_y cluster_z".split()),
    "memcpy": lambda r: times(r) + where(r) + (
        r["corr"], COPIES[r["kind"]], r["bytes"], r["flags"] & 1, r["src_kind"], r["dst_kind"], r["graph"], r["graph_node"],
        r["dst_device"] if r["flags"] & 2 else None),
    "memset": lambda r: times(r) + where(r) + (
        r["corr"], r["bytes"], r["flags"] & 1, r["value"], r["mem_kind"], r["graph"], r["graph_node"]),
    "sync": lambda r: times(r) + (r["context"], r["stream"], r["corr"], r["event"], r["type"], r["result"]),
    "overhead": lambda r: times(r) + (r["kind"], r["object_kind"], r["object"], r["corr"]),
    "graph": lambda r: times(r) + where(r) + (r["corr"], r["graph"], r["end_device"]),
    "memory": lambda r: (r["start"],) + where(r) + (
        r["corr"], r["bytes"], r["flags"] & 1, r["operation"], r["mem_kind"], r["address"], r["pool"], r["pool_size"], r["pool_used"]),
    "mempool": lambda r: (r["start"], r["device"], r["corr"], r["operation"], r["address"], r["size"], r["used"]),
    "jit": lambda r: times(r) + (r["device"], r["corr"], r["operation"], r["job"], r["bytes"], r["path"], r["tid"]),
    "unified": lambda r: times(r) + tuple(
        r[k] for k in "kind address bytes pc devices faults source target cause access flags".split()),
    "graph_node": lambda r: (r["node"], r["original"], r["type"], r["corr"]),
    "module": lambda r: (r["id"], r["bytes"], r["context"], r["corr"]),
    "device": lambda r: (
        r["id"], "%016x%016x" % (r["uuid_high"], r["uuid_low"]), r["sm_count"], r["cc_major"], r["cc_minor"], r["clock_khz"],
        r["l2_bytes"], r["warp"], r["max_threads_block"], r["max_warps_sm"] * r["warp"], r["max_blocks_sm"], r["max_shared_sm"],
        r["max_shared_block"], r["max_registers_sm"], r["max_registers_block"]),
    "context": lambda r: (r["id"], r["device"], r["null_stream"]),
    "stream": lambda r: (r["context"], r["id"], r["priority"], r["flags"]),
    "event_record": lambda r: (r["event"], r["corr"], r["context"], r["stream"]),
    "event_wait": lambda r: (r["event"], r["corr"], r["context"], r["stream"]),
    "event_elapsed": lambda r: (r["first"], r["second"], r["corr"], r["elapsed"]),
}


def span(t):
    return (0, 0) if t.get("zeroed") else (t["start"], t["end"])


def place(t):
    return (t["device"], t["context"], t["stream"])


def unified(t):
    """As cupti_activity.h says of each counter: what has an end, and what its value, devices and flags mean."""
    kind, value = t["kind"], t["value"]
    transfer = kind in (1, 2, 8)
    device = NONE if kind in (3, 5) else t["device"]
    return (t["start"], t["end"] if transfer or kind in (4, 6) else t["start"], kind, t["address"],
            value if transfer or kind in (5, 7) else 0, value if kind == 3 else 0, t["device"] if kind == 5 else 0,
            value if kind == 4 else 0, device, t["target"] if transfer or kind == 7 else NONE,
            t["flags"] if transfer or kind == 7 else 0, t["flags"] if kind in (3, 4) else 0, t["flags"] if kind in (5, 6) else 0)


OPERATIONS = {
    "unified": ("unified", unified),
    "kernel": ("kernel", lambda t: span(t) + place(t) + (t["correlation"], t["name"], t["graph"], t["node"]) + tuple(
        t["grid"] + t["block"] + [t["registers"], t["static"], t["dynamic"], t["cooperative"]] + t["cluster"])),
    "memcpy": ("memcpy", lambda t: span(t) + place(t) + (
        t["correlation"], t["name"], t["bytes"], t["async"], t["from"], t["to"], t["graph"], t["node"],
        t["peer"] if t["name"] == "PtoP" else None)),
    "memset": ("memset", lambda t: span(t) + place(t) + (
        t["correlation"], t["bytes"], t["async"], t["value"], t["to"], t["graph"], t["node"])),
    "sync": ("sync", lambda t: span(t) + (t["context"], t["stream"], t["correlation"], t["event"], t["kind"], t["result"])),
    "overhead": ("overhead", lambda t: span(t) + (
        t["kind"], 4, t["context"], 0 if "no-overhead-corr" in sys.argv else t["correlation"])),
    "graph": ("graph", lambda t: span(t) + place(t) + (t["correlation"], t["graph"], t["device"])),
    "memory": ("memory", lambda t: (t["start"],) + place(t) + (
        t["correlation"], t["bytes"], t["async"], t["operation"], t["kind"], t["address"], t["pool"], t["size"], t["used"])),
    "pool": ("mempool", lambda t: (
        t["start"], t["device"], t["correlation"], t["operation"], t["pool"], t["size"], t["used"])),
    "jit": ("jit", lambda t: span(t) + (
        t["device"], t["correlation"], t["operation"], t["job"], t["bytes"], t["name"], 0 if "no-tids" in sys.argv else t["tid"])),
}
OTHERS = {
    "node": ("graph_node", lambda t: (t["node"], t["original"], t["kind"], t["correlation"])),
    "module": ("module", lambda t: (t["module"], t["bytes"], t["context"], t["correlation"])),
    "device": ("device", lambda t: (
        t["device"], t["uuid"], t["sms"], t["major"], t["minor"], t["clock"], t["l2"], t["warp"], t["threads_block"],
        t["threads_sm"], t["blocks_sm"], t["shared_sm"], t["shared_block"], t["registers_sm"], t["registers_block"])),
    "context": ("context", lambda t: (t["context"], t["device"], t["null_stream"])),
    "stream": ("stream", lambda t: (t["context"], t["stream"], t["priority"], t["flags"])),
    "event_record": ("event_record", lambda t: (t["event"], t["correlation"], t["context"], t["stream"])),
    "event_wait": ("event_wait", lambda t: (t["event"], t["correlation"], t["context"], t["stream"])),
    # The program was told milliseconds in a float; the row is that, in whole nanoseconds.
    "event_elapsed": ("event_elapsed", lambda t: (
        t["first"], t["second"], t["correlation"], int(t["ms"] * 1e6 + (-0.5 if t["ms"] < 0 else 0.5)))),
}


def read_truth(path):
    rows, unknown = collections.Counter(), set()
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        t = json.loads(line)
        kind = t["type"]
        if kind in ("api", "event"):
            continue            # test/programs/wire/sim_rows.c compares calls
        if kind not in OPERATIONS and kind not in OTHERS:
            unknown.add(kind)
            continue
        if t.get("fate", "recorded") != "recorded" or t.get("told") is False:
            continue
        name, tell = OPERATIONS.get(kind) or OTHERS[kind]
        rows[(t["pid"], name) + tuple(tell(t))] += 1
    return rows, unknown


def main():
    got = read_dump(sys.argv[1])
    want, unknown = read_truth(sys.argv[2])
    if not want:
        sys.exit("the simulated GPU did nothing")
    for kind in sorted(unknown):
        print("details.py does not know what '%s' becomes" % kind)
    for row in sorted(map(repr, (want - got).elements())):
        print("not in the trace:", row)
    for row in sorted(map(repr, (got - want).elements())):
        print("only in the trace:", row)
    kinds = collections.Counter()
    for row, n in got.items():
        kinds[row[1]] += n
    print(" ".join("%s=%d" % k for k in sorted(kinds.items())), file=sys.stderr)
    sys.exit(1 if unknown or want != got else 0)


main()
