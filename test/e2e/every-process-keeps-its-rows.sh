#!/bin/sh
# Many processes at once: each is in the trace with all its rows.  Processes without rows make no system call for the injected object.
# also on the pipe
. "$(dirname "$0")/lib.sh"

row_less=$GPROF_BUILD/test/programs/row_less
# Lines of the roster that were lost.
lost='gprof-trace report -r health --format csv run.gtrace | awk -F, "\$3 == \"roster_lost\" { n += \$4 } END { print n + 0 }"'
# "number parent" of each process.
tree='gprof-trace dump -k process run.gtrace | sed -n "s/.* number=\([0-9]*\) .* parent=\([0-9]*\) .*/\1 \2/p" | sort -u'
spawned=$GPROF_BUILD/test/programs/spawned
# What is known to be missing, but that the pipe was used.
missing='gprof-trace report -r health --format csv run.gtrace | tail -n +2 | grep -v pipe_used'
# Rows that the pipe is known to lack: processes wait at most 2 s for room in it, which a busy machine may not have.
unsent='gprof-trace report -r health --format csv run.gtrace | awk -F, "\$3 == \"pipe_left\" { n += \$4 } \$3 == \"refused\" { n += 1100 } END { print n + 0 }"'
# whole PROCESSES COMMAND...: each of them has its 1,100 ranges in the trace, in one process of the table, and nothing is missing.
whole='
	need "$spawned" "NVTX programs are not built"
	whole() {
		n=$1
		shift
		exits 0 ${as-} gprof-run -q -f -o run -- "$@" >said
		says "bad 0" said
		gprof-trace report -r processes --format csv run.gtrace >table
		if [ "$GPROF_TEST_TRANSPORT" ]; then
			rows=$(gprof-trace dump -k range run.gtrace | wc -l)
			[ $((rows + $(eval "$unsent"))) -ge $((n * 1100)) ] || fail "$rows rows came, $(eval "$unsent") are known to be missing"
			return
		fi
		is "$n" "$(cut -d, -f12 table | grep -cx 1100)" "processes with all their ranges"
		is "" "$(eval "$missing" || :)" "what is missing"
	}
'
GPROF_TEST_TRANSPORT=${GPROF_TEST_TRANSPORT-}
export row_less lost tree spawned missing unsent GPROF_TEST_TRANSPORT

it 'makes no system call in a forked child that records nothing' '
	need "$row_less" "test programs are not built"
	"$row_less" 1 || skip "without us it ends with status $?: no such filter can be had here"
	exits 0 gprof-run -q -o run -- "$row_less" 200
	eval "$tree" >rows
	is 201 "$(wc -l <rows)" processes
	is 200 "$(grep -c " 1$" rows)" "children of the program"
	is 0 "$(eval "$lost")" "lines lost"
'

it 'counts the children that found no place on the board' '
	need "$row_less" "test programs are not built"
	"$row_less" 1 || skip "without us it ends with status $?: no such filter can be had here"
	cat >stopped.sh <<-"SH"
		collector=$(pgrep -f -- "--session $GPROF_SESSION")
		kill -STOP "$collector"
		"$row_less" 4200
		kill -CONT "$collector"
	SH
	exits 0 gprof-run -q -o run -- sh stopped.sh
	eval "$tree" >rows
	lost=$(eval "$lost")
	[ "$lost" -gt 100 ] || fail "$lost lines were lost"
	[ $(($(wc -l <rows) + lost)) -ge 4202 ] || fail "$(wc -l <rows) processes, $lost lost"
'

it 'keeps the rows of processes that the collector does not answer' "$whole"'
	cat >stopped.sh <<-"SH"
		collector=$(pgrep -f -- "--session $GPROF_SESSION")
		kill -STOP "$collector"
		"$spawned" 8 100 0 1000
		kill -CONT "$collector"
	SH
	whole 8 sh stopped.sh
'

# Other processes can take the time away, so the best of five runs counts.  On the pipe nothing but the wait is asked of it.
it 'waits at most 200 ms in the first call of a process that the collector does not answer' '
	need "$spawned" "NVTX programs are not built"
	cat >stopped.sh <<-"SH"
		collector=$(pgrep -f -- "--session $GPROF_SESSION")
		kill -STOP "$collector"
		"$spawned" 2 1 0 0
		kill -CONT "$collector"
	SH
	# The best of ten, and 100 ms more: other programs take time, too.
	for try in 1 2 3 4 5 6 7 8 9 10; do
		exits 0 gprof-run -q -f -o run -- sh stopped.sh >said
		longest=$(sed -n "s/^longest //p" said)
		[ "$longest" -ge 100 ] || fail "it did not wait: $longest ms"
		[ "$longest" -gt 300 ] || exit 0
	done
	fail "the first call took $longest ms, more than 200"
'

