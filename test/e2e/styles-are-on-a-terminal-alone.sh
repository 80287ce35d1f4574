#!/bin/sh
# Bold and coloured text: only on a terminal, can be turned off, and never around text from the trace.
. "$(dirname "$0")/lib.sh"

# on.py WIDTH COMMAND...: runs it on a terminal of that width, and prints what the terminal was sent, without carriage returns.
SET_UP='
need python3
unset COLUMNS NO_COLOR
export TERM=xterm
cat >on.py <<"END"
import fcntl, os, pty, struct, sys, termios
got = b""
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 25, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    got += data
sys.stdout.buffer.write(got.replace(b"\r", b""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
cat >plain.py <<"END"
import re, sys
sys.stdout.write(re.sub("\x1b\\[(1|1;33|0)m", "", sys.stdin.read()))
END
python3 - <<"END"
import json
name = "evil\x1b[1;33mname\x1b[0m<\u009b1m>(int) of more than forty characters, so that it is folded or cut"
rows = [{"ph": "X", "cat": "kernel", "name": name + str(i % 2), "pid": 0, "tid": 7, "ts": 90 * i, "dur": 5,
         "args": {"stream": 7, "device": 0, "correlation": i}} for i in range(9)]
json.dump({"traceEvents": rows}, open("it.json", "w"))
END
gprof-trace import -q -o it.gtrace it.json
esc=$(printf "\033")
none() { ! grep -q "$esc" "$1" || fail "$2: $(cat "$1")"; }
'

it 'titles, labels and the largest loss stand out on a terminal; the text is that of a pipe' "$SET_UP"'
	python3 on.py 80 gprof-trace report it.gtrace >page
	grep -qF "  $esc[1mholds$esc[0m     " page || fail "$(cat page)"
	grep -qF "$esc[1;33mlargest loss: GPU idle time$esc[0m." page || fail "$(cat page)"
	python3 plain.py <page >out
	gprof-trace report it.gtrace >pipe
	cmp out pipe
	for width in 60 80 120; do
		for report in cuda_gpu_kern_sum cuda_gpu_trace,idle "list --all"; do
			case $report in list*) ;; *) report="-r $report" ;; esac
			python3 on.py $width gprof-trace report $report it.gtrace >table
			grep -qE "^$esc\[1m( \*\* |Start here)" table || fail "$(cat table)"
			python3 plain.py <table >out
			COLUMNS=$width gprof-trace report $report it.gtrace >pipe
			cmp out pipe
		done
	done
	python3 on.py 80 gprof-trace info it.gtrace >info
	grep -qF "  $esc[1mfile$esc[0m       " info || fail "$(cat info)"
	python3 plain.py <info >out
	COLUMNS=80 gprof-trace info it.gtrace >pipe
	cmp out pipe
'

it 'what the page of gprof-run warns of stands out' "$SET_UP"'
	python3 on.py 80 gprof-run -o it -f -- true >page
	grep -qF "$esc[1;33mno CUDA$esc[0m   " page || fail "$(cat page)"
	gprof-run -o it -f -- true 2>page
	none page "stderr is a file"
	NO_COLOR=1 python3 on.py 80 gprof-run -o it -f -- true >page
	none page "NO_COLOR"
'

it 'NO_COLOR, a dumb terminal, pipes, files, CSV and JSON have no styles' "$SET_UP"'
	for report in "" "-r cuda_gpu_kern_sum"; do
		NO_COLOR=1 python3 on.py 80 gprof-trace report $report it.gtrace >out
		none out NO_COLOR
		NO_COLOR= python3 on.py 80 gprof-trace report $report it.gtrace >out
		says "$esc[1m" out
		TERM=dumb python3 on.py 80 gprof-trace report $report it.gtrace >out
		none out TERM=dumb
		env -u TERM python3 on.py 80 gprof-trace report $report it.gtrace >out
		none out "no TERM"
		gprof-trace report $report it.gtrace >out
		none out "a file"
		gprof-trace report $report it.gtrace | cat >out
		none out "a pipe"
		python3 on.py 80 gprof-trace report $report --color=never it.gtrace >out
		none out --color=never
		NO_COLOR=1 gprof-trace report $report --color=always it.gtrace >out
		says "$esc[1m" out
	done
	for format in csv json; do
		python3 on.py 80 gprof-trace report -r cuda_gpu_kern_sum -f $format --color=always it.gtrace >out
		none out $format
	done
	python3 on.py 80 gprof-trace report -r cuda_gpu_kern_sum --color=always -o table it.gtrace >out
	none table "the file of -o"
	exits 2 gprof-trace report --color=some it.gtrace 2>err
	says "color must be one of auto always never" err
'
