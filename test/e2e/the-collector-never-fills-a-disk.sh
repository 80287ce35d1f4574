# Size limits, full disks, output folders that cannot be written or vanish: one message, a readable trace, and the program is not disturbed.
. "$(dirname "$0")/lib.sh"

PATH=$GPROF_BUILD/test/programs:$PATH
[ -x "$GPROF_BUILD/test/programs/fake_guest" ] || make -s -C "$GPROF_TOP" B="$GPROF_BUILD" wire-programs || exit 1

it 'counts detail rows beyond --max-size and keeps ranges, names and health' '
	fake_run -s max_size=262144 -s arena_size=100000000 -- fake_guest roster=c hello push=early kernels=400000 push=late pop pop clean >run
	says closed run
	[ "$(stat -c %s run.gtrace)" -lt 400000 ] || fail "the trace has $(stat -c %s run.gtrace) bytes"
	count_rows run.gtrace >rows
	says finished rows
	says "damage 0" rows
	says "rows 1 range 2" rows
	says "rows 1 string 2" rows
	says "health 0 file_limit 1 the trace has reached --max-size" rows
	kept=$(sed -n "s/^rows 1 kernel //p" rows)
	lost=$(sed -n "s/^drop 1 kernel where=1 //p" rows | tail -n 1)
	is 400000 $((kept + lost)) "kept and counted kernels"
	is 1 "$(grep -c "max-size" run.gtrace.log)" "lines in the log"
	[ ! -e run.log ] || fail "the log has the name that users give what the program prints"
'

it 'leaves room on a full disk for what matters' '
	[ "$(id -u)" = 0 ] || skip "needs root to mount a small file system"
	mkdir small
	mount -t tmpfs -o size=2m none small 2>/dev/null || skip "cannot mount a tmpfs here"
	trap "umount small" EXIT
	fake_run -o small/run.gtrace -s arena_size=100000000 -- fake_guest roster=c hello push=early kernels=900000 push=late pop pop clean >run
	says "program 0" run
	says closed run
	count_rows small/run.gtrace >rows
	says finished rows
	says "damage 0" rows
	says "rows 1 range 2" rows
	says "health 0 disk_full 1" rows
	kept=$(sed -n "s/^rows 1 kernel //p" rows)
	lost=$(sed -n "s/^drop 1 kernel where=1 //p" rows | tail -n 1)
	is 900000 $((kept + lost)) "kept and counted kernels"
'

it 'survives a disk that somebody else fills' '
	[ "$(id -u)" = 0 ] || skip "needs root to mount a small file system"
	mkdir small
	mount -t tmpfs -o size=3m none small 2>/dev/null || skip "cannot mount a tmpfs here"
	trap "umount small" EXIT
	fake_run -o small/run.gtrace -- fake_guest roster=c hello kernels=1000 touch=ready wait=go kernels=300000 push=late pop clean >run &
	within 20 test -e ready
	within 20 sh -c "count_rows small/run.gtrace | grep -q \"kernel 1000\""
	cat /dev/zero >small/other 2>/dev/null || :
	touch go
	wait
	says "program 0" run
	says closed run
	count_rows small/run.gtrace >rows
	says "damage 0" rows
	says "rows 1 kernel" rows
	says "rows 1 range 1" rows
	says "health 0 disk_full 1" rows
'

it 'lives with a limit on the size of files' '
	(ulimit -f 200000; fake_run -- fake_guest roster=c hello kernels=50) >run
	says closed run
	count_rows run.gtrace | grep "kernel 50"
	(ulimit -f 8; fake_run -o tiny.gtrace -- fake_guest roster=c hello kernels=50) >run || :
	says "refused 41" run
	says closed run
	count_rows tiny.gtrace | grep "health 1 refused"
'

it 'gives back the room that it had set aside' '
	fake_run -- fake_guest roster=c hello kernels=1000 clean >run
	[ "$(stat -c %b run.gtrace)" -lt 200 ] || fail "the trace holds $(stat -c %b run.gtrace) blocks"
'

