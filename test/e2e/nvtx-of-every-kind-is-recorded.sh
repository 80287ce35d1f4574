#!/bin/sh
# NVTX calls of C programs and of Python's nvtx package, compared with the trace.
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'records every push/pop range that the program says it made' '
	need "$GPROF_BUILD/test/programs/nvtx_kinds" "NVTX programs are not built"
	gprof-run -q -o run -- "$GPROF_BUILD/test/programs/nvtx_kinds" >said
	sed -n "s/^range //p" said | sort >expected
	gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" | sort >actual
	same expected actual
'

it 'records marks, start/end ranges across threads, names of threads and categories, colours and payloads' '
	need "$GPROF_BUILD/test/programs/nvtx_kinds" "NVTX programs are not built"
	gprof-run -q -o run -- "$GPROF_BUILD/test/programs/nvtx_kinds" >said
	gprof-trace dump run.gtrace >rows
	for mark in $(sed -n "s/^mark //p" said); do
		grep "^mark .*name=.*\"$mark\"" rows || fail "no mark $mark"
	done
	grep "^range .*name=.*\"across threads\"" rows >across
	grep -q "flags=0x1 " across || fail "not a start/end range: $(cat across)"
	! grep -q "thread=1 .*end_thread=1 " across || fail "it ended on the thread that began it: $(cat across)"
	grep -q "^category .*id=3 .*\"data\"" rows || fail "no category"
	grep -q "^thread .*\"main loop\"" rows && grep -q "^thread .*\"finisher\"" rows || fail "threads have no names"
	grep "^range .*\"payload\"" rows >payloads
	is 6 "$(grep -c "color=0xff336699" payloads)" "ranges with the colour"
	is 6 "$(grep -c "category=3 " payloads)" "ranges with the category"
	for type in 1 2 3 4 5 6; do
		grep -q "payload_type=$type " payloads || fail "no payload of type $type"
	done
	grep -q "payload=18446744073709551615 .*payload_type=1 " payloads || fail "the u64 payload is another: $(cat payloads)"
'

it 'sums start/end ranges, alone and beside push/pop ranges' '
	need "$GPROF_BUILD/test/programs/nvtx_kinds" "NVTX programs are not built"
	gprof-run -q -o run -- "$GPROF_BUILD/test/programs/nvtx_kinds" >said
	sed -n "s/^startend \(.*\)/:\1,1/p" said >expected
	gprof-trace report -r nvtx_startend_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" >actual
	same expected actual
	sed -n "s/^startend \(.*\)/StartEnd,:\1,1/p; s/^range /PushPop,/p" said | sort >expected
	gprof-trace report -r nvtx_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$10 \",\" \$3 }" | sort >actual
	same expected actual
'

it 'salvages the ranges that were open when the program was killed, by each signal' '
	need "$GPROF_BUILD/test/programs/nvtx_killed" "NVTX programs are not built"
	for signo in 9 11 6 15; do
		# What a program does in its last tenth of a second does not come through a pipe.
		exits $((128 + signo)) gprof-run -q -f -o run -- \
			"$GPROF_BUILD/test/programs/nvtx_killed" $signo 100 ${GPROF_TEST_TRANSPORT:+500} >said
		gprof-trace dump run.gtrace >rows
		is 100 "$(grep -c "^range .*\"done\"" rows)" "ranges that had ended before signal $signo"
		for open in outer inner started; do
			grep "^range .*\"$open\"" rows >one || fail "signal $signo: range $open is missing"
			grep -q "flags=0x[23] " one || fail "signal $signo: not marked incomplete: $(cat one)"
			! grep -q "duration=0 " one || fail "signal $signo: it was open until the end: $(cat one)"
		done
	done
'

it 'serves targets of NVTX 2' '
	need "$GPROF_BUILD/test/programs/nvtx2" "NVTX programs are not built"
	gprof-run -q -o run -- "$GPROF_BUILD/test/programs/nvtx2" >said
	gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" >actual
	is ":version two,4" "$(cat actual)" "the report"
	is 4 "$(gprof-trace dump run.gtrace | grep -c "^mark ")" "marks"
'

it 'serves NVTX by its own door alone, without LD_PRELOAD' '
	need "$GPROF_BUILD/test/programs/nvtx_kinds" "NVTX programs are not built"
	gprof-run -q -o run -- env -u LD_PRELOAD "$GPROF_BUILD/test/programs/nvtx_kinds" >said
	sed -n "s/^range //p" said | sort >expected
	gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" | sort >actual
	same expected actual
'

it 'serves the nvtx package of Python' '
	need "$GPROF_BUILD/judges/bin/python" "no environment for judges"
	"$GPROF_BUILD/judges/bin/python" -c "import nvtx" 2>/dev/null || skip "the nvtx package is not installed"
	cat >train.py <<-PY
		import nvtx
		for step in range(5):
		    with nvtx.annotate(f"step {step}", color="blue"):
		        with nvtx.annotate("load", domain="data", category="io"):
		            pass
		@nvtx.annotate("work", payload=7)
		def work(): pass
		work()
		nvtx.mark("end of training")
		r = nvtx.start_range("loose"); nvtx.end_range(r)
	PY
	gprof-run -q -o run -- "$GPROF_BUILD/judges/bin/python" train.py
	gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" | sort >actual
	printf "%s\n" ":step 0,1" ":step 1,1" ":step 2,1" ":step 3,1" ":step 4,1" ":work,1" "data:load,5" | sort >expected
	same expected actual
	gprof-trace dump run.gtrace | grep -q "^mark .*\"end of training\"" || fail "no mark"
'
