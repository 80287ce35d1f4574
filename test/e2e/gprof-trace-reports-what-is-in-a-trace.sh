#!/bin/sh
. "$(dirname "$0")/lib.sh"
SAMPLE='need "$GPROF_BUILD/test/programs/sample_trace" "test programs are not built (make programs)"
sample() { "$GPROF_BUILD/test/programs/sample_trace" "$1.gtrace" "$1" >"$1.has"; }
has() { sed -n "s/^$1 //p" one.has; }
'

it 'every kind of row is counted by its report as often as it is there' "$SAMPLE"'
	sample one
	gprof-trace report -r cuda_gpu_kern_sum --format csv one.gtrace >kernels 2>notes
	is $(($(has kernels) + $(has untimed))) "$(awk -F, "NR > 1 { n += \$3 } END { print n }" kernels)" kernels
	says "without a time, because CUPTI gave none: 1" notes
	gprof-trace report -r cuda_api_sum --format csv one.gtrace >calls 2>notes
	is "$(has calls)" "$(awk -F, "NR > 1 { n += \$3 } END { print n }" calls)" calls
	says "not returned when their process ended: 1" notes
	gprof-trace report -r cuda_gpu_mem_size_sum --format csv one.gtrace >sizes
	is $(($(has copies) + $(has sets))) "$(awk -F, "NR > 1 { n += \$2 } END { print n }" sizes)" copies
	gprof-trace report -r cuda_gpu_trace --format csv one.gtrace >rows 2>/dev/null
	is $(($(has kernels) + $(has untimed) + $(has copies) + $(has sets))) $(($(wc -l <rows) - 4)) "lines of the trace: a head, and three names with a line end"
'

it 'a report comes as table, csv or json, to a file or to the terminal, sorted and cut' "$SAMPLE"'
	need python3
	sample one
	gprof-trace report -r cuda_api_sum -f json -o api.json one.gtrace 2>/dev/null
	gprof-trace report -r cuda_api_sum,nvtx_pushpop_sum -f json one.gtrace 2>/dev/null >two.json
	gprof-trace report -r cuda_api_sum -f csv one.gtrace 2>/dev/null >api.csv
	gprof-trace report -r cuda_api_sum --sort "num calls" --limit 1 one.gtrace >api.txt
	python3 -c "
