#!/bin/sh
# `report list` groups the reports, names the question that each answers, and what a given trace lacks for each.
. "$(dirname "$0")/lib.sh"

it 'each report has a group and a question, in text, CSV and JSON' '
	gprof-trace report list --all -f csv >csv
	gprof-trace report list --all -f json >json
	gprof-trace report list --all >text
	python3 - <<-END
		import csv, json
		rows, same, text = list(csv.DictReader(open("csv"))), json.load(open("json")), open("text").read()
		assert len(rows) > 90 and [r["report"] for r in rows] == [r["report"] for r in same]
		for r in rows:
		    assert r["group"], r
		    assert r["report"].startswith("hta_") or "?" in r["question"], r
		    assert "\n  " + r["report"] + " " in text, r
		groups = list(dict.fromkeys(r["group"] for r in rows))
		assert groups[:4] == ["Start here", "Timeline", "GPU", "CPU and Python"], groups
		assert [g.split()[1] for g in groups[-3:]] == ["nsys", "TensorBoard", "HTA"], groups
		for g in groups:
		    assert text.startswith(g + "\n") or "\n\n" + g + "\n" in text, g
	END
	gprof-trace report list >ours
	never_says hta_temporal ours
	says "hta_*" ours
	for option in "--limit 3" "-o file" "-r steps" "--sort report"; do
		# shellcheck disable=SC2086
		exits 2 gprof-trace report list $option 2>err
		says "report list takes no option -" err
	done
	test ! -e file
'

it 'names of the last release print the same report' '
	need "$GPROF_BUILD/sim/libcuda.so.1"
	export LD_LIBRARY_PATH=$GPROF_BUILD/sim
	gprof-run -q --cuda-memory-usage=true -o run -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>&1
	for names in cuda_gpu_kern_occupancy:occupancy cuda_mem_usage:cuda_memory; do
		gprof-trace report -r "${names%:*}" -f csv run.gtrace >old 2>err || fail "$(cat err)"
		gprof-trace report -r "${names#*:}" -f csv run.gtrace >new 2>/dev/null
		[ "$(wc -l <new)" -gt 1 ] || fail "$names has no rows"
		same old new
		gprof-trace report list -f csv | sed "s/,.*//" >names
		! grep -qx "${names%:*}" names || fail "the list has ${names%:*}"
	done
'

it 'with a trace the list says what is not in it, and how to record it' '
	need "$GPROF_BUILD/sim/libcuda.so.1"
	export LD_LIBRARY_PATH=$GPROF_BUILD/sim
	gprof-run -q -o run -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>&1
	gprof-trace report list run.gtrace >list
	grep -A 1 "^  ops " list | grep -q "(no PyTorch operators; gprof-run -t cuda,nvtx,torch-ops records them)" || fail "$(cat list)"
	grep -A 1 "^  ops_diff " list | grep -q "(takes 2 traces)" || fail "$(cat list)"
	grep -A 1 "^  range_sites " list | grep -q "(no call stacks of ranges; gprof-run --nvtx-backtrace records them)" || fail "$(cat list)"
	grep -A 1 "^  phases " list | grep -q "(no PyTorch ranges; gprof-run -t cuda,nvtx,torch records them)" || fail "$(cat list)"
	! grep -A 1 "^  critical_path " list | grep -q "(no" || fail "$(cat list)"
	! grep -A 1 "^  steps " list | grep -q "(no" || fail "$(cat list)"
	gprof-trace report list -f csv run.gtrace >csv
	grep -q "^cpu_sum,.*,no CPU samples; gprof-run -s cpu records them$" csv || fail "$(cat csv)"
	grep -q "^cuda_gpu_kern_sum,.*,$" csv || fail "$(cat csv)"
	# What a report lacks it does not show.
	for name in $(python3 -c "
	import csv
	print(*[r[\"report\"] for r in csv.DictReader(open(\"csv\")) if r[\"lacks\"].startswith(\"no \")])"); do
		gprof-trace report -r "$name" -f csv run.gtrace >rows 2>err
		[ "$(wc -l <rows)" -le 1 ] || fail "$name has rows: $(grep "^$name," csv)"
	done
	echo "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2}]}" >k.json
	gprof-trace report list k.json >imported
	grep -A 1 "^  ops " imported | grep -q "(no PyTorch operators)" || fail "$(cat imported)"
	exits 1 gprof-trace report list nothing.gtrace 2>err
	says "nothing.gtrace" err
'
