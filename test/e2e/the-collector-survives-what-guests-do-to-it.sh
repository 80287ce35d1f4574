# Overwritten arenas, invalid rows, guests of another version: the rest of the trace is complete.
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

it 'lives through a board that was cut off, and keeps every row before and after' '
	cat >cut.sh <<-"SH"
		fake_guest roster=c hello kernels=50 touch=there wait=cut kernels=7 &
		until [ -e there ]; do sleep 0.05; done
		truncate -s "$1" "$GPROF_SESSION/board"
		fake_guest roster=c hello kernels=9
		touch cut
		wait
	SH
	for size in 0 4096 100000; do
		rm -f there cut
		fake_run -o $size.gtrace -- sh cut.sh $size >run
		says closed run
		count_rows $size.gtrace >rows
		says finished rows
		says "kernel 57" rows
		says "kernel 9" rows
		never_says roster_lost rows
	done
'

it 'is not ended by signals that a process sends' '
	fake_run -- fake_guest roster=c hello kernels=5 wait=go kernels=6 >run &
	within 20 sh -c "count_rows run.gtrace | grep -q \"kernel 5\""
	for signal in BUS BUS TERM INT HUP QUIT PIPE XFSZ USR1 USR2 BUS; do
		kill -$signal "$(sed -n "s/^collector //p" run)"
	done
	touch go
	wait
	says closed run
	count_rows run.gtrace | grep "kernel 11"
'
