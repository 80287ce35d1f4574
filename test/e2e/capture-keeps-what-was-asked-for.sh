#!/bin/sh
# Which rows capture ranges, schedules and steps keep.  On the simulated GPU; test/programs/stepper.cu defines the expected numbers.
# also on the pipe
. "$(dirname "$0")/lib.sh"

# windows: how many.  column REPORT NAME: its values, a line each.
cat >"$E2E_ROOT/counts.sh" <<'END'
. "$GPROF_TOP/test/e2e/cuda/sim.sh"
windows() { gprof-trace report -r windows --format csv t.gtrace | tail -n +2 | wc -l; }
column() { gprof-trace report -r "$1" --format csv t.gtrace | awk -F, -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) at = i; next } { print $at }'; }
END
export COUNTS="$E2E_ROOT/counts.sh"

it 'keeps what lies between cudaProfilerStart and Stop, to the kernel' '
	. "$COUNTS"
	OPTIONS="--capture-range=cudaProfilerApi --capture-range-end=stop" exits 0 traced stepper 10 profile=3:5
	is 9 "$(rows kernel)"
	is 1 "$(windows)"
	is cudaProfilerStart "$(column windows cause)"
'

it 'keeps each of the ranges that repeat, or the first so many' '
	. "$COUNTS"
	OPTIONS="-c cudaProfilerApi --capture-range-end=repeat" exits 0 traced stepper 6 pairs
	is 18 "$(rows kernel)"
	is 6 "$(windows)"
	OPTIONS="-c cudaProfilerApi --capture-range-end=repeat:2" exits 0 traced stepper 6 pairs
	is 6 "$(rows kernel)"
	is 2 "$(windows)"
	OPTIONS="-c cudaProfilerApi --capture-range-end=none" exits 0 traced stepper 6 profile=2:3
	is 12 "$(rows kernel)"
'

it 'keeps an NVTX range whose name matches, plain strings as well as registered ones' '
	. "$COUNTS"
	OPTIONS="-c nvtx -p step?[34] --capture-range-end=repeat" exits 0 traced stepper 8 nvtx
	is 6 "$(rows kernel)"
	is 2 "$(rows window)"
	is "step 3 step 4" "$(column windows name | xargs)"
'

it 'follows a schedule over steps that NVTX marks' '
	. "$COUNTS"
	OPTIONS="--step nvtx:step* --schedule skip_first=1,wait=1,warmup=1,active=2,repeat=2" exits 0 traced stepper 20 nvtx
	is 12 "$(rows kernel)"
	is 2 "$(windows)"
	is "3 4 7 8" "$(column steps step | xargs)"
	gprof-trace report -r steps --all-steps --format csv t.gtrace | tail -n +2 | wc -l >n
	is 20 "$(cat n)"
'

it 'counts the steps of each kind for themselves' '
	. "$COUNTS"
	OPTIONS="--step train=nvtx:step* --step val=nvtx:val*" exits 0 traced stepper 10 nvtx eval=5
	is 12 "$(column steps step | wc -l)"
	is 2 "$(column steps kind | grep -c val)"
	is "0 1" "$(gprof-trace report -r steps --format csv t.gtrace | awk -F, "/val/ { print \$1 }" | xargs)"
	is 34 "$(rows kernel)"
'

it 'takes marks and pairs of the profiler as steps' '
	. "$COUNTS"
	OPTIONS="--step nvtx:step" exits 0 traced stepper 7 marks
	is 7 "$(column steps step | wc -l)"
	OPTIONS="--step cudaProfilerApi" exits 0 traced stepper 7 pairs
	is "3 3 3 3 3 3 3" "$(column steps kernels | xargs)"
'

it 'closes the trace when the range has ended, and lets the program go on' '
	. "$COUNTS"
	program=$P/stepper
	gprof-run -f -o t -c cudaProfilerApi -- "$program" 4 profile=1:2 sleep=1 until=$PWD/go >out 2>err &
	run=$!
	within 20 grep -q "the program continues" err
	gprof-trace check t.gtrace
	kill -0 $run
	: >go
	wait $run
	is 6 "$(rows kernel)"
'

it 'ends the program with the range only if it is told to' '
	. "$COUNTS"
	program=$P/stepper
	exits 143 gprof-run -q -f -o t -c cudaProfilerApi --kill=sigterm -- "$program" 4 profile=1:2 until=/nonexistent
	is 6 "$(rows kernel)"
'

it 'marks the window that the end of the program cut short' '
	. "$COUNTS"
	OPTIONS="-c cudaProfilerApi --capture-range-end=stop" exits 0 traced stepper 5 profile=3:99
	is 6 "$(rows kernel)"
	is 0 "$(column windows complete)"
'

it 'says that a range never began, and which there were' '
	. "$COUNTS"
	gprof-run -f -o t -c nvtx -p nosuch -- "$P/stepper" 3 nvtx >out 2>err
	says "nosuch" err
	says "names seen: setup" err
	is 0 "$(rows kernel)"
'

it 'says that no range was a step' '
	. "$COUNTS"
	gprof-run -f -o t --step nvtx:nosuch* -- "$P/stepper" 3 nvtx >out 2>err
	says "nosuch" err
'

