#!/bin/sh
# gprof-ctl and --capture-signal.
# also on the pipe
. "$(dirname "$0")/lib.sh"

cat >"$E2E_ROOT/session.sh" <<'END'
. "$GPROF_TOP/test/e2e/cuda/sim.sh"
# begin OPTION...: a program that runs until there is a file ./go, under gprof-run.
begin() {
	need "$P/stepper" "stepper is not built (needs nvcc)"
	gprof-run -f -o t "$@" -- "$P/stepper" 1 nvtx sleep=1 threads="${THREADS-1}" until=$PWD/go >out 2>err &
	run=$!
	within 20 running
}
running() { gprof-ctl status 2>/dev/null | grep -q "stepper" && gprof-ctl status | awk '$NF == "stepper" { exit $3 == "idle" }'; }
# The program has seen the last order, and it was this.
follows() { gprof-ctl status | awk -v want="$1" '$NF == "stepper" { state = $3 } END { exit state != want }'; }
finish() { : >go; wait $run; }
END
export SESSION="$E2E_ROOT/session.sh"

it 'records nothing until it is started, and each start and stop is a window' '
	. "$SESSION"
	begin --start-later
	for i in 1 2 3; do
		gprof-ctl start >said
		is "recording: window $i" "$(cat said)"
		sleep 0.1
		gprof-ctl stop >said
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

it 'keeps every row of every window of a thousand, and none between them' '
	. "$SESSION"
	THREADS=3
	begin --start-later
	i=0
	while [ $i -lt 50 ]; do
		gprof-ctl start >/dev/null
		gprof-ctl stop >/dev/null
		i=$((i + 1))
	done
	finish
	is 50 "$(gprof-trace report -r windows --format csv t.gtrace | tail -n +2 | wc -l)"
'

it 'starts and stops one tracer alone' '
	. "$SESSION"
	begin
	gprof-ctl stop cuda
	gprof-ctl status >now
	says "recording  nvtx" now
	gprof-ctl start cuda
	gprof-ctl status >now
	says "recording  cuda,nvtx" now
	finish
'

it 'puts a mark into the trace' '
	. "$SESSION"
	begin
	gprof-ctl mark the second request
	finish
	gprof-trace dump --kind mark t.gtrace >marks
	says "name=\"the second request\"" marks
'

it 'lists the sessions, and asks for a name when there are several' '
	. "$SESSION"
	begin
	gprof-run -q -f -o u -- sleep 60 & other=$!
	within 20 sh -c "test \$(gprof-ctl list | wc -l) = 2"
	exits 1 gprof-ctl status 2>err
	says "several sessions" err
	gprof-ctl u.gtrace status >now
	says sleep now
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
	exits 1 gprof-ctl start 2>err
	says "no session is running" err
	exits 2 gprof-ctl 2>err
	exits 2 gprof-ctl begin 2>err
	exits 1 gprof-ctl /tmp/gprof-nosuch status 2>err
	says "there is no session" err
	begin --start-later
	exits 1 gprof-ctl stop 2>err
	says "not recording" err
	exits 1 gprof-ctl -p 77 start 2>err
	says "no process 77" err
	exits 2 gprof-ctl start osrt 2>err
	exits 1 gprof-ctl nosuch status 2>err
	finish
'