it 'writes elsewhere when it cannot write where it was asked to' '
	fake_run -o /proc/nowhere/run.gtrace -- fake_guest roster=c hello api=3 >run
	path=$(sed -n "s/^ready //p" run)
	is "$TMPDIR/run.gtrace" "$path" "the place"
	count_rows "$path" >rows
	says "attribute 0 moved_from=/proc/nowhere/run.gtrace" rows
	says "health 0 output_moved 1 $TMPDIR/run.gtrace" rows
	says "rows 1 api 3" rows
'

it 'never writes over a trace unless told to' '
	echo mine >run.gtrace
	fake_run -- fake_guest roster=c >run
	says "ready run.2.gtrace" run
	fake_run -- fake_guest roster=c >run
	says "ready run.3.gtrace" run
	is mine "$(cat run.gtrace)"
	fake_run -s overwrite=1 -- fake_guest roster=c >run
	says "ready run.gtrace" run
	count_rows run.gtrace
'

it 'saves a trace whose folder is removed while it is written' '
	mkdir out
	fake_run -o "$PWD/out/run.gtrace" -- fake_guest roster=c hello kernels=100 touch=ready wait=go kernels=11 clean >run &
	within 20 test -e ready
	rm -r out
	touch go
	wait
	says "program 0" run
	says "moved $TMPDIR/run.gtrace" run
	says closed run
	count_rows "$TMPDIR/run.gtrace" >rows
	says finished rows
	says "rows 1 kernel 111" rows
	says "is saved as" "$TMPDIR/run.gtrace.log"
'

it 'finishes when the session folder is removed while it runs' '
	fake_run -- fake_guest roster=c hello kernels=100 touch=ready wait=go kernels=11 clean >run &
	within 20 test -e ready
	rm -r "$(sed -n "s/^session //p" run)"
	touch go
	wait
	says closed run
	count_rows run.gtrace | grep "kernel 111"
'

it 'says in one line why it cannot work' '
	fake_run -d bind -- fake_guest roster=c >run || :
	says "error cannot listen at" run
	says "Operation not permitted" run
'

it 'works where the kernel refuses memfd_create, pidfd_open or fallocate' '
	for call in memfd_create pidfd_open fallocate; do
		fake_run -d $call -o $call.gtrace -- sh -c "fake_guest roster=c hello kernels=100 push=a full kernels=7 kill=9; fake_guest roster=c hello api=5" >run
		says closed run
		count_rows $call.gtrace >rows
		says finished rows
		grep -q "kernel 107" rows
		grep -q "api 5" rows
		grep -q "ranges_open 1" rows
	done
'

it 'writes nothing into the file that the program prints to' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 gprof-run -q -o train --max-size=100k -- sh -c "echo step 1; $P/many_kernels 20000 1; echo step 2" >train.log
	printf "%s\n" "step 1" "Name,Instances" "spin_small(unsigned long long),20000" "step 2" >want
	same want train.log
	says "has reached --max-size" train.gtrace.log
	is 600 "$(stat -c %a train.gtrace.log)" "mode of the log"
	[ "$(id -u)" = 0 ] || skip "needs root to mount a small file system"
	mkdir small
	mount -t tmpfs -o size=1m none small 2>/dev/null || skip "cannot mount a tmpfs here"
	trap "umount small" EXIT
	exits 0 gprof-run -q -o small/train -- sh -c "echo step 1; $P/many_kernels 60000 1; echo step 2" >small/train.log
	sed -i s/20000/60000/ want
	same want small/train.log
	count_rows small/train.gtrace | grep "health 0 disk_full 1"
'

it 'appends to a log of its own alone' '
	limited() {
		rm -f run.gtrace
		fake_run -s max_size=262144 -s arena_size=100000000 -- fake_guest roster=c hello kernels=400000 clean >run
		says closed run
	}
	limited
	limited
	is "1 2" "$(grep -c "^log of gprof-collector$" run.gtrace.log) $(grep -c "max-size" run.gtrace.log)" "first lines and messages of two sessions"
	for other in "mine" ""; do
		printf "%s" "$other" >run.gtrace.log
		limited
		is "$other" "$(cat run.gtrace.log)" "a file that is no log"
	done
	echo mine >mine
	ln -sf mine run.gtrace.log
	limited
	is mine "$(cat mine)" "what a link names"
'
