#!/bin/sh
# Exit status, signal and CPU time of each process, whichever process waits for it.  A process that calls exec stays one process.
# also on the pipe
. "$(dirname "$0")/lib.sh"

ENDS='
	# ended NAME: what processes of that name ended with, by pid.
	ended() { gprof-trace report -r processes --format csv run.gtrace 2>/dev/null | grep -E ",$1\$" | cut -d, -f16 | sort | tr "\n" " "; }
	page() { gprof-trace report run.gtrace | sed -n "s/^  ended     //p"; }
'

it 'the program itself: exit 0, exit 3, abort, SIGSEGV, SIGKILL' "$ENDS"'
	while read -r status how what; do
		exits "$status" gprof-run -q -f -o run -- sh -c "$what" 2>err
		is "$how " "$(ended sh | tr " " _ | sed s/_\$/\ /)" "$what"
		is "$(echo "$how" | sed "s/^SIG/killed by SIG/; s/_/ /")" "$(page)" "the page after $what"
	done <<-END
		0 exit_0 :
		3 exit_3 exit 3
		134 SIGABRT kill -ABRT \$\$
		139 SIGSEGV kill -SEGV \$\$
		137 SIGKILL kill -KILL \$\$
	END
'

it 'children that their parent waits for at once, and the program that goes on' "$ENDS"'
	# Linux 6.15 tells it after the parent, too; before, whoever is quicker.  They live until the collector has heard of them.
	gprof-run -q -f -o run -- sh -c "sh -c \"sleep 1; kill -KILL \\\$\\\$\"; sh -c \"sleep 1; exit 7\"; sh -c \"sleep 1; kill -ABRT \\\$\\\$\"; exit 0" 2>err
	newer=$(printf "6.15\n%s\n" "$(uname -r)" | sort -V | head -n 1)
	is "exit 0" "$(page)" "the page, whose program caught it all"
	[ "$newer" = 6.15 ] || skip "this kernel tells the parent alone how its child ended"
	is "SIGABRT SIGKILL exit 0 exit 7 " "$(ended sh)" "ends of the four"
'

it 'an exec chain and a wrapper are one process with the names of its images' "$ENDS"'
	need python3
	exits 5 gprof-run -q -o run -- sh -c "exec env A=1 sh -c \"exec nice sh -c \\\"exit 5\\\"\"" 2>err
	gprof-trace report -r processes --format csv run.gtrace >processes
	is 2 "$(wc -l <processes)" "lines of the report"
	is "exit 5,execed ended,sh -> env -> sh -> nice -> sh" "$(tail -n 1 processes | cut -d, -f16-)"
	gprof-trace report run.gtrace >page
	says "holds     1 process (" page
	gprof-trace info run.gtrace >info
	says "ended      exit 5" info
	# Its children know it by the same number, whichever of its images started them.
	gprof-run -q -f -o run -- sh -c "sleep 0.01; exec sh -c \"sleep 0.01; exit 0\""
	gprof-trace report -r processes --format csv run.gtrace >processes
	is "1 1 " "$(grep ,sleep processes | cut -d, -f3 | tr "\n" " ")" "parents of both"
'

it 'rows of both images are kept and exported' "$ENDS"'
	need "$GPROF_BUILD/sim/libcuda.so.1"
	need "$GPROF_BUILD/test/programs/driver_api" "programs are not built"
	export LD_LIBRARY_PATH=$GPROF_BUILD/sim
	cat >twice.py <<-PY
		import ctypes, os, sys
		libc = ctypes.CDLL("$GPROF_BUILD/sim/libcuda.so.1")
		assert libc.cuInit(0) == 0
		count = ctypes.c_int()
		for i in range(5): libc.cuDeviceGetCount(ctypes.byref(count))
		os.execv("$GPROF_BUILD/test/programs/driver_api", ["driver_api", "7"])
	PY
	gprof-run -q -o run -- python3 twice.py >said
	gprof-trace report -r processes --format csv run.gtrace >processes
	is 1 "$(grep -c -- "-> driver_api\$" processes)" "processes that became driver_api"
	grep -- "-> driver_api\$" processes | cut -d, -f10 | grep -qx 7 || fail "kernels: $(cat processes)"
	number=$(grep -- "-> driver_api\$" processes | cut -d, -f1)
	gprof-trace export -q -p "$number" -o one.json run.gtrace 2>/dev/null || gprof-trace export -p "$number" -o one.json run.gtrace >/dev/null
	is 7 "$(grep -c "\"cat\": *\"kernel\"" one.json)" "kernels of the export of that process"
