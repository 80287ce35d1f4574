#!/bin/sh
. "$(dirname "$0")/lib.sh"

# shapes.py MB...: files of that size, each of one shape that makes somebody look again and again, or keep what is not needed.
# cost.py: what a command took of each.  Times are CPU seconds with room for slow machines: the square of a size is minutes.
TOOLS='
cat >shapes.py <<"END"
import struct, sys

SIZE = 1500000
X = "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":%d}"
K = "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"stream\":%d,\"device\":%d,\"correlation\":%d}}"
BIG = 10**9
constant = struct.pack("<Q", 0xe7037ed1a0b428db).decode("latin1")
odd = pow(0x9e3779b97f4a7c15, -1, 1 << 64)
place = lambda i: (lambda k: k ^ k >> 32)(((i << 30) | (i << 1)) * odd % (1 << 64))

events = {
    "processes": lambda i: X % ("cpu_op", "a", i, 1, i, 5),
    "threads": lambda i: X % ("cpu_op", "a", 1, i, i, 5),
    "names": lambda i: X % ("cpu_op", "n%d" % i, 1, 1, i, 1),
    "categories": lambda i: X % ("c%d" % i, "a", 1, 1, i, 1),
    "categories-of-processes": lambda i: X % ("c%d" % i, "a", i % 64, 1, i, 1),
    "deep": lambda i: X % ("cpu_op", "a", 1, 1, i, BIG - 2 * i),
    "deep-mixed": lambda i: X % (["python_function", "cpu_op", "user_annotation", "cuda_runtime"][i % 4], "a", 1, 1, i, BIG - 2 * i),
    "inner-first": lambda i: X % ("cpu_op", "a", 1, 1, 5, i + 1),
    "backwards": lambda i: X % ("cpu_op", "a", 1, 1, BIG - i * 10, 20 * i + 1),
    "crossing": lambda i: X % ("cpu_op", "a", 1, 1, i * 10, 10**7),
    "begins": lambda i: "{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":%d}" % i,
    "ends": lambda i: "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%d}" % i,
    "pairs": lambda i: "{\"ph\":\"b\",\"name\":\"a\",\"id\":1,\"pid\":1,\"tid\":1,\"ts\":%d}" % i,
    "devices": lambda i: K % (i, i, 1, 7, i, i),
    "streams": lambda i: K % (i, i, 1, i, 0, i),
    "kernels-inside": lambda i: K % (i, i, 10**8 - 2 * i, i, 0, 2**62 + i),
    "steps": lambda i: X % ("user_annotation", "ProfilerStep#%d" % i, 1, 1, i, 10**8),
    "arguments": lambda i: "{\"ph\":\"X\",\"ts\":%d,\"args\":{%s}}" % (i, ",".join("\"k%d\":%d" % (i * 9000 + j, j) for j in range(9000))),
    "keys-of-one-place": lambda i: "{\"ph\":\"X\",\"ts\":1,\"args\":{%s}}" % ",".join("\"%08d%s\":1" % (i * 4000 + j, constant) for j in range(4000)),
    "threads-of-one-place": lambda i: "{\"ph\":\"X\",\"ts\":1,\"pid\":0,\"tid\":%d}" % place(i),
    "times-of-the-end": lambda i: X % ("Trace", "a", 1, 1, 9 * 10**15, 9 * 10**15),
}
pieces = {
    "open": "{\"ph\":", "open-lists": "{\"ph\":[", "far-apart": "{\"ph\":[" + "1" * 1000, "keys": "{\"ph\"x", "texts": "{\"ph\":\"X\",\"name\":\"",
    "quotes": "\"x", "braces": "{", "commas": ",", "words": "a,", "blank": "{\"ph\"" + " " * 1000,
}
for name, event in events.items():
    with open(name + ".json", "w", encoding="latin1") as f:
        n = f.write("{\"traceEvents\":[")
        i = 0
        while n < SIZE:
            n += f.write(("," if i else "") + event(i))
            i += 1
        f.write("]}")
for name, piece in pieces.items():
    open(name + ".json", "w").write("{\"traceEvents\":[" + piece * (SIZE // len(piece)))
END
cat >cost.py <<"END"
import glob, os, resource, subprocess, sys

MEMORY, SECONDS = 500, 5

def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

def run(path, *command):
    p = subprocess.Popen(("gprof-trace",) + command, stdout=subprocess.DEVNULL, stderr=open("err", "wb"), preexec_fn=limit)
    _, status, used = os.wait4(p.pid, 0)
    lines = open("err", "rb").read().count(b"\n")
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) > 1:
        print(path, " ".join(command), "ended with status", status, "after", used.ru_utime + used.ru_stime, "s")
    if command[0] == "import" and lines > 1:
        print(path, "was said more than a line about")
    if used.ru_maxrss > MEMORY << 10:
        print(path, " ".join(command), "took", used.ru_maxrss >> 10, "MiB")
    return status

for path in sys.argv[1:] or sorted(glob.glob("*.json")):
    if run(path, "import", "-q", "-f", "-o", "new", path) == 0 and len(sys.argv) == 1:
        run(path, "report", "new.gtrace")
        run(path, "report", "-o", "/dev/null", "-r", "ops,nvtx_sum,steps,phases,critical_path,stats", "-f", "csv", "new.gtrace")
        run(path, "export", "-f", "-o", "back.out", "new.gtrace")
END
'

it 'a hostile file takes neither minutes nor gigabytes' "$TOOLS"'
	need python3
	python3 shapes.py
	python3 cost.py >bad
	[ ! -s bad ] || fail "$(cat bad)"
'

it 'what a file does not need to keep it does not keep' "$TOOLS"'
	need python3
	printf "{\"traceEvents\":[" >zeros; truncate -s 600M zeros
	printf "{\"traceEvents\":[{\"name\":\"" >text; truncate -s 600M text
	printf "{\"traceEvents\":[{\"ph\":1 1," >broken; truncate -s 600M broken
	{ cat zeros; } | gzip -1 >zeros.gz
	sed -i "s/^MEMORY, .*/MEMORY, SECONDS = 300, 20/" cost.py
	python3 cost.py zeros text broken zeros.gz >bad
	[ ! -s bad ] || fail "$(cat bad)"
	exits 1 gprof-trace import -o new text 2>err
	says "longer than 256 MiB" err
	exits 1 gprof-trace import -o new zeros.gz 2>err
	says "without events, and ends in the middle" err
'
