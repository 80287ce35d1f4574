#!/bin/sh
# gprof-ctl and --capture-signal start and stop recording.
# also on the pipe
. "$(dirname "$0")/lib.sh"

cat >"$E2E_ROOT/session.sh" <<'END'
. "$GPROF_TOP/test/e2e/cuda/sim.sh"
# Other tests have sessions at the same time; ours is named.
ctl() { gprof-ctl "$(echo "$TMPDIR"/gprof-??????)" "$@"; }
# begin OPTION...: a program that runs until there is a file ./go, under gprof-run.
begin() {
	need "$P/stepper" "stepper is not built (needs nvcc)"
	gprof-run -f -o t "$@" -- "$P/stepper" 1 nvtx sleep=1 threads="${THREADS-1}" ${WORDS-} until=$PWD/go >out 2>err &
	run=$!
	trap ": >go" EXIT
	within 20 running
}
running() { ctl status 2>/dev/null | grep -q "stepper" && ctl status | awk '$NF == "stepper" { exit $3 == "idle" }'; }
# The program has seen the last order, and it was this.
follows() { ctl status | awk -v want="$1" '$NF == "stepper" { state = $3 } END { exit state != want }'; }
finish() { : >go; wait $run; }
END
export SESSION="$E2E_ROOT/session.sh"

it 'records nothing until it is started, and each start and stop is a window' '
	. "$SESSION"
	begin --start-later
	for i in 1 2 3; do
		ctl start >said
		is "recording: window $i" "$(cat said)"
		sleep 0.1
		ctl stop >said
		is "stopped: window $i" "$(cat said)"
		sleep 0.05
	done
	finish
	gprof-trace report -r windows --format csv t.gtrace >windows
	is 3 "$(tail -n +2 windows | wc -l)"
	is 1 "$(head -n 1 windows | grep -c kernels)"
	gprof-trace report -r windows --format json t.gtrace >windows.json
	"$P/sim_rows" rows t.gtrace >got
	test "$(grep -c kernel got)" -gt 30
'

