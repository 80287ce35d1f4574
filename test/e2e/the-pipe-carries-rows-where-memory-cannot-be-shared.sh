# The pipe as carrier of rows: chosen automatically where memory cannot be shared.  It loses no row at a normal end, does not block the
# program, and health names its limits.
. "$(dirname "$0")/lib.sh"

PATH=$GPROF_BUILD/test/programs:$PATH
rows=$GPROF_BUILD/test/programs/pipe_rows
export rows

# prefix TRACE: of each thread the rows are the first ones, however many; says how many there are of all.
prefix='
	need "$rows" "NVTX programs are not built"
	prefix() {
		gprof-trace dump "$1" | sed -n "s/^mark process=\([0-9]*\) .*payload=\([0-9]*\) .*thread=\([0-9]*\) .*/\1.\3 \2/p" |
			awk "\$2 != n[\$1]++ { n[\$1]--; if (\$2) bad = bad \" \" \$1 \":\" \$2 } { all++ } END { print all + 0; if (bad) print bad }"
	}
	dropped() { gprof-trace dump "$1" | sed -n "s/^drop .*count=\([0-9]*\) .*/\1/p" | awk "{ n += \$1 } END { print n + 0 }"; }
	count() { gprof-trace report -r health --format csv "$1" | awk -F, -v r="$2" "\$3 == r { n += \$4 } END { print n + 0 }"; }
'

it 'keeps every row of many processes and threads that write at once' "$prefix"'
	gprof-run -q --transport=pipe -o run -- "$rows" 8 4000 fork=4 _exit >said
	is 5 "$(grep -c "made 32000" said)" "processes that made all their rows"
	# On a busy machine a process, or some of its threads, may wait for the collector in vain; then the trace says how many rows it cost.
	refused=$(count run.gtrace refused) slow=$(count run.gtrace connect_slow)
	kept=$(prefix run.gtrace)
	[ "$slow" = 0 ] || kept=$(echo "$kept" | head -n 1)
	is 160001 "$((kept + 32000 * refused + slow))" "rows, those of each thread without a gap, and rows that are said to be missing"
	[ "$(($(count run.gtrace pipe_used) + refused))" -ge 5 ] || fail "not all processes are on the pipe"
	is 0 "$(count run.gtrace pipe_frames)" "frames that were none"
	[ "$refused" != 0 ] || gprof-trace info run.gtrace | grep "transport  rows of 5 processes came through a pipe (requested by --transport=pipe)"
'

it 'loses nothing however a program ends by itself' "$prefix"'
	for end in return _exit quick_exit exec; do
		gprof-run -q --transport=pipe -o $end -- "$rows" 2 3000 $end >said
		is 6001 "$(prefix $end.gtrace)" "rows of a program that ends by $end"
		is 0 "$(count $end.gtrace pipe_cut)" "processes that were cut off"
	done
'

it 'lets a program end whose main() ended before its threads' "$prefix"'
	gprof-run -q --transport=pipe -o run -- "$rows" 1 3000 pthread_exit >said
	says outlived said
	is 6001 "$(prefix run.gtrace)" rows
'

it 'keeps the first rows of each thread of a program that is killed, and says what it cannot know' "$prefix"'
	exits 137 gprof-run -q --transport=pipe -o run -- "$rows" 4 100000 kill=9 >said
	kept=$(prefix run.gtrace)
	[ "$kept" -gt 0 ] && [ "$kept" -le 400001 ] || fail "$kept rows are kept, of 400001"
	is 1 "$(count run.gtrace pipe_cut)" "processes that were cut off"
	gprof-run -q --transport=pipe -o later -- "$rows" 4 1000 wait=arrived kill=9 >said &
	run=$!
	within 60 sh -c "[ \$(gprof-trace dump later.gtrace 2>/dev/null | grep -c ^mark) -eq 4001 ]"
	touch arrived
	exits 137 wait $run
	is 4001 "$(prefix later.gtrace)" "rows that had arrived when it was killed"
'

