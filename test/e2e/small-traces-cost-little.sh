#!/bin/sh
. "$(dirname "$0")/lib.sh"

# mk.py: makes small traces with many rows: a column of one value takes 16 bytes, whatever the number of rows.  cost.py COMMAND...: runs the
# command and fails if it takes too much memory.
TOOLS='
cat >mk.py <<"END"
import struct, sys, zlib

SESSION, KIND = 7, {"string": 1, "kernel": 40, "process": 60, "range": 20, "mark": 21}
SIZE = {"string": 8, "kernel": 64, "process": 40, "range": 88, "mark": 56}

def sealed(b):
    return b + struct.pack("<I", zlib.crc32(b))

def header():
    return sealed(struct.pack("<8sIIQ16sqq64sI", b"gtrace\r\n", 1, 128, SESSION, bytes(16), 10**18, 10**9, b"host", 0))

def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])

def repeated(n):
    """n equal bytes as a zstd frame of blocks of one repeated byte."""
    out = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", n)
    while n:
        k = min(n, 128 << 10)
        n -= k
        out += struct.pack("<I", k << 3 | 2 | (n == 0))[:3] + b"a"
    return out

def column(f, encoding, base, body=b"", width=0):
    return struct.pack("<HBBIQ", f, encoding, width, len(body), base), body

def chunk(kind, rows, columns, process=1, tails=0, raw=None):
    body = b"".join(c[0] for c in columns) + b"".join(c[1] for c in columns)
    raw = rows * SIZE[kind] + tails if raw is None else raw
    head = struct.pack("<QQHBBIIIqqIII", 0x6b6e756863746721, SESSION, KIND[kind], 2, 1, process, rows, len(columns), 0, 0, len(body), raw, zlib.crc32(body))
    out = sealed(head) + body
    return out + bytes(-len(out) % 8)

def tail(n):
    z = repeated(n)
    return column(0xffff, 4, n, varint(len(z) << 1 | 1) + z, 1)

def write(name, *parts):
    h = header()
    open(name, "wb").write(h + bytes(-len(h) % 8) + b"".join(parts))

M64 = 64 << 20
one = [column(0, 0, 5)]
process = chunk("process", 1, [column(0, 0, 1), column(2, 0, 1)], 0)
long = 4 << 20
kernels = [column(0, 0, 1000), column(1, 0, 10), column(7, 0, 7)]
traces = {
    "kernels": [process] + [chunk("kernel", M64 // 8, one, raw=M64)] * 100,
    "processes": [chunk("process", M64 // 40, one, 0)] * 20,
    "chunk": [process, chunk("kernel", M64 // 8, one, raw=M64)],
    "tails": [process] + [chunk("string", 1, [column(0, 0, i + 1), column(1, 0, M64), tail(M64)], raw=8) for i in range(20)],
    "names": [process, chunk("string", 1, [column(0, 0, 1), column(1, 0, long), tail(long)], tails=long),
              chunk("kernel", 100000, kernels + [column(4, 0, 1)])],
    "fits": [process, chunk("kernel", 100000, kernels)],
    "more": [process] + [chunk("kernel", 500000, kernels)] * 3,
}
for name, parts in traces.items():
    write(name + ".gtrace", *parts)
END
cat >cost.py <<"END"
import os, subprocess, sys
p = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(p.pid, 0)
if used.ru_maxrss >> 10 > int(sys.argv[1]):
    sys.exit("%s took %d MiB" % (" ".join(sys.argv[2:]), used.ru_maxrss >> 10))
sys.exit(os.waitstatus_to_exitcode(status) and 1)
END
need python3
python3 mk.py
[ "$(stat -c %s kernels.gtrace)" -lt 10000 ]
'

it 'a trace of a few kB that says gigabytes of rows is refused in one line' "$TOOLS"'
	for name in kernels processes chunk; do
		for command in info report "report -r cuda_gpu_kern_sum" "export -o out" dump check recover; do
			cp $name.gtrace it.gtrace
			exits 1 python3 cost.py 100 gprof-trace $command it.gtrace 2>err
			[ "$(wc -l <err)" = 1 ] || fail "$command: $(cat err)"
			grep -q "it.gtrace. has [0-9]* kB, but its rows would take [0-9]* MB" err || fail "$(cat err)"
			says "--no-unpack-limit" err
		done
	done
	[ ! -e out ]
'

it 'a chunk holds no more text than it says' "$TOOLS"'
	python3 cost.py 100 gprof-trace report tails.gtrace 2>err
	says "its columns make no sense" err
	exits 0 python3 cost.py 100 gprof-trace info tails.gtrace
'

it 'one long name does not make an export of gigabytes' "$TOOLS"'
	exits 1 python3 cost.py 200 gprof-trace export -o out names.gtrace 2>err
	says "out" err
	says "it would be larger than 1073.7 MB, from a trace of 1 kB; if you trust the trace, use --no-unpack-limit" err
	[ ! -e out ] && [ ! -e out.part ] || fail "$(ls)"
	exits 1 python3 cost.py 200 gprof-trace report -r cuda_gpu_trace -f csv names.gtrace 2>err
	says "use --no-unpack-limit" err
	exits 0 python3 cost.py 200 gprof-trace report names.gtrace
'

it 'traces of equal rows are read, and any are where it is asked for' "$TOOLS"'
	exits 0 python3 cost.py 200 gprof-trace export -o out fits.gtrace
	exits 1 gprof-trace info more.gtrace 2>err
	gprof-trace info --no-unpack-limit more.gtrace >out
	grep -q "kernel  *1,500,000" out || fail "$(cat out)"
	gprof-trace recover --no-unpack-limit more.gtrace
	gprof-trace check --no-unpack-limit more.gtrace
'