# The filter ends the thread that fetches GPU rows, and that follows orders while CUPTI sleeps.
it 'is started and stopped after a seccomp filter of the program has ended the flush thread' '
	[ -z "${GPROF_TEST_TRANSPORT-}" ] || skip "on the pipe, a process without the thread of the pipe follows no orders (limits.md)"
	. "$SESSION"
	WORDS=filter
	release 13.3.75         # from 13.0 to 13.1 CUPTI stays on
	begin --start-later
	pid=$(ctl status | awk "\$NF == \"stepper\" { print \$2 }")
	threads() { cat /proc/"$pid"/task/*/comm; }
	settled() { ! kill -0 "$pid" || grep -q "^Seccomp:.*2" /proc/"$pid"/status; }
	within 20 settled
	kill -0 "$pid" || skip "no filter can be installed here"
	! threads | grep -q gprof-flush || fail "the flush thread has not ended"
	for i in 1 2; do
		ctl start >said
		is "recording: window $i" "$(cat said)"
		within 20 follows cuda,nvtx
		sleep 0.1
		ctl stop >said
		is "stopped: window $i" "$(cat said)"
		within 20 follows off
	done
	finish
	gprof-trace report -r windows --format csv t.gtrace >windows
	is 2 "$(tail -n +2 windows | wc -l)"
	test "$(rows api)" -gt 10
'

# 1000 windows as fast as the collector takes orders, by its socket: gprof-ctl itself takes milliseconds to start.
cat >"$E2E_ROOT/thousand.py" <<'END'
import glob, os, socket, time
ctl = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
ctl.connect(glob.glob(os.environ["TMPDIR"] + "/gprof-*/ctl")[0])
def ask(text):
    ctl.send(text.encode())
    answer = ctl.recv(16384).decode()
    assert answer.startswith("ok"), answer
    return answer
def order(text):
    ask(text)
    while not ask("followed").startswith("ok 0 "):
        time.sleep(0.0002)
for _ in range(int(os.environ["WINDOWS"])):
    order("start 3 0")
    time.sleep(0.0005)
    order("stop 3 0")
END
# Each call of the program that lies in a window is a row, and none else is; each launch among them has its kernel, and no other kernel is there.
cat >"$E2E_ROOT/account.py" <<'END'
import json, os, re, subprocess, sys
def dump(kind):
    text = subprocess.run(["gprof-trace", "dump", "--kind", kind, "t.gtrace"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return [dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line)) for line in text.splitlines()]
windows = [(int(w["first_corr"]), int(w["end_corr"])) for w in dump("window")]
api = {int(r["corr"]): r for r in dump("api")}
kernels = [int(r["corr"]) for r in dump("kernel")]
told = {}
for line in open("truth"):
    r = json.loads(line)
    if r["type"] == "api" and r.get("outermost") and r.get("told", True):
        told[r["correlation"]] = r["name"]
inside = {c for c in told if any(a <= c < b for a, b in windows if a)}
launches = {c for c in inside if "Launch" in told[c]}
print(len(windows), len(inside), len(set(api) ^ inside), len(set(kernels) ^ launches), len(kernels) - len(set(kernels)))
END
export THOUSAND="$E2E_ROOT/thousand.py" ACCOUNT="$E2E_ROOT/account.py"

# A guest on the pipe hears an order within 0.1 s, not at its next call.
WINDOWS=1000
[ "${GPROF_TEST_TRANSPORT-}" != pipe ] || WINDOWS=100
export WINDOWS

it 'keeps every row of each of a thousand windows, and none between them' '
	. "$SESSION"
	need python3
	begin --start-later
	python3 "$THOUSAND"
	finish
	python3 "$ACCOUNT" >sums; set -- $(cat sums)
	is "$WINDOWS" "$1" windows
	# A busy machine gives the program little of the half millisecond.
	[ "$2" -gt $((WINDOWS / 10)) ] || fail "only $2 calls lie in $1 windows"
	is "0 0 0" "$3 $4 $5" "API rows, kernels too many or too few, kernels twice"
'

it 'does so with several threads, but for calls that were under way at an edge' '
	. "$SESSION"
	need python3
	THREADS=4
	begin --start-later
	python3 "$THOUSAND"
	finish
	python3 "$ACCOUNT" >sums; set -- $(cat sums)
	is "$WINDOWS" "$1" windows
	test "$3" -le 100 || fail "$3 of $2 API rows are too many or too few"
	test "$4" -le 100 || fail "$4 kernels of $2 calls are too many or too few"
	is 0 "$5" "kernels twice"
'

it 'starts and stops one tracer alone' '
	. "$SESSION"
	begin
	ctl stop cuda
	ctl status >now
	says "recording  nvtx" now
	ctl start cuda
	ctl status >now
	says "recording  cuda,nvtx" now
	finish
'

it 'stops a process that was started alone with all others, and leaves it what was not named' '
	. "$SESSION"
	begin --start-later
	ctl status >now
	one=$(awk '"'"'$NF == "stepper" { print $1 }'"'"' now)
	ctl -p "$one" start cuda
	exits 1 ctl stop nvtx 2>err
	says "these kinds are not being recorded" err
	ctl start nvtx
	within 20 follows cuda,nvtx
	ctl stop nvtx
	within 20 follows cuda
	ctl stop
	within 20 follows off
	exits 1 ctl stop 2>err
	finish
'

it 'puts a mark into the trace' '
	. "$SESSION"
	begin
	ctl mark the second request
	finish
	gprof-trace dump --kind mark t.gtrace >marks
	says "name=\"the second request\"" marks
'

it 'lists the sessions, and asks for a name when there are several' '
	. "$SESSION"
	begin
	gprof-run -q -f -o u -- sleep 60 & other=$!
	within 20 sh -c "gprof-ctl list | grep -q $PWD/t.gtrace && gprof-ctl list | grep -q $PWD/u.gtrace"
	exits 1 gprof-ctl status 2>err
	says "several sessions" err
	for name in u.gtrace u; do
		for folder in . "$PWD"; do
			gprof-ctl "$folder/$name" status >now
			says sleep now
		done
	done
	kill $other
	wait $other || true
	finish
'

it 'starts and stops by a signal to gprof-run, which the program does not get' '
	. "$SESSION"
	begin --start-later --capture-signal=usr2
	kill -USR2 $run
	within 20 follows cuda,nvtx
	kill -USR2 $run
	within 20 follows off
	finish
	is 1 "$(gprof-trace report -r windows --format csv t.gtrace | tail -n +2 | wc -l)"
'

it 'says what cannot be done, in one line' '
	. "$SESSION"
	exits 2 gprof-ctl 2>err
	says "missing command" err
	exits 2 gprof-ctl begin 2>err
	says "unknown command '"'"'begin'"'"'" err
	exits 2 gprof-ctl t.gtrace 2>err
	says "missing command after '"'"'t.gtrace'"'"'" err
	exits 2 gprof-ctl start cuda,osrt 2>err
	says "unknown kind '"'"'osrt'"'"'" err
	exits 2 gprof-ctl mark 2>err
	exits 2 gprof-ctl status now 2>err
	exits 2 gprof-ctl list all 2>err
	exits 2 gprof-ctl -p -1 start 2>err
	exits 1 gprof-ctl /tmp/gprof-nosuch status 2>err
	says "there is no session" err
	begin --start-later
	exits 1 ctl stop 2>err
	says "recording is already off" err
	exits 1 ctl -p 77 start 2>err
	says "no process 77" err
	exits 2 ctl start osrt 2>err
	exits 1 gprof-ctl nosuch status 2>err
	finish
'

it 'answers two controllers at once' '
	. "$SESSION"
	need python3
	begin --start-later
	for who in one two; do
		(i=0; while [ $i -lt 20 ]; do ctl start >>$who; ctl mark $who; ctl stop >>$who 2>&1 || true; i=$((i + 1)); done) &
		eval "$who=$!"
	done
	wait $one
	wait $two
	ctl status >now
	says "recording  off" now
	finish
	is 40 "$(gprof-trace dump --kind mark t.gtrace | grep -c .)"
	python3 "$ACCOUNT" >sums
	set -- $(cat sums)
	is "0 0 0" "$3 $4 $5" "API rows, kernels too many or too few, kernels twice"
'

it 'is nothing for other users' '
	. "$SESSION"
	need setpriv
	[ "$(id -u)" = 0 ] || skip "only root can be another user here"
	begin
	chmod a+x "$TMPDIR"/..  "$TMPDIR" "$PWD" "$PWD/.." "$PWD/../.." 2>/dev/null || true
	session=$(echo "$TMPDIR"/gprof-*)
	exits 1 setpriv --reuid=65534 --clear-groups "$GPROF_BUILD/bin/gprof-ctl" "$session" status 2>err
	grep -qE "belongs to another user|there is no session" err
	finish
'

it 'takes a folder with two names for one' '
	. "$SESSION"
	begin
	XDG_RUNTIME_DIR=$TMPDIR TMPDIR=$TMPDIR/ gprof-ctl mark here
	XDG_RUNTIME_DIR=$TMPDIR TMPDIR=$TMPDIR/ gprof-ctl list >now
	is 1 "$(grep -c t.gtrace now)"
	finish
'

# Whoever may write to /tmp can lay such a folder there, with a socket that never answers.
cat >"$E2E_ROOT/liar.py" <<'END'
import os, socket, sys, time
os.mkdir(sys.argv[1])
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1] + "/ctl")
s.listen(8)
os.chmod(sys.argv[1] + "/ctl", 0o777)
os.chown(sys.argv[1], 65534, 65534)
open("lies", "w").close()
time.sleep(60)
END
export LIAR="$E2E_ROOT/liar.py"

it 'does not speak to what another user has laid there' '
	need python3
	need setpriv
	[ "$(id -u)" = 0 ] || skip "only root can be another user here"
	python3 "$LIAR" "$TMPDIR/gprof-Liar00" &
	liar=$!
	within 20 test -f lies
	chmod a+rx "$TMPDIR/../.." "$TMPDIR/.." "$TMPDIR"
	setpriv --reuid=65533 --clear-groups test -S "$TMPDIR/gprof-Liar00/ctl" || skip "its folders are closed to others"
	setpriv --reuid=65533 --clear-groups "$GPROF_BUILD/bin/gprof-ctl" list >now 2>err
	grep -q Liar now err && fail "$(cat now err)"
	kill $liar
	wait $liar || true
'
