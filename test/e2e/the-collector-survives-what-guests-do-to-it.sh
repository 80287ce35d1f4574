# Arenas written over, rows that are none, guests of another version: the rest of the trace is whole.
. "$(dirname "$0")/lib.sh"

PATH=$GPROF_BUILD/test/programs:$PATH
[ -x "$GPROF_BUILD/test/programs/fake_guest" ] || make -s -C "$GPROF_TOP" B="$GPROF_BUILD" wire-programs || exit 1

it 'skips rows that make no sense and says so' '
	for bad in bad-kind bad-length bad-tail bad-used bad-state; do
		fake_run -o $bad.gtrace -- fake_guest roster=c hello kernels=100 $bad kill=9 >run
		says closed run
		count_rows $bad.gtrace >rows
		says finished rows
		says "damage 0" rows
		says "health 1 damaged_rows 1 block" rows
		[ $bad = bad-used ] || says "rows 1 kernel 100" rows
	done
'

it 'takes the rows of the next block after a damaged one' '
	fake_run -- fake_guest roster=c hello kernels=10 bad-kind full kernels=20
	count_rows run.gtrace | grep "rows 1 kernel 30"
'

it 'lives through an arena written over from end to end' '
	fake_run -- sh -c "
		fake_guest roster=c hello kernels=100 full scribble kill=9
		fake_guest roster=c hello kernels=10 scribble sleep-ms=1500
		fake_guest roster=c hello kernels=77 scribble-head kernels=0 clean" >run
	says closed run
	count_rows run.gtrace >rows
	says finished rows
	says "damage 0" rows
	says "damaged_rows" rows
	says "kernel 77" rows
'

it 'refuses a guest of another version and goes on' '
	fake_run -- sh -c "fake_guest old-version roster=c hello; fake_guest roster=c hello api=3" >run
	says "refused 41" run
	says closed run
	count_rows run.gtrace >rows
	says "another version" rows
	grep "api 3$" rows
'

it 'gives no guest an arena that it could shrink' '
	fake_run -- fake_guest shrink roster=c hello kernels=5 2>err
	never_says "can be shrunk" err
	count_rows run.gtrace | grep "kernel 5"
'

it 'lives through an arena that was shrunk all the same' '
	fake_run -d memfd_create -- sh -c "fake_guest shrink roster=c hello api=1 kill=9; fake_guest roster=c hello api=2" >run 2>err
	says "can be shrunk" err
	says closed run
	count_rows run.gtrace | grep "api 2"
'
