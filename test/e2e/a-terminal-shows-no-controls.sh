#!/bin/sh
. "$(dirname "$0")/lib.sh"

# Names of kernels and files that contain control sequences of terminals.  on.py runs a command on a pseudo-terminal.
SET_UP='
need python3
cat >on.py <<"END"
import os, pty, re, sys
got = b""
def read(fd):
    global got
    data = os.read(fd, 65536)
    got += data
    return b""
status = os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read))
got = re.sub(b"\x1b\\[(1|1;33)m[^\x1b]*\x1b\\[0m", b"", got)     # our own styles
for bad in [b"\x1b", b"\x07", b"\xc2\x9b", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xd8\x9c", b"\x7f"]:
    if bad in got:
        sys.exit("%s: %r in %r" % (sys.argv[1:], bad, got[:2000]))
if not got:
    sys.exit("nothing was shown")
END
python3 - <<"END"
import json
name = "evil\x1b[1m\x1b]0;title\x07 \u009b2J \u202egnp\u2066.exe\u061c\x7f"
event = lambda i: {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * i, "dur": 5, "args": {"stream": 7, "device": 0, "correlation": i}}
json.dump({"traceEvents": [event(i) for i in range(9)]}, open("it.json", "w"))
END
gprof-trace import -q -o it.gtrace it.json
odd=$(printf "n\033[2J\302\233\342\200\256.gtrace")
cp it.gtrace "$odd"
'

it 'on a terminal no name of a file or in one moves the cursor or turns text round' "$SET_UP"'
	for command in report "report -r cuda_gpu_kern_sum" "report -r cuda_gpu_kern_sum -f csv" "report -r cuda_gpu_trace -f json" dump info \
		"info -a" check "check --max-errors 3" "export -f"; do
		python3 on.py gprof-trace $command it.gtrace
		python3 on.py gprof-trace $command "$odd"
	done
	python3 on.py gprof-trace recover "$odd"
	python3 on.py gprof-trace import -f -o "$odd" it.json
	for command in report check dump; do
		python3 on.py gprof-trace $command "no $odd"
	done
'

it 'what goes to a file stays as it is' "$SET_UP"'
	gprof-trace report -r cuda_gpu_kern_sum -f csv it.gtrace >out
	says "$(printf "evil\033[1m\033]0;title\007 \302\2332J \342\200\256gnp\342\201\246.exe\330\234")" out
	gprof-trace check "$odd" >out
	says "$odd" out
'
