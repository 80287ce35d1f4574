. "$(dirname "$0")/lib.sh"

# Only dry runs of make: other tests use the build folder.
# B must have the same spelling as in the build: dependency files of the compiler contain it.
DRY="make -s -n -C $GPROF_TOP B=${GPROF_BUILD#$GPROF_TOP/}"
export DRY

it 'rebuilds on every floor what reads the table of records' '
	need make
	$DRY -W trace/records.def all >out
	for object in obj/trace/records.o pic/trace/records.o obj/collector/drain.o bin/gprof-trace lib/gprof/libgprof_inject.so; do
		says "$object" out
	done
'

it 'rebuilds the programs of a floor when one of its files has changed' '
	need make
	$DRY -W cli/ui/table.c all | grep -o "LINK  .*" >after
	says bin/gprof-run after
	says bin/gprof-trace after
	$DRY all | grep -o "LINK  .*" >before || true
	grep -c gprof-collector before >were || true
	grep -c gprof-collector after >are || true
	same were are
'

it 'says in one line why there is no simulated stack, and goes on' '
	need make
	make -s -C "$GPROF_TOP" B="$PWD/build" CUDA=/nowhere sim >out 2>&1
	says "no /nowhere/include" out
	is 1 "$(wc -l <out)" "lines"
'
