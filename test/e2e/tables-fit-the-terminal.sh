#!/bin/sh
# Tables are as wide as COLUMNS, the terminal, or 120 columns.  Tables have human units; CSV and JSON have exact numbers.
. "$(dirname "$0")/lib.sh"

LIMIT=300      # some hundred reports
# fits TRACE: all reports that take one trace, 40 at a time.
FIT='
	gprof-trace report list --all -f csv | sed "1d; s/,.*//" | grep -vE "compare_traces|ops_diff|memory_by_category" |
		xargs -n 40 | tr " " , >lists
	fits() {
		for width in 80 120 200; do
			COLUMNS=$width gprof-trace report list --all "$1" >table
			for reports in $(cat lists); do
				COLUMNS=$width gprof-trace report -r $reports -n 50 "$1" >>table 2>err || grep -q "hta_critical" err ||
					fail "$reports of $1: $(cat err)"
			done
			python3 - $width <<-END || fail "lines of $1 are wider than $width"
				import sys
				lines = open("table", encoding="utf-8", errors="replace").read().split("\n")
				wide = [l for l in lines if len(l) > int(sys.argv[1])]
				print(*wide[:3], sep="\n")
				sys.exit(len(wide) > 0 or sum(l.startswith(" ** ") for l in lines) < 80)
			END
		done
	}
'

it 'no line of a table is wider than the terminal, for traces of real jobs' "$FIT"'
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}/hta/traces
	[ -d "$data" ] || skip "no traces of real jobs in GPROF_TEST_DATA"
	for trace in hta-nccl-a100 tl-h100-bert-small tl-mi210-gpu-only hta-edge-cpu-only; do
		for file in "$data"/$trace/*; do break; done
		gprof-trace import -f -o t.gtrace "$file" 2>err || fail "$(cat err)"
		fits t.gtrace
	done
'

it 'no line of a table is wider than the terminal, for a program on the simulated GPU' "$FIT"'
	need "$GPROF_BUILD/sim/libcuda.so.1"
	export LD_LIBRARY_PATH=$GPROF_BUILD/sim
	gprof-run -q -t cuda,nvtx,osrt --cudabacktrace=all -s cpu -o run -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>&1
	fits run.gtrace
'

it 'narrow tables keep the columns that their report is about' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}/hta/traces/hta-nccl-a100
	[ -d "$data" ] || skip "no traces of real jobs in GPROF_TEST_DATA"
	for file in "$data"/*; do break; done
	gprof-trace import -f -o t.gtrace "$file" 2>err || fail "$(cat err)"
	gprof-run -q -o run -- sh -c true 2>err
	export COLUMNS=80
	for keep in "t ops_by_shape self_host name" "t tb_operators_by_shape host_self name" "t tb_kernels_by_operator total operator name" \
		"t launch_delays delay name" "t tb_gpu_summary utilization_pct" "run processes process pid wall ended name"; do
		set -- $keep
		gprof-trace report -r "$2" -n 3 "$1.gtrace" >table 2>err
		for column in $(shift 2; echo "$@"); do
			grep -B 1 "^ --" table | grep -qw -- "$column" || fail "$2 without $column: $(cat table)"
		done
	done
	gprof-trace info t.gtrace | sed -n "/^ \*\* /,\$p" >table
	python3 -c "import sys; sys.exit(any(len(line.rstrip(chr(10))) > 80 for line in open(\"table\", encoding=\"utf-8\")))" || fail "$(cat table)"
	never_says "--wide" table
	never_says "--full-names" table
'

it 'tables have four digits and a unit, CSV and JSON whole nanoseconds' '
	need "$GPROF_BUILD/sim/libcuda.so.1"
	export LD_LIBRARY_PATH=$GPROF_BUILD/sim
	gprof-run -q -o run -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>&1
	gprof-trace report -r steps run.gtrace >table
	gprof-trace report -r steps -f csv run.gtrace >csv 2>/dev/null
	gprof-trace report -r steps -f json run.gtrace >json 2>/dev/null
	grep -qE "^ step .* wall  *gpu_busy " table || fail "$(cat table)"
	says "wall_ns" csv
	python3 - <<-END
		import csv, json
		rows, same = list(csv.DictReader(open("csv"))), json.load(open("json"))
		assert [int(r["wall_ns"]) for r in rows] == [r["wall_ns"] for r in same]
		heads, dashes, *lines = open("table").read().split("\n")[2:]
		at = [i for i in range(len(dashes)) if dashes[i] == "-" and dashes[i - 1] == " "] + [len(dashes) + 2]
		names = [heads[a:b - 2].strip() for a, b in zip(at, at[1:])]
		units = dict(ns=1, us=10**3, ms=10**6, s=10**9)
		for r, line in zip(rows, lines):
		    cells = dict(zip(names, [line[a:b - 2].strip() for a, b in zip(at, at[1:])]))
		    number, unit = cells["wall"].split()
		    assert len(number.replace(".", "").replace(",", "")) == 4, number
		    assert abs(float(number) * units[unit] / int(r["wall_ns"]) - 1) < 0.0006, (line, r)
		assert len(rows) > 3
	END
'

it 'what does not fit is named, and --wide and --full-names show it' '
	need "$GPROF_BUILD/sim/libcuda.so.1"
	export LD_LIBRARY_PATH=$GPROF_BUILD/sim
	gprof-run -q -o run -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>&1
	unset COLUMNS
	gprof-trace report -r steps run.gtrace >narrow
	grep -q "^  columns not shown: .*launched_start" narrow || fail "$(tail narrow)"
	! grep -q "^ step .*launched_start" narrow || fail "120 columns have all of them"
	gprof-trace report -r steps --wide run.gtrace >wide
	grep -q "^ step .*launched_start" wide || fail "--wide does not show launched_start"
	! grep -q "columns not shown" wide || fail "$(tail wide)"
	# A name of 200 characters.
	name=$(printf "%0200d" 7)
	echo "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k<$name>(int, float)\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2,
		\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}}]}" >k.json
	gprof-trace report -r cuda_gpu_kern_sum k.json >folded 2>err
	grep -qE "k<0+…0+7>$" folded || fail "$(cat folded)"
	gprof-trace report -r cuda_gpu_kern_sum --full-names k.json >full 2>err
	says "k<$name>(int, float)" full
	exits 2 gprof-trace report --wide run.gtrace 2>err
	says "wide needs a report" err
'
