#!/bin/sh
# The simulated libcupti delivers recorded raw activity buffers (test/data/replay/README.md); decoding must give the same rows as on the
# machine of the recording.
. "$(dirname "$0")/lib.sh"

# replay FILE.gpraw ROWS
replay='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	R=$GPROF_TOP/test/data/replay
	replay() {
		SIM_REPLAY=$1 gprof-run -q -f -o played -- "$P/driver_api" 0 >out 2>err || fail "$(cat out err)"
		gprof-trace check played.gtrace >out 2>&1 || fail "$(cat out)"
		sh "$R/same.sh" "$2" played.gtrace >difference || fail "rows are not as they were where they were recorded:
$(head -n 40 difference)"
	}
	# record PROGRAM ARGUMENT...: x.gpraw and x.rows
	record() {
		OPTIONS="${OPTIONS-} --record-raw $PWD/raw"
		traced "$@" || fail "exit status $?: $*"
		sh "$R/keep.sh" raw t.gtrace x >out || fail "$(cat out)"
		gzip -d x.gpraw.gz
	}
'

for file in $(find "$GPROF_TOP/test/data/replay" -name '*.gpraw.gz' | sort); do
	it "the recording ${file##*/replay/} is decoded as it was on that machine" "$replay file=$file"'
		[ -e "${file%.gpraw.gz}.rows" ] || fail "its rows are missing; test/data/replay/rows.sh makes them of a trace or a dump"
		gzip -dc "$file" >x.gpraw
		replay "$PWD/x.gpraw" "${file%.gpraw.gz}.rows"
	'
done

it 'a recording of real hardware is there' '
	set -- "$GPROF_TOP"/test/data/replay/*.gpraw.gz "$GPROF_TOP"/test/data/replay/*/*.gpraw.gz
	for file do
		[ ! -e "$file" ] || exit 0
	done
	skip "none was made yet: the ones below are of the simulated GPU (test/data/replay/README.md)"
'

for version in 17 18 20 22 24 26 28 130001; do
	it "what the simulated GPU delivers as CUPTI version $version is played back to the same rows" "$replay version=$version"'
		export SIM_CUPTI_VERSION=$version
		OPTIONS="-t cuda-jit --cuda-memory-usage=true"
		record driver_api 200
		[ "$(grep -c "^kernel " x.rows)" = 200 ] || fail "$(cat x.rows)"
		grep -q "^memory " x.rows || fail "no rows of memory"
		replay "$PWD/x.gpraw" x.rows
		"$P/count_rows" played.gtrace >facts
		says "cupti.version=$version" facts
		# The comparison sees what is not the same.
		sed "0,/^kernel/s/stream=13/stream=14/" x.rows >other.rows
		! sh "$R/same.sh" other.rows played.gtrace >/dev/null || fail "same.sh sees no difference"
	'
done

it 'unknown kinds, rows without time and several buffers are played back too' "$replay"'
	export SIM_UNKNOWN_KIND=5 SIM_ZERO_TIMESTAMPS=7 SIM_BUFFER_RECORDS=20 SIM_SHUFFLE=3
	record streams 4 30
	grep -q "^unknown count=" x.rows || fail "no unknown records"
	grep -q "^without_time count=" x.rows || fail "no rows without time"
	replay "$PWD/x.gpraw" x.rows
'

it 'unified memory is played back too' "$replay"'
	OPTIONS="--cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true"
	record managed
	grep -q "^unified " x.rows || fail "no rows of unified memory"
	replay "$PWD/x.gpraw" x.rows
'

it 'whole graphs are played back too' "$replay"'
	OPTIONS=--cuda-graph-trace=graph
	record graph_layers 3
	grep -q "^graph " x.rows || fail "no rows of whole graphs"
	replay "$PWD/x.gpraw" x.rows
'

it 'a recording of a trace that lost rows is not kept' "$replay"'
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="--record-raw $PWD/raw"
	traced driver_api 10
	printf "#!/bin/sh\necho drop\n" >gprof-trace
	chmod +x gprof-trace
	exits 1 env PATH="$PWD:$PATH" sh "$R/keep.sh" raw t.gtrace x 2>err
	says "lost rows" err
'

it 'a file that is cut off is not played as if it were whole' "$replay"'
	record driver_api 10
	head -c 1000 x.gpraw >cut
	export SIM_REPLAY="$PWD/cut"
	exits 134 gprof-run -q -f -o played -- "$P/driver_api" 0 2>err
	says "cut off" err
'