# A collector that stands still while the program makes 200000 rows, 7 MB of each thread: the pipe holds one MB.
stalled='
	children_of() { sed -n "s/^\([0-9]*\) (\(.*\)) . $1 .*/\1 \2/p" /proc/[0-9]*/stat 2>/dev/null; }
	child() { children_of $1 | sed -n "s/ $2.*//p"; }
	stalled() {
		arena=$1
		shift
		gprof-run -q --transport=pipe --arena-size=$arena -o run -- "$rows" 2 100000 touch=ready wait=stopped "$@" >said &
		run=$!
		within 60 test -e ready
		within 60 sh -c "gprof-trace dump run.gtrace 2>/dev/null | grep -q ^mark"
		collector=$(child $run gprof-collector)
		program=$(child $run pipe_rows)
		kill -STOP $collector
		begin=$(date +%s%N)
		touch stopped
		until [ ! -e /proc/$program ] || grep -q " (pipe_rows) Z " /proc/$program/stat; do sleep 0.05; done
		took=$((($(date +%s%N) - begin) / 1000000))
	}
	# Each of the 5 threads has a row of its own before its marks; rows that are left or dropped are of any kind.  The name of the marks came with the first.
	threads() { gprof-trace dump run.gtrace | sed -n "s/^thread .* id=\([0-9]*\) .*/\1/p" | sort -u | wc -l; }
	# All marks and a row of each thread.  A row of a thread that found no room is counted, and comes again later: once more for each at most.
	none_missing() { [ $1 -ge $((made + 1 + 5)) ] && [ $1 -le $((made + 1 + 10)) ] || fail "$2: $1, of $((made + 1 + 5))"; }
	resumed() {
		kill -CONT $collector
		wait $run
		made=$(tail -n 1 said | sed "s/made \([0-9]*\) .*/\1/")
		longest=$(tail -n 1 said | sed "s/.* longest \([0-9]*\) us/\1/")
		[ "$longest" -lt 1000000 ] || fail "a call took $longest us"
	}
'

it 'never makes a program wait for a collector that stands still, and counts what is left 2 s after its end' "$prefix$stalled"'
	stalled 64M more
	resumed
	is 400000 "$made" "rows that the program made"
	left=$(count run.gtrace pipe_left)
	[ "$left" -gt 0 ] || fail "no row is left"
	none_missing $(($(prefix run.gtrace) + $(threads) + left)) "rows kept and left"
	[ "$took" -ge 1900 ] && [ "$took" -lt 10000 ] || fail "the program ended after $took ms"
'

it 'drops and counts rows when the private blocks are full, too' "$prefix$stalled"'
	stalled 12M more ms=1
	resumed
	kept=$(gprof-trace dump run.gtrace | grep -c ^mark)
	dropped=$(dropped run.gtrace)
	# 12 MB hold less than the 14 MB that are made while the collector stands still.
	[ "$kept" -lt "$made" ] || fail "nothing was dropped"
	none_missing $((kept + $(threads) + dropped + $(count run.gtrace pipe_left))) "rows kept, dropped and left"
'

it 'lets a program end at once whose collector is gone, without a signal' "$prefix$stalled"'
	# Who waits for the collector takes 2.3 s at least; who does not, may be slow on a busy machine.
	tries=5
	took=9999
	while [ "$took" -ge 2200 ]; do
		tries=$((tries - 1))
		[ $tries -ge 0 ] || fail "it took $took ms"
		rm -f ready stopped
		gprof-run -q -f --transport=pipe -o run -- "$rows" 2 1000 touch=ready wait=stopped more ms=300 more >said &
		run=$!
		within 60 test -e ready
		kill -9 $(child $run gprof-collector)
		begin=$(date +%s%N)
		touch stopped
		wait $run || fail "exit status $?"
		took=$((($(date +%s%N) - begin) / 1000000))
		is 3 "$(grep -c made said)" "times that it made rows"
	done
'

