"""Rows of `gprof-trace dump TRACE`, and the places of their call stacks: line tables and symbols are read here anew."""
import collections
import json
import re
import subprocess
import sys

TRACE = sys.argv[1]
SITE, GONE = "(no stack)", "(none of these frames)"


def gprof(*args):
    return subprocess.run(["gprof-trace", *args, TRACE], check=True, capture_output=True, text=True).stdout


def rows_of_dump():
    rows = collections.defaultdict(list)
    for line in gprof("dump").split("\n"):
        kind, _, rest = line.partition(" ")
        row = {}
        for key, value in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', rest):
            if value.startswith('"'):
                row[key] = json.loads(value)
            elif re.fullmatch(r"-?\d+", value) and key not in ("table", "build_id"):
                row[key] = int(value)
            elif value.startswith("0x"):
                row[key] = int(value, 16)
            else:
                row[key] = value
        rows[kind].append(row)
    return rows


ROWS = rows_of_dump()
CWD = next((r["text"][4:] for r in ROWS["attribute"] if r["text"].startswith("cwd=")), None)


# ---- from frames to places

def varint(table, i):
    value, shift = table[i] & 63, 6
    while table[i] & 64:
        i += 1
        value |= (table[i] & 63) << shift
        shift += 6
    return -(value >> 1) if value & 1 else value >> 1


def signed(byte):
    return byte - 256 if byte > 127 else byte


def line_of(code, offset):
    """0: the instruction has no line."""
    table, line, at = bytes.fromhex(code["table"]), code["first_line"], 0
    if offset is None:
        return line
    if code["version"] < 0x030a:
        for step, up in zip(table[::2], table[1::2]):
            at += step
            if at > offset:
                break
            line += signed(up)
        return line
    if code["version"] == 0x030a:
        for step, up in zip(table[::2], table[1::2]):
            line += 0 if up == 128 else signed(up)
            if at <= offset < at + step:
                return 0 if up == 128 else line
            at += step
        return 0
    i = 0
    while i < len(table):
        kind, units = table[i] >> 3 & 15, (table[i] & 7) + 1
        line += kind - 10 if 10 <= kind <= 12 else varint(table, i + 1) if kind in (13, 14) else 0
        if at <= offset < at + 2 * units:
            return 0 if kind == 15 else line
        at += 2 * units
        i += 1
        while i < len(table) and not table[i] & 128:
            i += 1
    return 0


CODE = {(r["process"], r["id"]): r for r in ROWS["code"]}
IMAGE = {(r["process"], r["id"]): r for r in ROWS["image"]}
SYMBOL, open_set = {}, []
for r in ROWS["symbol"]:
    open_set.append(r)
    if not r["depth"]:
        SYMBOL[r["process"], r["image"], r["offset"]] = open_set
        open_set = []

Place = collections.namedtuple("Place", "function file line begin python image named")


def places(process, frame):
    if "+" in frame:
        number, offset = frame.split("+")
        code = CODE[process, int(number)]
        offset = None if offset == "?" else int(offset)
        return [Place(code["name"], code["file"], line_of(code, offset), code["first_line"], True, "", True)]
    number, address = frame.split(":")
    image = IMAGE.get((process, int(number)))
    offset = int(address, 16) - (image["base"] if image else 0)
    name = image["name"] if image else ""
    if (process, int(number), offset) in SYMBOL:
        return [Place(s["name"], s["file"], s["line"], 0, False, name, True) for s in SYMBOL[process, int(number), offset]]
    where = "%s+0x%x" % (name.split("/")[-1], offset) if image else "0x%x" % offset
    return [Place(where, "", 0, 0, False, name, False)]


STACK = {(r["process"], r["id"]): [p for f in r["frames"].split(",") for p in places(r["process"], f)] for r in ROWS["stack"]}


def short(path):
    for root in ("/site-packages/", "/dist-packages/"):
        if root in path:
            return path.split(root, 1)[1]
    return path[len(CWD) + 1:] if CWD and path.startswith(CWD + "/") else path


def text(p):
    if p.file:
        return "%s (%s:%d)" % (p.function, short(p.file), p.line) if p.line else "%s (%s)" % (p.function, short(p.file))
    return "%s (%s)" % (p.function, p.image.split("/")[-1]) if p.named and p.image else p.function


LIBRARY = re.compile(r"/(site|dist)-packages/|/lib(64)?/python3[^/]*/|/python3\.\d+.?/|(^|/)(?i:c?python)[^/]*/Lib/")


def users(path):
    """Is it a file of the program?  Those of installed packages and of Python are not."""
    return path[:1] not in ("", "<") and not LIBRARY.search(path)


def site(stack):
    python = [p for p in stack or () if p.python]
    mine = [p for p in python if users(p.file)]
    callers = [p for p in stack or () if not p.python and not p.image.split("/")[-1].startswith(("libcuda.so", "libcudart.so", "libnvToolsExt.so"))
               and not re.match(r"cuda|cu[A-Z]|__cuda|__device_stub__|nvtx", p.function)]
    native = [p for p in callers if p.file and p.line]
    outside = callers
    return (mine or python or native or outside or [None])[0]


# ---- events

CALL = {}
for r in ROWS["api"]:
    r["frames"] = STACK.get((r["process"], r["stack"]))
    CALL[r["process"], r["corr"]] = r
GPU = []
for kind in ("kernel", "graph", "memcpy", "memset"):
    launched = set()
    for r in ROWS[kind]:
        r["kind_of"] = r.get("kind")        # of a copy
        r["kind"] = kind
        r["call"] = CALL.get((r["process"], r["corr"]))
        r["frames"] = r["call"]["frames"] if r["call"] else None
        r["ns"] = r["duration"] if r["start"] or r["duration"] else None
        GPU.append(r)
for r in ROWS["sample"]:
    r["frames"] = STACK.get((r["process"], r["stack"]))
BEGUN = {(r["process"], r["range"]): r["stack"] for r in ROWS["range_stack"]}
for r in ROWS["range"]:
    r["frames"] = STACK.get((r["process"], BEGUN.get((r["process"], r["id"]))))
RANGES = [r for r in ROWS["range"] if r["frames"]]

HAS_CALLS = any(r["stack"] for r in ROWS["api"])
RATES = {next((a["text"][12:] for a in ROWS["attribute"] if a["process"] == p and a["text"].startswith("sampling.hz=")), "")
         for p in {r["process"] for r in ROWS["sample"]}}
HZ = float(min(RATES) or 0) if len(RATES) == 1 else 0
HAS_SAMPLES = bool(ROWS["sample"])
HAS_RANGES = bool(ROWS["range_stack"])


def api_name(name, any_version=True):
    return re.sub(r"_v\d{4}\d*$" if any_version else r"_v\d{4}$", "", name)


def kernel_name(r):
    if r["kind"] == "graph":
        return "CUDA graph"
    m = re.match(r"_Z(\d+)", r["name"])
    return r["name"][m.end():m.end() + int(m[1])] if m else r["name"]


def firsts(rows):
    seen, out = set(), []
    for r in rows:
        key = r["process"], r["corr"]
        if r["call"] and key not in seen:
            seen.add(key)
            out.append(r)
    return out


KERNELS = [r for r in GPU if r["kind"] in ("kernel", "graph")]
LAUNCHED = {id(r) for r in firsts(KERNELS)}


def tenths(part, whole):
    return (part * 2000 + whole) // (2 * whole) / 10 if whole else 0
