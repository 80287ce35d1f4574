# gprof-run passes a signal that only gprof-run received to the program.  A signal to the process group reaches the program once.
# also on the pipe
. "$(dirname "$0")/lib.sh"

export SIGNALS="$GPROF_BUILD/test/programs/signals" ENDS="$GPROF_BUILD/test/programs/ends"

it 'passes signals on that are sent to it alone, each once and in order' '
	need "$SIGNALS"
	gprof-run -q -o run -- "$SIGNALS" log 2>err &
	within 20 test -e log.pid
	for sig in 15 1 2 3 10 34; do
		kill -$sig $!
		within 20 grep -qx $sig log
	done
	kill -USR2 $!
	wait $!
	printf "15\n1\n2\n3\n10\n34\n" >want
	same want log
'

it 'SIGTERM to it alone ends the program, and is how it ends itself' '
	need "$ENDS"
	"$ENDS" how gprof-run -q -o run -- sh -c "echo \$\$ \$PPID >pids; exec sleep 100" 2>err &
	within 20 test -s pids
	read -r program run <pids
	kill -TERM "$run"
	wait $!
	is "signal 15" "$(cat how)"
	test ! -e "/proc/$program"
'

it 'does not double a signal that was sent to the whole group' '
	need "$SIGNALS"
	need "$ENDS"
	"$ENDS" -g how gprof-run -q -o run -- "$SIGNALS" log 2>err &
	within 20 test -e log.pid
	group=$(awk "{ print \$5 }" /proc/$(cat log.pid)/stat)
	env kill -TERM -- -"$group"
	within 20 grep -qx 15 log
	# Two of the same real-time signal stay two, however fast they follow each other.
	for i in 1 2 3; do
		env kill -34 -- -"$group"
		within 20 sh -c "test \$(grep -cx 34 log) -ge $i"
	done
	run=$(awk "{ print \$4 }" /proc/$(cat log.pid)/stat)
	kill -USR1 "$run"
	within 20 grep -qx 10 log
	kill -USR2 "$run"
	wait $!
	printf "15\n34\n34\n34\n10\n" >want
	same want log
	is "exit 0" "$(cat how)"
'

it 'is the only process of ours that pkill finds by its name or its words' '
	need "$SIGNALS"
	need pgrep
	gprof-run -q -o run -- "$SIGNALS" log 2>err &
	within 20 test -e log.pid
	within 20 pgrep -P $! -x run-witness
	is "" "$(pgrep -P $! -f "bin/gprof-run|-o run")"
	is gprof-collector "$(ps -o comm= -p "$(pgrep -P $! gprof)")"
	kill -USR2 $!
	wait $!
'

it 'kill -9 of it leaves the program running, and the trace is finished when that ends' '
	mkfifo go
	gprof-run -q -o run -- sh -c "echo \$\$ >pid; read line <go; echo \$line >went" 2>err &
	within 20 test -s pid
	kill -KILL $!
	wait $! || :
	echo on >go
	within 20 test -s went
	is on "$(cat went)"
	need gprof-trace
	within 20 sh -c "gprof-trace check run.gtrace | grep -q complete"
'

it 'a signal before the program has started is not lost' '
	need "$ENDS"
	need pgrep
	for i in 1 2 3 4 5 6 7 8; do
		"$ENDS" -g how$i gprof-run -q -o run -f -- sleep 100 2>err &
		until child=$(pgrep -P $!); do :; done
		kill -TERM $child
		wait $!
		is "signal 15" "$(cat how$i)"
	done
'

it 'tells the program that the terminal hung up when it leads the session' '
	need script
	need "$SIGNALS"
	script -qec "exec gprof-run -q -o run -- $SIGNALS log" /dev/null >out 2>&1 </dev/zero &
	within 20 test -e log.pid
	kill -9 $!
	within 20 grep -qx 1 log
	kill -USR2 "$(cat log.pid)"
	is 1 "$(grep -cx 1 log)" "the number of hang-ups"
'

it 'gives the program the alarm that was set for it before exec' '
	need perl
	need "$ENDS"
	"$ENDS" how perl -e "alarm 1; exec @ARGV" -- gprof-run -q -o run -- sleep 100 2>err
	is "signal 14" "$(cat how)"
'

it '--duration ends the recording, not the program, unless --kill says so' '
	need "$ENDS"
	exits 3 gprof-run -q -d 0.1 -o run -- sh -c "sleep 0.3; exit 3" 2>err
	"$ENDS" how gprof-run -q -d 0.1 --kill sigterm -o run -f -- sleep 100 2>err
	is "signal 15" "$(cat how)"
	"$ENDS" how gprof-run -q -y 0.1 -d 0.1 --kill=9 -o run -f -- sleep 100 2>err
	is "signal 9" "$(cat how)"
	exits 4 gprof-run -q -d 0.1 --kill none -o run -f -- sh -c "sleep 0.3; exit 4" 2>err
'

it 'waits for the whole tree only with --wait=all, and ^C ends the waiting' '
	mkfifo door
	exits 2 gprof-run -o run -- sh -c "(read x <door; echo late >late) >/dev/null 2>&1 & exit 2" 2>err
	says "processes of the program still run and are recorded into this trace; --wait=all waits for them" "$(tr -s " \n" " " <err >joined; echo joined)"
	echo go >door
	within 20 test -s late
	rm late
	gprof-run -q --wait all -o run -f -- sh -c "(read x <door; echo late >late) >/dev/null 2>&1 & exit 2" 2>err &
	echo go >door
	exits 2 wait $!
	test -s late
	gprof-run -q --wait=all -o run -f -- sh -c "(echo \$PPID >pid; read x <door) >/dev/null 2>&1 & exit 2" 2>err &
	within 20 grep -q "waiting for the processes that it started" err
	kill -INT $!
	exits 2 wait $!
	echo go >door
'