it 'is chosen where the program cannot map shared memory, and says so' "$prefix"'
	forbidden map_shared true || skip "no system call can be forbidden here"
	gprof-run -q -o run -- forbidden map_shared "$rows" 2 2000 >said
	is 4001 "$(prefix run.gtrace)" rows
	gprof-trace report -r health --format csv run.gtrace >health
	says "it cannot map shared memory: Operation not permitted" health
	gprof-run -q --transport=shm -o shm -- forbidden map_shared "$rows" 2 2000 >said
	gprof-trace report -r health --format csv shm.gtrace >health
	says "it cannot map shared memory: Operation not permitted" health
	is 1 "$(count shm.gtrace refused)" "refused processes"
	is 0 "$(prefix shm.gtrace)" rows
'

it 'is chosen where the collector cannot make shared memory' "$prefix"'
	forbidden map_shared true || skip "no system call can be forbidden here"
	for calls in map_shared memfd_create,fallocate; do
		forbidden $calls gprof-run -q -o $calls -- "$rows" 2 2000 >said
		is 4001 "$(prefix $calls.gtrace)" "rows without $calls"
		is 1 "$(count $calls.gtrace pipe_used)" "processes on the pipe without $calls"
	done
	forbidden map_shared gprof-run --transport=shm -o shm -- "$rows" 2 2000 >said 2>err
	says "shared memory" err
	[ ! -e shm.gtrace ] || is 0 "$(prefix shm.gtrace)" rows
'

it 'is chosen where the limit of descriptors lets none through' "$prefix"'
	gprof-run -q -o run -- sh -c "ulimit -n 4; exec \"$rows\" 2 2000" >said
	is 4001 "$(prefix run.gtrace)" rows
'

for with in "" "forbidden own_descriptors"; do
	it "touches no descriptor of a program that closes and takes all numbers${with:+, where ours cannot be apart}" "$prefix"'
		with="'"$with"'"
		[ ! "$with" ] || $with true || skip "no system call can be forbidden here"
		# Where the table is shared the pipe has a low number for the moment in which it is opened: one time in three may meet it.
		tries=1
		[ ! "$with" ] || tries=3
		until gprof-run -q -f --transport=pipe -o run -- $with manners with.txt; do
			tries=$((tries - 1))
			[ $tries -gt 0 ] || fail "the program met a descriptor of ours"
		done
		is untouched "$(cat with.txt)" "the program"
		is 2010 "$(gprof-trace dump run.gtrace | grep -c "^mark .*\"tick\"")" marks
	'
done

it 'goes on when something else is written into the pipe' "$prefix"'
	gprof-run -q --transport=pipe -o run -- sh -c "head -c 30000 /dev/urandom >\$GPROF_SESSION/rows; \"$rows\" 2 2000; echo x >\$GPROF_SESSION/rows" >said
	is 4001 "$(prefix run.gtrace)" rows
	[ "$(count run.gtrace pipe_frames)" -gt 0 ] || fail "nobody noticed"
'

it 'goes on in a program that locks itself up and becomes another user' '
	need python3
	need "$GPROF_BUILD/test/programs/libnvtx_shim.so" "the NVTX shim is not built"
	[ "$(id -u)" -eq 0 ] || skip "only root can do that"
	cat >jailed.py <<-PY
		import ctypes, os, time
		nvtx = ctypes.CDLL("$GPROF_BUILD/test/programs/libnvtx_shim.so")
		work = lambda n: [(nvtx.nvtx_push(b"work"), nvtx.nvtx_pop()) for i in range(n)]
		work(1)
		while not os.path.exists("arrived"): time.sleep(0.01)
		os.mkdir("jail")
		os.chroot("jail")
		os.setuid(65534)
		work(9999)
	PY
	gprof-run -q --transport=pipe -o run -- python3 jailed.py &
	within 20 sh -c "gprof-trace dump run.gtrace 2>&1 | grep -q \"^range .*work\""
	touch arrived
	wait $!
	is 10000 "$(gprof-trace dump run.gtrace | grep -c "^range .*\"work\"")" ranges
'
