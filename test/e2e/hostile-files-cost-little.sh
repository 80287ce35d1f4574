#!/bin/sh
. "$(dirname "$0")/lib.sh"

# shapes.py MB...: writes files of this size, each with one shape that could cost a reader quadratic time or much memory.
# cost.py: runs a command and reports its CPU time and memory.  Limits of time leave room for slow machines; quadratic time takes minutes.
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
import glob, os, resource, shutil, subprocess, sys

MEMORY, SECONDS = 500, 5
if b"__asan_init" in open(shutil.which("gprof-trace"), "rb").read():
    MEMORY += 500      # what is freed is kept back for a while

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
	says "has no events; the file ends too early: get a complete copy" err
'

it 'waits for a context with thousands of streams cost little' "$TOOLS"'
	need python3
	python3 - <<"END"
import json
e = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 100000}]
add = lambda cat, name, pid, tid, ts, dur, **args: e.append(dict(ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=ts, dur=dur, args=args))
for i in range(6000):
    add("cuda_runtime", "cudaLaunchKernel", 1, 1, i * 10, 2, correlation=2 * i + 1)
    add("kernel", "k", 0, 7 + i, i * 10 + 3, 5, stream=7 + i, device=0, correlation=2 * i + 1)
    add("cuda_runtime", "cudaDeviceSynchronize", 1, 1, i * 10 + 5, 4, correlation=2 * i + 2)
    add("cuda_sync", "Context Sync", 0, 7 + i, i * 10 + 5, 4, stream=7 + i, device=0, correlation=2 * i + 2)
json.dump({"traceEvents": e}, open("waits.json", "w"))
END
	exits 0 gprof-trace import -q -o waits waits.json
	python3 -c "exec(open(\"cost.py\").read().split(\"for path\")[0]); run(\"waits\", \"report\", \"-r\", \"hta_critical_path:all\", \"waits.gtrace\")" >bad
	[ ! -s bad ] || fail "$(cat bad)"
'

# Shapes of which the square of a number takes more than the 5 s of cost.py, and what each is asked: answers take 10 ms to 500 ms.
LARGE='
cat >large.py <<"END"
X = "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":%d,\"args\":{%s}}"
K = "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":5,\"args\":{\"device\":%d,\"stream\":%d,\"correlation\":%d}}"
loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

def mixed(h, v):
    h = (h ^ v) * 0x9e3779b97f4a7c15 % 2**64
    return h ^ h >> 29

def place(i):
    stream = mixed(mixed(1, 1), i + 1) ^ 12345
    return "\"stream\":%d" % (stream - 2**64 if stream >= 2**63 else stream)

call = lambda name, ts, dur, corr: X % ("cuda_runtime", name, 1, ts, dur, "\"correlation\":%d" % corr)
shapes = {
    "devices": (60000, lambda i: [K % (i, 7, i * 10 + 3, i, 7, i + 1)]),
    "one-correlation": (60000, lambda i: [call("cudaLaunchKernel", i * 10, 2, 1), K % (0, 7, i * 10 + 3, 0, 7, 1)]),
    "places": (60000, lambda i: [X % ("cpu_op", "a", i + 1, i * 10, 5, place(i))]),
    "waits": (60000, lambda i: [call("cudaLaunchKernel", i * 10, 2, i + 1), K % (0, 7 + i, i * 10 + 3, 0, 7 + i, i + 1),
                                call("cudaEventSynchronize", i * 10 + 4, 5, 10**6 + i)]),
    "nodes": (200000, lambda i: [X % ("cpu_op", "autograd::engine::evaluate_function: A", 2 + i, 1000 + i * 10, 5, "")]),
    "loaders": (100000, lambda i: [X % ("user_annotation", loader, 1, i * 10, 5, ""), X % ("cpu_op", "a", 1, i * 10 + 6, 2, "")]),
    "optimizers": (200000, lambda i: [X % ("user_annotation", "Optimizer.step#SGD.step", 1, i, 10**8 - 2 * i, "")]),
}
for name, (n, events) in shapes.items():
    with open(name + ".json", "w") as f:
        f.write("{\"traceEvents\":[" + X % ("user_annotation", "ProfilerStep#1", 1, 0, 10**8, ""))
        for i in range(n):
            f.write(",\n" + ",\n".join(events(i)))
        f.write("]}")