it 'keeps the rows of 8 processes beside a flood of lines about other processes' "$whole"'
	cat >flood.sh <<-"SH"
		lines=$(i=0; while [ $i -lt 50 ]; do echo "R1 c $((4000000 + i)) 1 $(date +%s%N) other"; i=$((i + 1)); done)
		(while :; do echo "$lines"; done >"$GPROF_SESSION/roster") &
		"$spawned" 8 100 100 1000
		kill $!
	SH
	whole 8 sh flood.sh
'

it 'keeps the rows of 8 processes at once, ten times' "$whole"'
	for i in 1 2 3 4 5 6 7 8 9 10; do
		whole 8 "$spawned" 8 100 100 1000
		is 9 "$(tail -n +2 table | wc -l)" processes
	done
'

it 'keeps the rows of 50 processes at once, twice' "$whole"'
	for i in 1 2; do
		whole 50 "$spawned" 50 100 200 1000
		is 51 "$(tail -n +2 table | wc -l)" processes
	done
'

it 'keeps the rows of 200 processes at once' "$whole"'
	whole 200 "$spawned" 200 100 300 1000
	is 201 "$(tail -n +2 table | wc -l)" processes
'

it 'keeps the rows of 200 processes at once with 100 descriptors each' "$whole"'
	ulimit -n 100
	whole 200 "$spawned" 200 100 300 1000
'

# The kernel lets a user without privileges have 100 descriptors in flight then, in all sessions together.
it 'keeps the rows of 200 processes at once with 100 descriptors each and no privileges' "$whole"'
	[ "$(id -u)" -eq 0 ] || skip "the test before was that"
	need setpriv
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	chmod 711 ../.. ..
	chmod 777 . "$TMPDIR"
	$as test -x "$spawned" || skip "the build is closed to other users"
	ulimit -n 100
	whole 200 "$spawned" 200 100 300 1000
'

for how in clone _Fork; do
	it "leaves the status of a child by $how as it is, and keeps its rows" "how=$how"'
		cloned=$GPROF_BUILD/test/programs/cloned
		need "$cloned" "NVTX programs are not built"
		exits 0 gprof-run -q -o run -- "$cloned" $how >said
		says "child ended with 7" said
		is 5 "$(gprof-trace dump -k range run.gtrace | grep -c "\"child\"")" "ranges of the child"
	'
done

it 'connects beside a thread that closes all descriptors, and takes none of its files' '
	closer=$GPROF_BUILD/test/programs/closer
	need "$closer" "NVTX programs are not built"
	[ "$(ulimit -n)" -gt 1010 ] || skip "no descriptor above 1000 can be had here"
	exits 0 gprof-run -q -o run -- "$closer" file >said
	never_says reused said
	says "connected 2 times" said
	is 0 "$(stat -c %s file)" "bytes in the file"
	is 10 "$(gprof-trace dump -k range run.gtrace | wc -l)" ranges
'

it 'says how many processes could not connect' '
	need "$spawned" "NVTX programs are not built"
	# Without a board there is nothing to go on with when the collector does not answer.
	cat >refused.sh <<-"SH"
		rm "$GPROF_SESSION/board"
		collector=$(pgrep -f -- "--session $GPROF_SESSION")
		kill -STOP "$collector"
		"$spawned" 3 100 0 1000
		kill -CONT "$collector"
	SH
	exits 0 gprof-run -o run -- sh refused.sh >said 2>page
	tr -s " \n" " " <page >one
	says "3 processes could not connect to the collector and are not recorded: spawned (pid" one
	gprof-trace info run.gtrace >info
	says "3 processes could not connect to the collector and are not recorded: spawned (pid" info
'

it 'a shell and its 78 children are a row each in CSV, two rows in a table' '
	gprof-run -q -o run -- sh -c "i=0; while [ \$i -lt 78 ]; do sh -c \"true; exit 0\"; i=\$((i+1)); done"
	gprof-trace report -r processes --format csv run.gtrace >table
	n=$(($(wc -l <table) - 1))
	[ "$n" -ge 79 ] || fail "$n processes"
	for width in 80 120; do
		COLUMNS=$width gprof-trace report -r processes run.gtrace >text
		grep "^ *1  .*  sh$" text || fail "$(cat text)"
		grep "^ *-  .*    $((n - 1)) sh, recorded nothing$" text || fail "$(cat text)"
		tr -s " \n" " " <text >one
		says "folded: $((n - 1)) processes that recorded nothing, in 1 row; gprof-trace report -r processes --all lists each" one
		is 2 "$(grep -cE " sh(, recorded nothing)?$" text)" rows
		sed "s/…/./g" text | awk -v width=$width "length > width { exit 1 }" || fail "wider than $width: $(cat text)"
	done
	gprof-trace info run.gtrace >info
	says "    $((n - 1)) sh, recorded nothing" info
	gprof-trace report -r processes --all run.gtrace >text
	is "$n" "$(grep -c "  sh$" text)" "rows with --all"
	never_says "recorded nothing" text
	gprof-trace report -r processes --all --format csv run.gtrace >all
	cmp table all
'
