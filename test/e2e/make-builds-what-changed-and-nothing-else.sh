# not sanitized: runs make
. "$(dirname "$0")/lib.sh"

# Dry runs alone: the build folder is in use by other tests.
# B as it was given to the make that built it: the compiler's lists of headers have it in their names.
DRY="make -s -n -C $GPROF_TOP B=${GPROF_BUILD#$GPROF_TOP/}"
export DRY

it 'rebuilds on every floor what reads the table of records' '
	need make
	$DRY -W trace/records.def all >out
	for object in obj/trace/records.o pic/trace/records.o obj/collector/drain.o bin/gprof-trace lib/gprof/libgprof_inject.so; do
		says "$object" out
	done
'

it 'rebuilds one program when one of its files has changed' '
	need make
	$DRY -W cli/run_main.c all >out
	says bin/gprof-run out
	never_says gprof-collector out
	never_says libgprof_inject out
'

it 'says in one line why there is no simulated stack, and goes on' '
	need make
	make -s -C "$GPROF_TOP" B="$PWD/build" CUDA=/nowhere sim >out 2>&1
	says "no /nowhere/include" out
	is 1 "$(wc -l <out)" "lines"
'