'

it 'CPU time and wall time are those that the program measures' "$ENDS"'
	need python3
	cat >spin.py <<-PY
		import os, threading, time
		def child(cpu, nap):
		    while time.process_time() < cpu: pass
		    time.sleep(nap)
		start = time.monotonic()
		child(0.3, 0.4)
		pid = os.fork()
		if not pid:
		    child(0.2, 0.1)
		    os._exit(4)
		os.waitpid(pid, 0)
		print(os.getpid(), pid, time.process_time(), time.monotonic() - start)
	PY
	begin=$(date +%s%N)
	gprof-run -q -o run -- python3 spin.py >said
	export all=$(($(date +%s%N) - begin))
	gprof-trace report -r processes --format csv run.gtrace >processes 2>notes
	python3 - <<-PY
		import csv, os
		main, child, cpu, wall = open("said").read().split()
		rows = {r["pid"]: r for r in csv.DictReader(open("processes"))}
		m, c = rows[main], rows[child]
		assert m["ended"] == "exit 0" and c["ended"] == "exit 4", (m, c)
		assert float(cpu) <= int(m["cpu_ns"]) / 1e9 < float(cpu) + 0.3, m
		assert float(wall) * 1e9 <= int(m["wall_ns"]) < int(os.environ["all"]), m
		assert 0.3 <= int(c["wall_ns"]) / 1e9 < float(wall), c
		assert not c["cpu_ns"] or 0.2 <= int(c["cpu_ns"]) / 1e9 < 0.35, c
		assert m["samples"] == c["samples"] == "", "nothing was sampled, and that is not 0"
	PY
'

it 'a process that still runs when the trace is closed is said to run' "$ENDS"'
	gprof-run -q -o run --wait=primary -- sh -c "sleep 3 & exit 0" 2>err
	within 20 sh -c "gprof-trace check run.gtrace"
	is "exit 0 " "$(ended sh)"
'

it 'the rank that was killed first, apart from those that torchrun ended then' "$ENDS"'
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python"; do
		"$python" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "torch is not to be had here"
	cat >rank.py <<-PY
		import os, signal, time
		import torch.distributed as dist, torch
		dist.init_process_group("gloo")
		dist.all_reduce(torch.ones(4))
		if dist.get_rank() == 1:
		    os.kill(os.getpid(), signal.SIGKILL)
		time.sleep(20)
	PY
	exits 1 gprof-run -q -o run -- "$judge" -W ignore -m torch.distributed.run --standalone --nproc_per_node=2 rank.py >out 2>err
	gprof-trace report run.gtrace >page
	grep -A2 "^  ended" page | tr "\n" " " | tr -s " " >line
	grep -qE "ended rank 1 \(pid [0-9]+\) killed by SIGKILL at [0-9.]+ s; then rank 0 \(pid [0-9]+\) killed by SIGTERM at [0-9.]+ s; then python[0-9.]* \(pid [0-9]+\) exit 1 at" line ||
		fail "$(cat line)"
	gprof-trace report -r processes --format csv run.gtrace >processes
	is 1 "$(cut -d, -f4,16 processes | grep -cx 1,SIGKILL)" "ranks 1 that were killed"
	is 1 "$(cut -d, -f4,16 processes | grep -cx 0,SIGTERM)" "ranks 0 that were terminated"
'
