#!/bin/sh
# Shares of time are shares of the GPU span (docs/reference/numbers.md), which excludes the time between recorded windows.  The expected
# numbers are from the simulator's truth file.
. "$(dirname "$0")/lib.sh"
TRAIN='need python3
need "$GPROF_BUILD/sim/libcuda.so.1"
export LD_LIBRARY_PATH=$GPROF_BUILD/sim
train() { python3 "$GPROF_TOP/test/programs/train.py" --no-torch --nvtx-shim "$GPROF_BUILD/test/programs/libnvtx_shim.so" "$@" >/dev/null; }
scheduled() {
	SIM_TRUTH=$PWD/truth gprof-run -q -f -o w --step "nvtx:step*" --schedule wait=2,warmup=1,active=3,repeat=2 -- \
		python3 "$GPROF_TOP/test/programs/train.py" --no-torch --nvtx-shim "$GPROF_BUILD/test/programs/libnvtx_shim.so" >/dev/null 2>&1
	gprof-trace dump -k window w.gtrace | sed "s/.*first_corr=\([0-9]*\) end_corr=\([0-9]*\) .*/\1 \2/" >windows
	python3 "$GPROF_TOP/test/e2e/span_truth.py" truth windows >want
}
# true LABEL SPAN BUSY: as the truth has them, to what converting clocks may move each row by.
true_of() {
	awk -v label="$1" -v span="$2" -v busy="$3" "
		function off(a, b) { return a > b ? a - b : b - a }
		\$1 == label { found = 1; if (off(\$2, span) > 1000 || off(\$3, busy) > 1000) { print label \": span \" span \", busy \" busy \", not \" \$0; exit 1 } }
		END { if (!found) exit 1 }" want || fail "not as the truth has it"
}
# column N of the only row of a report as CSV
column() { gprof-trace report -f csv -r "$1" ${3-} w.gtrace 2>/dev/null | sed -n "2s/\r//;2p" | cut -d , -f "$2"; }
'

it 'two windows have the time of both, not that between them' "$TRAIN"'
	scheduled
	true_of all "$(column temporal 2)" "$(column temporal 3)"
	true_of 1 "$(column temporal 2 --window=1)" "$(column temporal 3 --window=1)"
	true_of 2 "$(column temporal 2 --window=2)" "$(column temporal 3 --window=2)"
	# The time between is many times what clocks may differ by: a report that has it in differs.
	awk "/^all/ { all = \$2 } /^whole/ { whole = \$2 } END { exit whole < all + 5000000 }" want || fail "no time between the windows"
	gprof-trace report w.gtrace >page
	percent=$(awk "/^all/ { printf \"%.1f\", 100 * \$3 / \$2 }" want)
	tr -s " \n" " " <page >flat
	says "busy $percent % of" flat
	says "in 2 recorded windows" flat
	gprof-trace report --window 2 w.gtrace | tr -s " \n" " " >flat
	says "busy $(awk "/^2/ { printf \"%.1f\", 100 * \$3 / \$2 }" want) % of" flat
	says "in 1 recorded window" flat
	says "only window 2" flat
	gprof-trace report -r temporal w.gtrace >got
	says "span is the recorded time, in 2 windows: of each from its first to its last GPU row" got
'

it 'idle_stacks has the idle time and the span that temporal has' "$TRAIN"'
	scheduled
	for part in "" --window=1 --step=4; do
		idle=$(column temporal 5 $part)
		span=$(column temporal 2 $part)
		gprof-trace report -f json -r idle_stacks $part w.gtrace >/dev/null 2>notes
		note=$(grep -o "GPU idle .* ms of [0-9.]* ms" notes) || fail "no note of the idle time: $(cat notes)"
		is "$(awk -v a="$idle" -v b="$span" "BEGIN { printf \"%.3g %.3g\", a / 1e6, b / 1e6 }")" \
			"$(echo "$note" | awk "{ printf \"%.3g %.3g\", \$3, \$6 }")" "idle time and span of $part"
	done
'

it 'of a selected step busy and idle are of the step, and its row is that of the whole table' "$TRAIN"'
	scheduled
	gprof-trace report -f csv -r steps w.gtrace 2>/dev/null >all
	is 7 "$(wc -l <all)" "lines: a heading and six steps"
	for number in 3 4 5 9 10 11; do
		gprof-trace report -f csv -r steps --step $number w.gtrace 2>/dev/null | tail -n +2 >one
		grep "^$number," all >row
		cmp row one || fail "step $number"
		is "$(cut -d , -f 7 row)" "$(column temporal 2 --step=$number)" "span of step $number"
	done
	gprof-trace report --step 4:5 w.gtrace | tr -s " \n" " " >flat
	says "only steps 4 to 5" flat
	says "of 2 selected steps" flat
'

it 'two processes on one GPU are one line that names both, and sums say whose they are' "$TRAIN"'
	need "$GPROF_BUILD/test/programs/libnvtx_shim.so"
	gprof-run -q -f -o two -- sh -c "python3 $GPROF_TOP/test/programs/train.py --no-torch --steps 5 & echo \$! >a
		python3 $GPROF_TOP/test/programs/train.py --no-torch --steps 3 & echo \$! >b; wait" >/dev/null 2>&1
	gprof-trace report two.gtrace >page
	is 1 "$(grep -c "^  GPU 0 " page)" "lines of the GPU"
	tr -s " \n" " " <page >flat
	grep -qE "\(pids ($(cat a), $(cat b)|$(cat b), $(cat a))\)" flat || fail "not both: $(cat flat)"
	says "kernel (% of kernels) (2 processes)" page
	gprof-trace report -f csv -r processes two.gtrace 2>/dev/null | awk -F , "
		NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next }
		\$at[\"kernels\"] > 0 { print \$at[\"process\"], \$at[\"pid\"], \$at[\"kernels\"] }" >users
	is 2 "$(wc -l <users)" "processes with kernels"
	gprof-trace report -r cuda_gpu_kern_sum two.gtrace >got
	says "sums of 2 processes; --process N selects one" got
	while read -r number pid kernels; do
		gprof-trace report -f csv -r cuda_gpu_kern_sum --process "$number" two.gtrace 2>notes >got
		is "$kernels" "$(awk -F , "NR > 1 { n += \$3 } END { print n }" got)" "kernels of process $number"
		says "only process $number" notes
		never_says "sums of" notes
		gprof-trace report --process "$number" two.gtrace >page
		says "(pid $pid)" "page"
		never_says "sum of" page
	done <users
	numbers=$(cut -d " " -f 1 users | paste -sd ,)
	is "$(awk "{ n += \$3 } END { print n }" users)" "$(gprof-trace report -f csv -r cuda_gpu_kern_sum --process "$numbers" two.gtrace 2>/dev/null |
		awk -F , "NR > 1 { n += \$3 } END { print n }")" "kernels of both"
	exits 1 gprof-trace report --process 999 two.gtrace >out 2>err
	says "has no process number 999; gprof-trace report -r processes lists them" err
	is 0 "$(wc -c <out)" "bytes"
	for wrong in x 1, ,1 1,,2 -1 ""; do
		exits 2 gprof-trace report -r cuda_api_sum --process="$wrong" two.gtrace >out 2>err
		says "--process" err
	done
'

it 'a device without a name is said to be unknown, and each rank has its line' '
	for rank in 0 1; do
		echo "{\"distributedInfo\": {\"rank\": $rank}, \"deviceProperties\": [{\"id\": 0, \"name\": \"\"}], \"traceEvents\": [
			{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 2, \"args\": {\"device\": 0, \"stream\": 7}},
			{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 11, \"dur\": 4, \"args\": {\"device\": 0, \"stream\": 7}}]}" >$rank.json
	done
	gprof-trace report 0.json 1.json | tr -s " \n" " " >page
	says "GPUs 2 x unknown device" page
	says "GPU 0 busy 42.9 % of 14.0 us from first to last GPU row (rank 0)" page
	says "GPU 0 busy 42.9 % of 14.0 us from first to last GPU row (rank 1)" page
	says "kernel (% of kernels) (2 processes)" page
	gprof-trace report --process 2 0.json 1.json | tr -s " \n" " " >page
	says "only process 2 holds 1 process, 2 kernels" page
	never_says "rank 0" page
'
