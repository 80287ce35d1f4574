"""read_gtrace.py FILE docs/reference/trace-format.md: prints every row as `gprof-trace dump --raw` does.

Written from docs/reference/trace-format.md alone, and fields are read from its tables: it fails when that page does not say all that a reader in
another language needs.  zstd through its C library, since Python 3.11 has none of its own.
"""
import bisect
import ctypes
import ctypes.util
import json
import re
import struct
import sys
import zlib

zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def unzstd(data, size):
    out = ctypes.create_string_buffer(size)
    assert zstd.ZSTD_decompress(out, size, data, len(data)) == size
    return out.raw


def page_records(path):
    """{kind: (name, [(field, type, unit)])} from the tables of the page."""
    records = {}
    for line in open(path, encoding="utf-8"):
        if m := re.match(r"### (\d+) (\w+)$", line):
            fields = []
            records[int(m[1])] = (m[2], fields)
        elif m := re.match(r"\| \d+ \| (\w+) \| ([iu]\d+) \| \w+ \| (.*?) ?\| ", line):
            fields.append((m[1], m[2], m[3].strip()))
    return records


def unzigzag(x):
    return (x >> 1) ^ -(x & 1)


def planes(data, entry, rows):
    x, at = [0] * rows, 0
    for k in range(entry["width"]):
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        plane = data[at:at + (n >> 1)]
        at += n >> 1
        if n & 1:
            plane = unzstd(plane, rows)
        assert len(plane) == rows
        x = [a + (b << 8 * k) for a, b in zip(x, plane)]
    assert at == len(data)
    return x


def column(entry, data, rows, kind, duration):
    mask = (1 << int(kind[1:])) - 1
    x = planes(data, entry, rows)
    base, encoding = entry["base"], entry["encoding"]
    if encoding == 0:
        v = [base + a for a in x]
    elif encoding == 1:
        v = [unzigzag((base + a) & mask) for a in x]
    else:
        v = [base]
        for i in range(1, rows):
            v.append(v[-1] + unzigzag(x[i]) + (duration[i - 1] if encoding == 3 else 0))
    v = [a & mask for a in v]
    if kind[0] == "i":
        v = [a - mask - 1 if a > mask >> 1 else a for a in v]
    return v


def body(head, data, fields):
    at, parts = head["columns"] * 16, {}
    for i in range(head["columns"]):
        ident, encoding, width, stored, base = struct.unpack_from("<HBBIQ", data, i * 16)
        parts[ident] = ({"encoding": encoding, "width": width, "base": base}, data[at:at + stored])
        at += stored
    assert at == len(data)
    values, tails = {}, b""
    if 65535 in parts:
        entry, part = parts[65535]
        at = next(i for i, byte in enumerate(part) if byte < 128) + 1
        n = sum((byte & 127) << 7 * i for i, byte in enumerate(part[:at]))
        tails = unzstd(part[at:], entry["base"]) if n & 1 else part[at:]
        assert len(tails) == entry["base"]
    # `duration` first: a column of gaps needs it
    order = sorted(range(len(fields)), key=lambda f: fields[f][0] != "duration")
    for f in order:
        name, kind, _ = fields[f]
        if f in parts:
            values[name] = column(*parts[f], head["rows"], kind, values.get("duration"))
        else:
            values[name] = [0] * head["rows"]
    return values, tails


def chunks(data):
    assert data[:8] == b"gtrace\r\n" and zlib.crc32(data[:124]) == struct.unpack_from("<I", data, 124)[0]
    session, at = struct.unpack_from("<Q", data, 16)[0], 128
    while at + 64 <= len(data):
        names = "magic session kind clock version process rows columns first last stored raw body_crc crc".split()
        head = dict(zip(names, struct.unpack_from("<QQHBBIIIqqIIII", data, at)))
        if head["magic"] != 0x6b6e756863746721:
            break
        stored = data[at + 64:at + 64 + head["stored"]]
        assert head["session"] == session and zlib.crc32(data[at:at + 60]) == head["crc"]
        assert zlib.crc32(stored) == head["body_crc"]
        if head["kind"] != 65535:
            yield head, stored
        at = (at + 64 + head["stored"] + 7) // 8 * 8


class Clock:
    """Trace time by whole divisions.  Steps of the wall clock are left out: the files of the test have none."""

    def __init__(self, points):
        self.points = points = sorted(points)  # (mono, tsc, real)
        self.base = points[0][2] - points[0][0] if points else 0

    def linear(self, t, axis):
        keys = [p[axis] for p in self.points]
        i = bisect.bisect_right(keys, t) - 1
        a = self.points[max(i, 0)]
        if 0 <= i < len(keys) - 1:
            low, high = a, self.points[i + 1]
        else:
            low, high = self.points[0], self.points[-1]
        if axis == 2 and not 0 <= i < len(keys) - 1:
            return t - a[2] + a[0]
        return a[0] + (t - a[axis]) * (high[0] - low[0]) // (high[axis] - low[axis])

    def time(self, t, clock):
        if t == 0 or clock == 0 or not self.points:
            return t
        return self.base + (t if clock == 2 else self.linear(t, 1 if clock == 1 else 2))

    def length(self, n, clock):
        if clock != 1 or not self.points:
            return n
        (m0, t0, _), (m1, t1, _) = self.points[0], self.points[-1]
        return (2 * n * (m1 - m0) + t1 - t0) // (2 * (t1 - t0))


def convert(values, fields, clock, chunk_clock):
    out = dict(values)
    for name, _, unit in fields:
        on = 3 if unit.startswith("GPU") else chunk_clock
        if unit.endswith("time"):
            out[name] = [clock.time(t, on) for t in values[name]]
        elif unit.endswith("length") and "start" in values:
            out[name] = [clock.time(s + d, on) - clock.time(s, on) if s else clock.length(d, on)
                         for s, d in zip(values["start"], values[name])]
        elif unit.endswith("length"):
            out[name] = [clock.length(d, on) for d in values[name]]
    return out


def main():
    data, records = open(sys.argv[1], "rb").read(), page_records(sys.argv[2])
    parsed = [(head, *body(head, stored, records[head["kind"]][1])) for head, stored in chunks(data) if head["kind"] in records]
    points = {}
    for head, values, _ in parsed:
        if records[head["kind"]][0] == "clock" and head["process"] == 0:
            for mono, tsc, real in zip(values["mono"], values["tsc"], values["real"]):
                points.setdefault(mono, (mono, tsc, real))
    clock = Clock(points.values())
    for head, values, tails in parsed:
        name, fields = records[head["kind"]]
        values = convert(values, fields, clock, head["clock"])
        for i in range(head["rows"]):
            line = [name, f"process={head['process']}"]
            for field, _, unit in fields:
                line.append(f"{field}={values[field][i]:#x}" if unit == "bits" else f"{field}={values[field][i]}")
                if unit == "tail":
                    text, tails = tails[:values[field][i]], tails[values[field][i]:]
            if any(unit == "tail" for _, _, unit in fields):
                line.append("text=" + json.dumps(text.decode(errors="replace"), ensure_ascii=False))
            print(" ".join(line))


main()
