# After the program gprof-run prints the page, the tables and the export on standard error; with -q one line.  Nothing on standard output.
. "$(dirname "$0")/lib.sh"

it 'prints where the trace is and what to type next' '
	exits 3 gprof-run -o run -- sh -c "echo out; exit 3" >out 2>err
	is out "$(cat out)"
	says run.gtrace err
	says "gprof-trace report" err
	says "no process used CUDA" err
'

it 'says that only a part of the time was recorded, and does not call the program idle' '
	gprof-run -d 0.2 -o run -- sleep 0.3 2>err
	says "window    only the first 0.2 s were recorded (--duration)" err
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	gprof-run --delay 500 -o run -f -- "$P/driver_api" 10 >out 2>err
	tr -s " \n" " " <err >flat
	says "only the time from 500 s after the start was recorded (--delay)" flat
	says "CUDA was used, but not in the time that was recorded" err
	gprof-trace report -r cuda_gpu_kern_sum run >out
	says "not in the time that was recorded" out
	gprof-trace report -r nvtx_pushpop_sum run >out
	says "in the part of the program" out
'

it 'prints one line with -q' '
	gprof-run -q -o run -- true 2>err
	echo "gprof-run: the trace is '"'\$PWD/run.gtrace'"'" >want
	same want err
'

it 'prints the page for rank 0 alone' '
	RANK=0 WORLD_SIZE=2 gprof-run -o run -- true 2>err
	says "no process used CUDA" err
	RANK=1 WORLD_SIZE=2 gprof-run -o run -- true 2>err
	is 1 "$(wc -l <err)" "the number of lines"
	says run.rank1.gtrace err
'

it 'prints the tables with --stats and writes the export with --export' '
	exits 3 gprof-run -q --stats --export kineto -o run -- sh -c "exit 3" >out 2>err
	test ! -s out
	says cuda_gpu_kern_sum err
	test -s run.json
	: >run.json
	gprof-run -q --export kineto -f -o run -- true 2>err
	test -s run.json || fail "-f did not replace the export: $(cat err)"
'

it 'prints it although the program was killed' '
	exits 137 gprof-run -o run -- sh -c "kill -9 \$\$" 2>err
	says run.gtrace err
	says "next" err
'

it 'keeps the values of -e out of the trace' '
	gprof-run -q -e HF_TOKEN=sesame1,B=sesame2 --env-var=C=sesame3 -eD=sesame4 --env-var E=sesame5 -o run -- true 2>err
	gprof-trace dump run.gtrace >dump
	never_says sesame dump
	says "-e HF_TOKEN=... --env-var=C=... -eD=... --env-var E=..." dump
'

it 'names the new place of a trace whose folder was removed while the program ran' '
	mkdir gone
	gprof-run -o gone/run -- sh -c "rm -r gone; exit 0" 2>err
	new=$(sed -n "s/^gprof-run: the trace is \([^ ]*\.gtrace\).*/\1/p" err)
	[ -s "$new" ] || fail "no such trace: $new, said: $(cat err)"
	gprof-trace check "$new"
'

it 'waits the moment that processes behind the program take to end, so that the trace is finished' '
	gprof-run -q -o run -- sh -c "(sleep 0.1; exit 0) & exit 4" 2>err || is 4 $?
	gprof-trace check run.gtrace | grep -q "complete" || fail "$(gprof-trace check run.gtrace)"
	gprof-trace info run.gtrace >info
	never_says "not finished" info
'