END
cat >asked.py <<"END"
exec(open("cost.py").read().split("for path")[0])
for line in open("asked"):
    shape, report = line.split()
    run(shape, "report", *(["-r", report] if report != "page" else []), shape + ".gtrace")
END
'

it 'of many devices, streams or threads nobody looks at each for each' "$TOOLS$LARGE"'
	need python3
	python3 large.py
	for shape in *.json; do exits 0 gprof-trace import -q -o "${shape%.json}" "$shape" 2>/dev/null; done
	cat >asked <<"END"
devices page
devices idle
devices tb_gpu_summary
devices tb_recommendations
one-correlation hta_cuda_kernel_launch_stats
one-correlation hta_cuda_kernel_launch_stats_summary
places hta_temporal_breakdown
waits critical_path
nodes critical_path
loaders critical_path
optimizers phases
END
	python3 asked.py >bad
	[ ! -s bad ] || fail "$(cat bad)"

	exits 0 gprof-trace report -r hta_cuda_kernel_launch_stats,hta_cuda_kernel_launch_stats_summary one-correlation.gtrace >out
	says "the launches are not listed and not summed: too many calls and GPU rows share a correlation id" out
	exits 0 gprof-trace report -r critical_path waits.gtrace >out
	says "because there are too many streams (60000)" out
'

it 'what a table leaves out because there is too much it says' '
	need python3
	python3 - <<"END"
import json
m = lambda i: {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": i, "s": "t", "args": {
    "Device Type": 1, "Device Id": i % 70, "Addr": i, "Bytes": 512, "Total Allocated": 512, "Total Reserved": 512}}
op = {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 1000}
devices = [{"id": i, "name": "GPU", "totalGlobalMem": 1, "numSms": 1} for i in range(70)]
json.dump({"schemaVersion": 1, "deviceProperties": devices, "traceEvents": [op] + [m(i) for i in range(140)]}, open("many.json", "w"))
devices = [{"id": i, "name": "GPU", "totalGlobalMem": 1, "numSms": 1} for i in (4000000000, 70, 2)]
json.dump({"schemaVersion": 1, "deviceProperties": devices, "traceEvents": [op]}, open("far.json", "w"))
END
	exits 0 gprof-trace import -q -o many many.json
	exits 0 gprof-trace export -f -o again.json many.gtrace
	python3 - <<-"END"
		import json
		devices = json.load(open("again.json"))["deviceProperties"]
		assert [d["id"] for d in devices] == list(range(70)) and all(d["name"] == "GPU" for d in devices), devices
	END
	# A number has no bound.
	exits 0 gprof-trace report -r cuda_devices -f csv many.gtrace >out
	is 71 "$(wc -l <out)" "lines for 70 devices"
	exits 0 gprof-trace import -q -o far far.json
	is "2 70 4000000000" "$(gprof-trace report -r cuda_devices -f csv far.gtrace | cut -d , -f 3 | tail -n +2 | tr "\n" " " | sed "s/ \$//")" devices
	# Numbers with gaps: a reader that takes the position for the number finds those that GPUs have.
	exits 0 gprof-trace export -f -o again.json far.gtrace
	python3 - <<-"END"
		import json
		devices = json.load(open("again.json"))["deviceProperties"]
		assert [d["id"] for d in devices] == list(range(71)) + [4000000000], devices
		assert [d["id"] for d in devices if "name" in d] == [2, 70, 4000000000], devices
	END
	for report in tb_memory tb_memory_peaks tb_recommendations; do
		exits 0 gprof-trace report -r $report -f csv many.gtrace >out 2>err
		says "allocations on devices after the first 64 are left out: 12" err
	done
'
