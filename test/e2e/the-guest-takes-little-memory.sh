#!/bin/sh
# Memory of the injected object in a program: little before recording, bounded if the program limits or locks memory, and freed after use.
# also on the pipe
. "$(dirname "$0")/lib.sh"

program='
	PROGRAM=$GPROF_BUILD/test/programs/memory_limits
	need "$PROGRAM" "NVTX programs are not built"
	OBJECT=$GPROF_BUILD/lib/gprof/libgprof_inject.so
	# value LINE NAME FILE
	value() { awk -v line="$1" -v name="$2" "\$1 == line { for (i = 2; i < NF; i += 2) if (\$i == name) print \$(i + 1) }" "$3"; }
	# most WHAT GOT LIMIT
	most() { [ "$2" -le "$3" ] || fail "$1: $2 KiB, more than $3"; }
'

it 'at most 256 KiB of .bss in every process' "$program"'
	need size
	size -A "$OBJECT" >sections
	bss=$(awk "\$1 == \".bss\" { print \$2 }" sections)
	[ "$bss" -le 262144 ] || fail ".bss has $bss bytes"
'

it 'at most 16 MiB of address space before the first row, and 32 MiB after it where it is limited' "$program"'
	"$PROGRAM" size 2>alone
	gprof-run -q -o t -- "$PROGRAM" size 2>with
	most "before the first row" $(($(value start size with) - $(value start size alone))) 16384
	gprof-run -q -f -o t -- sh -c "ulimit -v 400000; exec \"$PROGRAM\" size" 2>limited
	# The copy of what was sent, which the pipe needs, is as large as the head of an arena.
	room=32768
	[ -z "${GPROF_TEST_TRANSPORT-}" ] || room=45056
	most "after it, with a limit" $(($(value end size limited) - $(value end size alone))) $room
	is 2 "$(gprof-trace dump t.gtrace | grep -c "^range ")" ranges
'

it 'a limit of address space that is set after the first row leaves the program what it would have' "$program"'
	"$PROGRAM" after >want 2>alone
	gprof-run -q -o t -- "$PROGRAM" after >got 2>with
	same want got
	room=32768
	[ -z "${GPROF_TEST_TRANSPORT-}" ] || room=45056
	for who in parent child; do
		most "$who" $(($(value $who size with) - $(value $who size alone))) $room
	done
	is 3 "$(gprof-trace dump t.gtrace | grep -c "^range ")" ranges
'

it 'locking all memory at the usual limit of 8 MiB succeeds as it would' "$program"'
	"$PROGRAM" none >want 2>alone
	gprof-run -q -o t -- "$PROGRAM" none >got 2>with
	same want got
	[ -z "${GPROF_TEST_TRANSPORT-}" ] || skip "on the pipe a process that recorded before has more than 8 MiB"
	"$PROGRAM" current >want 2>alone
	gprof-run -q -f -o t -- "$PROGRAM" current >got 2>with
	same want got
	is 2 "$(gprof-trace dump t.gtrace | grep -c "^range ")" ranges
'

it 'nothing of ours that is mapped later is locked by mlockall(MCL_FUTURE)' "$program"'
	test "$(id -u)" = 0 || skip "needs root, to lock more than the limit"
	"$PROGRAM" future >want 2>alone
	gprof-run -q -o t -- "$PROGRAM" future >got 2>with
	same want got
	# Our object itself was there before; on the pipe the stack of our thread is the C library'"'"'s.
	room=1024
	[ -z "${GPROF_TEST_TRANSPORT-}" ] || room=2100
	most "locked" $(($(value end locked with) - $(value end locked alone))) $room
	is 2 "$(gprof-trace dump t.gtrace | grep -c "^range ")" ranges
'

it 'the pages that a burst of rows filled go back to the system' "$program"'
	[ -z "${GPROF_TEST_TRANSPORT-}" ] || skip "on the pipe they stay in the process"
	gprof-run -q -o t -- "$PROGRAM" burst 8 2>err
	most "shared memory after the burst" "$(value shared then err)" 1500
	[ "$(value shared most err)" -gt 1500 ] || skip "the collector was faster than the burst"
	gprof-trace report -r health --format csv t.gtrace >health
	never_says damaged_rows health
	is $((8 * 16384 + 1)) "$(gprof-trace report -r processes --format csv t.gtrace | awk -F, "NR == 1 { for (i = 1; i <= NF; i++) if (\$i == \"ranges\") c = i } NR == 2 { print \$c }")" ranges
'