import csv, json
rows, both, lines = json.load(open(\"api.json\")), json.load(open(\"two.json\")), list(csv.DictReader(open(\"api.csv\")))
assert both[\"cuda_api_sum\"] == rows and len(both[\"nvtx_pushpop_sum\"]) == 3
assert [r[\"Name\"] for r in rows] == [r[\"Name\"] for r in lines]
assert all(str(r[\"Total Time (ns)\"]) == l[\"Total Time (ns)\"] for r, l in zip(rows, lines))
assert sum(r[\"Num Calls\"] for r in rows) == 8
"
	says "cudaLaunchKernel" api.txt
	never_says "cudaMemcpyAsync" api.txt
	says "rows not shown: 3" api.txt
'

it 'what cannot be known is empty in csv, null in json and - in a table, and the reason is said' "$SAMPLE"'
	need python3
	sample one
	gprof-trace report -r cuda_gpu_trace -f json one.gtrace >rows 2>notes
	python3 -c "
import json
first = json.load(open(\"rows\"))[0]
assert first[\"Start (ns)\"] is None and first[\"Duration (ns)\"] is None and first[\"Bytes (MB)\"] is None, first
"
	says "because CUPTI gave none" notes
	gprof-trace report -r cuda_gpu_trace one.gtrace >table
	grep -q "^ *-  *-  *6 " table || fail "$(head -n 6 table)"
	sample empty
	gprof-trace report -r cuda_gpu_kern_sum empty.gtrace >none
	says "no kernels: no process used CUDA; 1 was seen, and none called it" none
	is "[]" "$(gprof-trace report -r cuda_gpu_kern_sum -f json empty.gtrace 2>/dev/null)" "an empty report"
'

it 'without -r there is one page, and it fits a terminal' "$SAMPLE"'
	sample one
	gprof-trace report one.gtrace >page
	says "simulated GPU" page
	tr -s " \n" " " <page >flat
	says "1 process, 8 API calls, 8 kernels, 2 copies, 1 memory set, 6 NVTX ranges, 1 mark" flat
	says "GPU 0 Simulated GPU (pid 4242) busy" flat
	says "vecadd" page
	says "gprof-trace export one.gtrace" page
	[ "$(wc -l <page)" -le 25 ] || fail "$(wc -l <page) lines"
	is "" "$(LC_ALL=C.UTF-8 awk "length > 80" page)" "lines too long"
	sample empty
	gprof-trace report empty.gtrace >page
	says "no CUDA   no process used CUDA" page
'

it 'without a file the newest trace here is read, and named' "$SAMPLE"'
	sample empty
	sample one
	touch -d "2020-01-01" empty.gtrace
	gprof-trace report -r cuda_api_sum -f csv >out 2>err
	says "reading '\''one.gtrace'\'', the newest trace here" err
	says "cudaLaunchKernel" out
	rm ./*.gtrace
	exits 1 gprof-trace report >out 2>err
	says "no *.gtrace in the current folder" err
'

it 'a trace is found by the name that gprof-run -o was given' "$SAMPLE"'
	sample one
	mkdir two
	gprof-trace report -r cuda_api_sum -f csv one.gtrace >want 2>err
	for command in "report -r cuda_api_sum -f csv" info check dump recover "export -o -"; do
		# shellcheck disable=SC2086
		exits 0 gprof-trace $command one >got 2>err
	done
	gprof-trace report -r cuda_api_sum -f csv one >got 2>err
	same want got
	mv one.gtrace two.gtrace
	exits 1 gprof-trace report two 2>err
	says "'"'two'"'" err
	exits 1 gprof-trace report one 2>err
	says "cannot open '"'one'"'" err
'

it 'the page is as wide as the terminal that shows it' "$SAMPLE"'
	need script "needs script (util-linux)"
	sample one
	TERM=dumb script -qec "stty cols 70; gprof-trace report one.gtrace" /dev/null </dev/null | tr -d "\r" >page
	says "1 process, 8 API calls" page
	is "" "$(LC_ALL=C.UTF-8 awk "length > 70 && !/gprof-trace/" page)" "lines too long"
'

it 'what is asked of reports needs the name of one' "$SAMPLE"'
	sample one
	for option in "-f csv" "-o file" "--sort Name" "--limit 3"; do
		# shellcheck disable=SC2086
		exits 2 gprof-trace report $option one.gtrace >out 2>err
		says "needs a report: name it with -r" err
	done
'

it 'an export with nothing in it says so' "$SAMPLE"'
	sample empty
	gprof-trace export empty.gtrace >out 2>err
	says "'"'empty.json'"' is empty" err
	for format in folded pprof; do
		exits 1 gprof-trace export --format $format -o empty.$format empty.gtrace >out 2>err
		says "nothing to export: the trace has no stacks with gpu_time (try --metric api_time)" err
		is 1 "$(wc -l <err)" "lines on stderr"
		is "" "$(ls | grep "empty.$format")" "files"
		exits 1 gprof-trace export --format $format --metric bytes -o - empty.gtrace >out 2>err
		says "nothing to export: the trace has no stacks with bytes" err
		is 0 "$(wc -c <out)" "bytes on standard output"
	done
	exits 1 gprof-trace export -o no/such/file.json empty.gtrace 2>err
	says "cannot write '"'no/such/file.json'"'" err
'

it 'the list names every report, and a wrong name gets the nearest' "$SAMPLE"'
	sample one
	for name in cuda_gpu_kern_sum cuda_api_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum nvtx_pushpop_sum cuda_gpu_trace health overhead \
		processes; do
		gprof-trace report list | grep -q "^  $name  *[a-zA-Z]" || fail "no $name in the list"
		exits 0 gprof-trace report -r "$name" one.gtrace >/dev/null
	done
	gprof-trace report list >list
	is 1 "$(grep "^  [a-z]" list | awk "{ match(\$0, /[a-z0-9] +/); print RSTART + RLENGTH }" | sort -u | wc -l)" "columns where questions start"
	exits 2 gprof-trace report -r cuda_gpu_kernel_sum one.gtrace 2>err
	says "did you mean '\''cuda_gpu_kern_sum'\''?" err
	exits 2 gprof-trace report -r cuda_api_sum --sort nothing one.gtrace 2>err
	says "has no column '\''nothing'\'' to sort by" err
	exits 2 gprof-trace reprt 2>err
	says "did you mean '\''report'\''?" err
	exits 2 gprof-trace report --limit 1o one.gtrace 2>err
	says "needs a whole number, not '\''1o'\''" err
'

it 'info, check and dump tell the same numbers' "$SAMPLE"'
	sample one
	gprof-trace info one.gtrace >info
	says "python train.py" info
	for pair in api:calls kernel:- range:annotations; do
		n=$(gprof-trace dump --kind "${pair%:*}" one.gtrace | wc -l)
		grep -qE "^ ${pair%:*} +$n " info || fail "info and dump differ for ${pair%:*}: $n
$(cat info)"
	done
	is 8 "$(gprof-trace dump -k api one.gtrace | wc -l)" "API rows"
	gprof-trace dump -k kernel,string -p 1 one.gtrace >rows
	says "name=\"_Z6vecaddPfS_i\"" rows
	says "text=\"forward, pass\"" rows
	is "" "$(gprof-trace dump -k kernel -p 7 one.gtrace)" "rows of a process that is not there"
	exits 0 gprof-trace check one.gtrace >out
	says "one.gtrace: complete" out
	exits 2 gprof-trace dump --kind kernl one.gtrace 2>err
	says "gprof-trace info lists the kinds" err
	says "did you mean '\''kernel'\''?" err
'

it 'the manual, the completion and each --help are printed from the same tables' '
	gprof-trace --help >help
	gprof-trace help --man >man
	gprof-trace --man | cmp - man
	gprof-trace --completion >completion
	bash -n completion
	for command in report info export check recover dump help; do
		says "  $command " help
		says "$command" man
		exits 0 gprof-trace "$command" --help >out
		says "usage: gprof-trace $command" out
		test "$(wc -l <out)" -le 40
		cat out >>all
	done
	test "$(wc -l <help)" -le 24
	exits 0 gprof-trace --help-all >out
	says "--no-unpack-limit" out
	is "" "$(awk "length > 80" help all)" "lines too long"
	exits 2 gprof-trace >out 2>err
	: >one.gtrace; : >one.json; mkdir ones
	cat >try <<-"END"
		. ./completion
		try() { COMP_WORDS=(gprof-trace "$@") COMP_CWORD=$#; _gprof_trace; echo "${COMPREPLY[*]}"; }
		try report -r cuda_ap
		try report -r stats,cuda_gpu_kern_s
		try report --format = c
		try info o
	END
	bash try >got
	printf "%s\n" cuda_api_sum stats,cuda_gpu_kern_sum csv "one.gtrace ones" >want
	same want got
'

it 'a full disk behind the output is an error in every command' "$SAMPLE"'
	need /dev/full
	sample one
	for command in "report" "report -r cuda_api_sum" "info" "dump" "check" "export -o -"; do
		# shellcheck disable=SC2086
		exits 1 gprof-trace $command one.gtrace >/dev/full 2>err
		says "cannot write" err
	done
	exits 1 gprof-trace report -r cuda_api_sum -o /dev/full one.gtrace 2>err
	says "cannot write '\''/dev/full'\''" err
'

it 'a trace that is still being written is reported on' '
	need "$GPROF_BUILD/bin/gprof-run"
	gprof-run -q -o live -- sh -c "until [ -e stop ]; do sleep 0.05; done" >out 2>err &
	run=$!
	# Half-full chunks go to the file every second.
	within 20 sh -c "gprof-trace report -r processes -f csv live.gtrace | grep -q ,sh\$"
	exits 0 gprof-trace check live.gtrace >state
	says "still being written" state
	exits 0 gprof-trace report live.gtrace >page
	says "not finished" page
	says "running   the trace is still being written" page
	exits 1 gprof-trace recover live.gtrace 2>refused
	says "is still being written" refused
	touch stop
	wait "$run"
	exits 0 gprof-trace check live.gtrace >state
	says "complete" state
	never_says "being written" state
'
