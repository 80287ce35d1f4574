#!/bin/sh
# gprof-trace redact: every number of every report is unchanged, and no planted secret is in the decoded bytes of the new trace.
. "$(dirname "$0")/lib.sh"
USE='P=$GPROF_BUILD/test/programs
need "$P/sample_trace" "test programs are not built (make programs)"
need python3
# decoded FILE: every row, read by a reader that shares no code with ours; texts as they are stored.
decoded() { python3 "$GPROF_TOP/test/e2e/read_gtrace.py" "$1" "$GPROF_TOP/docs/reference/trace-format.md"; }
# gone WORD...: none is in out.gtrace, neither in its rows nor in its header.
gone() {
	{ decoded out.gtrace; head -c 200 out.gtrace | tr "\0" "\n"; } >rows
	for word in "$@"; do never_says "$word" rows; done
}
'
NUMBERS=$USE'
# equal: in.gtrace redacted has the numbers of in.gtrace, with all names and with none.
equal() {
	gprof-trace redact -q -f -o out in.gtrace
	python3 "$GPROF_TOP/test/e2e/redact_check.py" in.gtrace out.gtrace
	gprof-trace redact -q -f -o out --names="*" in.gtrace
	python3 "$GPROF_TOP/test/e2e/redact_check.py" in.gtrace out.gtrace
	gprof-trace check out.gtrace
}
'

it 'all numbers of all reports of a job of several ranks stay' "$NUMBERS"'
	"$P/sample_trace" in.gtrace ranks
	equal
	decoded out.gtrace | grep "kernel_1" || fail "no kernel was renamed"
	decoded out.gtrace | grep "range_1" || fail "no range was renamed"
'

it 'all numbers of all reports about stacks stay' "$NUMBERS"'
	"$P/stack_trace" in.gtrace
	equal
'

it 'all numbers of an imported trace stay' "$NUMBERS"'
	gprof-trace import -q -o in "$GPROF_TOP"/test/data/kineto/base/*.gz
	equal
	exits 2 gprof-trace redact -o new "$GPROF_TOP"/test/data/kineto/base/host0*.gz 2>err
	says "gprof-trace import" err
'

it 'all numbers of payloads stay, and their texts go' "$NUMBERS"'
	gprof-run -q -o in -- "$P/nvtx_payloads" >said
	gprof-trace report -r nvtx_payloads --limit 0 --format json in.gtrace >values
	equal
	python3 - <<-END >texts
	import json
	for row in json.load(open("values")):
	    if isinstance(row["value"], str) and any(c.isalpha() for c in row["value"]) and len(row["value"]) > 3 and row["value"][:2] != "0x":
	        print(row["value"].split("|")[0])
	END
	for trace in in out; do gprof-trace dump --raw -k payload $trace.gtrace | sed "s/.* text=//" >$trace; done
	n=0
	while read -r text; do
		! grep -qF -e "$text" in || n=$((n + 1))
		never_says "$text" out
	done <texts
	[ $n -ge 2 ] || fail "the program has no payload with a text: $(cat values)"
'

it 'host, paths, arguments, environment and sources are nowhere' "$USE"'
	python=$(python3 -c "import sys; print(sys.executable)")
	mkdir planted_folder
	cd planted_folder
	cat >planted_file.py <<-END
		import time
		planted_source = time.process_time()
		while time.process_time() - planted_source < 0.2:
		    sum(range(1000))
	END
	PLANTED_ENV=planted_value exits 0 gprof-run -q -o ../in -s cpu --env-all -e PLANTED_NEW=1 --on-trace-ready "true planted_ready" -- \
		"$python" "$PWD/planted_file.py" planted_argument
	cd ..
	for word in planted_folder planted_file planted_source planted_value planted_argument planted_ready PLANTED_NEW "$(hostname)"; do
		decoded in.gtrace | grep -F "$word" >/dev/null || fail "$word was not recorded"
	done
	gprof-trace redact -q -o out in.gtrace
	gone planted PLANTED "$(hostname)" "$(cat /proc/sys/kernel/random/boot_id)" "$PWD" "$(dirname "$python")"
	od -An -tx1 -j24 -N16 out.gtrace | grep -q "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00" || fail "the header has a boot id"
	is 600 "$(stat -c %a out.gtrace)" "mode"
	gprof-trace report -r cpu_sum,lines out.gtrace >page
	grep -E "^ /file_[0-9]+.py +4 " page
'

it 'names are replaced by rule, everywhere' "$USE"'
	cat >planted.json <<-END
		{"deviceProperties": [{"id": 0, "name": "GPU"}], "trace_name": "/home/planted_user/x.json", "planted_fact": "planted_too", "traceEvents": [
		{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 1, "args": {"name": "planted_process"}},
		{"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "ts": 1, "args": {"name": "planted_thread"}},
		{"ph": "X", "cat": "user_annotation", "name": "planted_range", "pid": 7, "tid": 7, "ts": 10, "dur": 90, "args": {"External id": 1, "Secret": "planted_argument"}},
		{"ph": "X", "cat": "user_annotation", "name": "load /home/planted_user/planted_data", "pid": 7, "tid": 7, "ts": 101, "dur": 9, "args": {"External id": 3}},
		{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 20, "dur": 50, "args": {"External id": 2,
		 "Input Dims": [[8, 3], [3, 4]], "Input type": ["float", "float"], "Concrete Inputs": ["", "planted_input"]}},
		{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 30, "dur": 5, "args": {"correlation": 5, "External id": 2}},
		{"ph": "X", "cat": "kernel", "name": "planted_kernel_h884", "pid": 0, "tid": 7, "ts": 40, "dur": 8, "args": {"correlation": 5, "stream": 7, "device": 0, "External id": 2}}
		]}
	END
	gprof-trace import -q -o in planted.json
	gprof-trace redact -q -o out in.gtrace
	gone planted_user planted_data planted_argument planted_input planted_fact planted_too planted.json
	for kept in planted_range planted_kernel_h884 planted_process planted_thread aten::mm "[[8, 3], [3, 4]]"; do says "$kept" rows; done
	gprof-trace redact -q -f -o out --names="*planted*" in.gtrace
	gone planted
	says kernel_1_h884 rows
	says aten::mm rows
	python3 "$GPROF_TOP/test/e2e/redact_check.py" in.gtrace out.gtrace
	gprof-trace redact -q -f -o out --names="*" --keep-names="planted_r*,*thread" in.gtrace
	gone planted_kernel planted_process
	for kept in planted_range planted_thread aten::mm; do says "$kept" rows; done
'

it 'wrong words are refused, and files stay' "$USE"'
	"$P/sample_trace" in.gtrace one >has
	exits 2 gprof-trace redact in.gtrace 2>err
	says "-o OUT.gtrace" err
	echo mine >out.gtrace
	exits 1 gprof-trace redact -o out in.gtrace 2>err
	says "exists; -f replaces it" err
	exits 1 gprof-trace redact -f -o out has 2>err
	is mine "$(cat out.gtrace)"
	cp in.gtrace before
	exits 0 gprof-trace redact -f -o in in.gtrace >said
	says "names stay" said
	gprof-trace check in.gtrace
	cmp -s in.gtrace before && fail "it was not replaced by itself" || :
'