it 'says why nothing was recorded where nobody began it, or the schedule did not' '
	. "$COUNTS"
	OPTIONS="--start-later" exits 0 traced stepper 6 nvtx 2>err
	gprof-trace report -r cuda_gpu_kern_sum,steps t.gtrace >got
	says "recording was never started" got
	says "no window started, so nothing was recorded" got
	OPTIONS="--schedule wait=100,active=1 --step nvtx:step*" exits 0 traced stepper 6 nvtx 2>err
	gprof-trace report -r cuda_gpu_kern_sum t.gtrace >got
	says "had not reached a step to record" got
	OPTIONS="--schedule wait=1,active=1 --step nvtx:nosuch*" exits 0 traced stepper 6 nvtx 2>err
	gprof-trace report -r cuda_gpu_kern_sum t.gtrace >got
	says "no range or mark matched --step (nosuch*; NVTX names seen: setup" got
	OPTIONS="-c cudaProfilerApi" exits 0 traced stepper 6 nvtx 2>err
	gprof-trace report -r cuda_gpu_kern_sum t.gtrace >got
	says "let the program call cudaProfilerStart" got
	gprof-run -f -o t --on-trace-ready "echo {}" true 2>err
	says "CMD runs when a cycle of --schedule ends, but --schedule was not given" err
'

it 'refuses what makes no sense, in one line' '
	for bad in "-c banana" "-c nvtx" "--capture-range-end=later" "--capture-range-end=repeat:0" "-p @" "--schedule wait=1" "--schedule active=0" \
		"--schedule active=-1" "--schedule active=x" "--step banana" "--step nvtx:" "--step a=nvtx:x --step a=nvtx:y" "-c hotkey" \
		"--step none --schedule active=1" "--capture-signal 9" "-t nvtx -c cudaProfilerApi" "-t nvtx --step auto"; do
		exits 2 gprof-run -o t $bad -- true 2>err
		is 1 "$(grep -c . err)" "lines about $bad: $(cat err)"
	done
'

it 'finds the steps by itself, and keeps those that the schedule says' '
	. "$COUNTS"
	need python3
	gprof-run -q -f -o t -t cuda --schedule wait=10,warmup=2,active=3,repeat=2 -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>err
	is 1 "$(windows)"
	is "12 13 14" "$(column steps step | xargs)"
	is "79 79 79" "$(column steps kernels | xargs)"
	is 237 "$(rows kernel)"
	is "10 11" "$(gprof-trace report -r steps --all-steps --format csv t.gtrace |
		awk -F, "NR == 1 { for (i = 1; i <= NF; i++) if (\$i == \"warmup\") at = i; next } \$at == 1 { print \$1 }" | xargs)"
	gprof-trace report t.gtrace >out
	never_says "recognised late" out
	# Steps that are wanted before they can be known: the page says why there are fewer.
	gprof-run -q -f -o t -t cuda --schedule active=8,repeat=1 -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>err
	complete=$(gprof-trace report -r steps --format csv t.gtrace | awk -F, "NR == 1 { for (i = 1; i <= NF; i++) if (\$i == \"complete\") at = i; next } \$at == 1" | wc -l)
	gprof-trace report t.gtrace >out
	grep -E "^  window    $complete of the 8 steps in window 1 (is|are) complete: launches that repeat" out || fail "$complete: $(cat out)"
'

it 'leaves CUPTI off until rows are wanted, and says what switching it on took' '
	. "$COUNTS"
	release 13.3.75         # from 13.0 to 13.1 CUPTI stays on
	OPTIONS=--start-later exits 0 traced stepper 20
	is 0 "$(grep -c "\"fate\":\"recorded\"" truth)" "activity records of a program in which nothing was recorded"
	OPTIONS="-c cudaProfilerApi --capture-range-end=stop" exits 0 traced stepper 20 profile=10:11
	is 6 "$(rows kernel)"
	test "$(grep -c "\"fate\":\"recorded\"" truth)" -lt 60
	gprof-trace report -r overhead t.gtrace >cost
	says "switching CUPTI on for the first window" cost
'

it 'switches CUPTI on when cuInit has returned, though recording begins before' '
	. "$COUNTS"
	need "$P/driver_api"
	release 13.3.75
	export SIM_SLOW_INIT_MS=400
	OPTIONS=--delay=0.1 exits 0 traced driver_api 20
	is 20 "$(rows kernel)" kernels
	never_says "sim:" err
'

it 'leaves CUPTI on where a graph has wrong ids after kernels were off' '
	. "$COUNTS"
	release 13.0.85
	OPTIONS="-c cudaProfilerApi --capture-range-end=stop" exits 0 traced stepper 20 profile=10:11
	is 6 "$(rows kernel)"
	test "$(grep -c "\"fate\":\"recorded\"" truth)" -gt 60
'

it 'runs a command when a cycle of the schedule is in the file' '
	. "$COUNTS"
	gprof-run -q -f -o "t t" --step nvtx:step* --schedule active=2,wait=1,repeat=2 --on-trace-ready "gprof-trace info {} >>ready; echo done >>ready" \
		-- "$P/stepper" 12 nvtx sleep=50 >out 2>err
	is 2 "$(grep -cx done ready)"
	gprof-run -q -f -o t --step nvtx:step* --schedule active=2,repeat=1 --on-trace-ready "exit 3" -- "$P/stepper" 6 nvtx >out 2>err
	gprof-trace report -r health t.gtrace >health
	says "detail: exit status 3" health
	never_says ": exit 3" health
'
