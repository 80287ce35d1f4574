#!/bin/sh
. "$(dirname "$0")/lib.sh"
DATA=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
export DATA
SMALL=$GPROF_TOP/test/data/kineto
export SMALL

# kernels FILE: the page of kernels, as CSV.  one_line FILE WORDS: refused with one line that has them.
TOOLS='
kernels() { gprof-trace report -r cuda_gpu_kern_sum --format csv "$@"; }
one_line() {
	exits 1 gprof-trace report "$1" >out 2>err
	is 1 "$(wc -l <err)" "lines on stderr"
	says "$1" err
	says "${3-$2}" err
	exits 1 gprof-trace import -o new "$1" >out 2>err
	is 1 "$(wc -l <err)" "lines on stderr"
	says "$2" err
	[ ! -e new.gtrace ] && [ ! -e new.gtrace.part ] || fail "a trace of $1 is there"
}
events() { printf "{\"traceEvents\": [%s]}" "$1"; }
kernel() { printf "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": %s, \"dur\": %s}" "$1" "$2"; }
'

it 'each event of small files becomes its row' '
	need python3
	python3 "$GPROF_TOP/test/e2e/import_check.py" "$SMALL"/*/*.json.gz >out 2>err || fail "$(tail -n 1 err)"
	says "kernel" out
'

it 'each event of real traces becomes its row' '
	need python3
	[ -d "$DATA/hta/traces" ] || skip "the traces are not here ($DATA/hta/traces)"
	for set in hta-cp-alexnet hta-nccl-a100 hta-sampled-2rank hta-cupti hta-triton hta-amd-mi250 hta-edge-cpu-only tl-h100-nsfw \
		tl-mi210-gpu-only tl-mi300-vllm-decode dlrm-v100-8rank; do
		python3 "$GPROF_TOP/test/e2e/import_check.py" "$DATA/hta/traces/$set"/* >out 2>err || fail "$set: $(tail -n 1 err)"
	done
'

it 'events are the same however their keys are spaced and ordered' '
	need python3
	python3 - <<-END
		import json, random
		random.seed(1)
		pick, events = random.choice, []
		def spelled(v, blank):
		    if isinstance(v, dict):
		        members = (f"{blank()}{json.dumps(k)}{blank()}:{blank()}{spelled(x, blank)}{blank()}" for k, x in v.items())
		        return "{" + ",".join(members) + blank() + "}"
		    return json.dumps(v)
		for i in range(3000):
		    e = {"ph": "X", "cat": pick(["cpu_op", "kernel", "cuda_runtime", "a\\"b", "user_annotation"]), "name": f"n{i % 7}", "pid": 5,
		         "tid": pick([6, 7]), "ts": 10**pick([3, 9, 15]) + i * 20 + pick([0, .5, .125]), "dur": pick([1, 7.25, 12345678])}
		    args = {"External id": i, "correlation": 10**(i % 9), "Ev Idx": i, "stream": pick([7, -1]), "device": 0, "queued": 0,
		            "Input Dims": [[i % 3, 4], []], "est. achieved occupancy %": 3.5, "Collective name": "x"}
		    e["args"] = dict(random.sample(sorted(args.items()), random.randrange(len(args))))
		    if i % 50 == 0:
		        e["args"] = None
		    if i % 3 == 0:
		        e = dict(random.sample(sorted(e.items()), len(e)))
		    events.append(spelled(e, pick([str, lambda: " ", lambda: pick(["", " ", chr(10) + "    "])])))
		open("a.json", "w").write("{" + json.dumps("traceEvents") + ": [" + ", ".join(events) + "]}")
	END
	python3 "$GPROF_TOP/test/e2e/import_check.py" a.json >out 2>err || fail "$(tail -n 1 err)"
'

it 'real traces have the kernel time that others found in them' "$TOOLS"'
	[ -d "$DATA/hta/traces" ] || skip "the traces are not here ($DATA/hta/traces)"
	tail -n +2 "$DATA/hta/golden/perfetto-counts.csv" | while IFS=, read -r set file slices _ _ _ _ _ time rest; do
		path=$DATA/hta/traces/$set/$file
		[ -f "$path" ] || continue
		case $rest in *overlap*|*negative*|*drop*) continue ;; esac  # slices that it dropped
		kernels "$path" >k.csv 2>/dev/null
		ours=$(python3 -c "import csv; print(sum(int(r[\"Total Time (ns)\"]) for r in csv.DictReader(open(\"k.csv\"))))")
		echo "$set $file $ours $time" >>times
		[ "$time" != "[NULL]" ] || time=0
		[ "$ours" = "$time" ] || echo "$set $file: $ours ns, not $time"
	done >wrong
	[ -s times ] || fail "nothing was compared"
	[ ! -s wrong ] || fail "$(cat wrong)"
'

it 'plain, gzip and zstd of one file are one trace' "$TOOLS"'
	gzip -dc "$SMALL"/base/host0*.gz >a.json
	kernels a.json >want
	[ "$(wc -l <want)" -gt 3 ] || fail "no kernels"
	for how in -1 -6 -9; do gzip $how <a.json >a.gz; kernels a.gz | cmp - want; done
	{ head -c 3000 a.json | gzip; tail -c +3001 a.json | gzip; } >members
	kernels members | cmp - want
	cat a.json | kernels /dev/stdin | cmp - want
	if command -v zstd >/dev/null; then zstd -q a.json -o a.zst; kernels a.zst | cmp - want; fi
	gprof-trace import a.json >out
	says "a.gtrace" out
	kernels a.gtrace | cmp - want
	exits 1 gprof-trace import a.json 2>err
	says "exists; -f replaces it" err
	gprof-trace import -q -f a.json
	[ -z "$(find . -name "*.part")" ] || fail "something was left: $(ls)"
'

it 'ranks are one trace with a process each, from files or a folder' "$TOOLS"'
	gprof-trace report -r processes --format csv "$SMALL"/base >out
	is "rank 0 1" "rank$(cut -d, -f4 <out | tail -n +2 | sort | tr "\n" " " | sed "s/^/ /; s/ $//")" "ranks"
	gprof-trace import -q -o both "$SMALL"/base/*.gz
	gprof-trace report -r processes --format csv both.gtrace 2>notes | cmp - out
	says "cpu_ns and ended are not known: the imported file does not have them" notes
	! grep collector notes || fail "nobody collected anything"
	cp "$SMALL"/base/host0*.gz a.gz; cp a.gz b.gz
	exits 1 gprof-trace report a.gz b.gz 2>err
	says "both from rank 0; name one file for each rank" err
	events "$(kernel 5 5)" >none.json
	exits 1 gprof-trace report a.gz none.json 2>err
	says "has no rank; name files of one job" err
	gzip -dc "$SMALL"/base/host1*.gz | sed "s/\"world_size\": 2/\"world_size\": 4/" >c.json
	exits 1 gprof-trace report a.gz c.json 2>err
	says "from a job of 2 ranks" err
'

it 'the machine that a file names is the host of the trace' "$TOOLS"'
	printf "{\"host_name\": \"node7\", \"traceEvents\": [%s]}" "$(kernel 5 5)" >a.json
	gprof-trace info a.json >out
	says "host       node7" out
'

it 'ranks that were made one file keep their GPU rows apart by the labels of their pids' "$TOOLS"'
	need python3
	python3 - <<-END >merged.json
		import json
		rows = []
		for rank in range(2):
		    host, gpu = f"[TP0{rank}] {500 + rank}", f"[TP0{rank}] {rank}"
		    for i in range(3 + rank):
		        rows.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": host, "tid": 1, "ts": 100 * i, "dur": 5,
		                     "args": {"correlation": i + 1}})
		        rows.append({"ph": "X", "cat": "kernel", "name": "k%d" % rank, "pid": gpu, "tid": 7, "ts": 100 * i + 50, "dur": 10 + rank,
		                     "args": {"device": rank, "stream": 7, "correlation": i + 1}})
		print(json.dumps({"traceEvents": rows}))
	END
	gprof-trace report -r processes --format csv merged.json >out
	is "500 3 3,501 4 4," "$(tail -n +2 out | cut -d, -f2,9,10 | tr "," " " | tr "\n" ",")" "calls and kernels of each rank"
	gprof-trace report -r hta_queue_length_time_series --format csv merged.json >out
	says ",[TP01] 1,7,7," out
'

it 'the list of the first autograd.profiler has operators and kernels' "$TOOLS"'
	row() { printf "{\"name\": \"%s\", \"ph\": \"X\", \"ts\": %s, \"dur\": 4.5, \"tid\": 0, \"pid\": \"%s functions\", \"args\": {}}" "$@"; }
	printf "[%s, %s, %s, %s]" "$(row aten::add 10.5 CPU)" \
		"{\"name\": \"k\", \"ph\": \"f\", \"ts\": 12, \"tid\": 0, \"pid\": \"CUDA functions\", \"id\": 0, \"cat\": \"cpu_to_cuda\", \"args\": {}}" \
		"$(row "k(int)" 12 CUDA)" "$(row "Memcpy HtoD" 20 CUDA)" >old.json
	kernels old.json >out 2>err
	is "" "$(cat err)" "complaints"
	says "100.0,4500,1,4500.0,4500.0,4500,4500,0.0,k(int)" out
	gprof-trace report old.json >out
	says "1 process, 1 kernel, 1 copy, 1 PyTorch range" out
'

it 'Chrome traces of other programs are their ranges, and nothing is said of GPUs' "$TOOLS"'
	x() { printf "{\"ph\": \"X\", \"pid\": 7, \"tid\": 7, \"ts\": %s, \"dur\": 2, \"name\": \"fusion.%s\", \"args\": {}}" "$1" "$1"; }
	events "$(x 1000), $(x 1005), {}" >jax.json
	gprof-trace report jax.json >out 2>err
	says "2 events of unknown categories" err
	says "2 other ranges" out
	says "fusion.1005" out
	says "from a Chrome trace" out
	says "report -r nvtx_startend_sum jax.json" out
	grep -q "used CUDA" out && fail "$(cat out)"
	events "$(x 1000 | sed "s/\"ph\"/\"cat\": \"cpu_op\", \"ph\"/")" >cpu.json
	gprof-trace report cpu.json >out
	says "ProfilerActivity.CUDA" out
'

it 'what is no trace is refused with one line that says why' "$TOOLS"'
	: >empty.json;                            one_line empty.json "is empty"
	gzip <empty.json >empty.gz;               one_line empty.gz "is empty"
	mkdir folder;                             one_line folder "no trace in the folder"
	echo "hello" >text.json;                  one_line text.json "neither a trace" "is not a trace"
	echo "{\"a\": 1}" >other.json;            one_line other.json "no traceEvents"
	echo "[1, 2, 3]" >list.json;              one_line list.json "no element of its list is an event"
	echo "[[1, 2], [[3], [4]]]" >line.json;   one_line line.json "use the file named .raw.json.gz"
	echo "{\"schema\": \"1.1\", \"nodes\": []}" >et.json;  one_line et.json "use the trace of torch.profiler"
	printf "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n" >lfs.json;  one_line lfs.json "neither a trace" "git lfs pull"
	events "" >none.json;                     one_line none.json "has no events"
	echo "{\"a\": }" >bad.json;               one_line bad.json "is not valid JSON: unexpected data at byte"
	truncate -s 4G sparse.json;               one_line sparse.json "neither a trace" "is not a trace"
	head -c 100000 /dev/zero | tr "\0" "[" >deep.json;  one_line deep.json "not a trace"
	events "$(kernel -5 3)" >early.json;      one_line early.json "before 1970"
	printf "\037\213\010broken" >broken.gz;   one_line broken.gz "compressed data"
	one_line missing.json "No such file"
'

it 'what is wrong in a trace is counted, and the rest is used' "$TOOLS"'
	good=$(kernel 10 5)
	count() { gprof-trace report -r health --format csv "$1" 2>err | grep ",$2," | cut -d, -f4; }
	instances() { kernels "$1" 2>/dev/null | tail -n +2 | cut -d, -f3; }
	events "$good, $(kernel 20 5), $(kernel 30 5)" >all.json
	head -c -20 all.json >cut.json
	is 2 "$(instances cut.json)" "kernels of the cut file"
	is 1 "$(count cut.json import_cut)" "cut"
	exits 0 gprof-trace check all.json >out
	says "complete" out
	exits 1 gprof-trace check cut.json >out 2>err
	says "damaged" out
	says "the file ends too early (complete events: 2)" err
	gzip <all.json | head -c -12 >cut.gz
	is 1 "$(count cut.gz import_cut)" "cut while packed"
	events "$good, $(kernel NaN 5), $(kernel \"20\" \"5\"), $(kernel 30 -5), {\"ph\": \"X\" \"name\": oops}, $good" >odd.json
	is 4 "$(instances odd.json)" "kernels of the odd file"
	is 1 "$(count odd.json import_time)" "no number"
	is 1 "$(count odd.json import_negative)" "negative"
	is 1 "$(count odd.json import_broken)" "broken"
	events "$good,, {\"ph\": \"X\", \"cat\": \"new\", \"name\": \"a \"b\" c\", \"pid\": 5, \"tid\": 6, \"ts\": 1, \"dur\": 2}, {\"ph\": \"Q\"}" >new.json
	is 1 "$(count new.json import_category)" "category"
	is 1 "$(count new.json import_phase)" "phase"
	is 2 "$(count new.json import_quotes)" "quotes"
	gprof-trace dump --kind range new.json 2>/dev/null >out
	grep -Fq "name=\"a \\\"b\\\" c\"" out || fail "$(cat out)"
'

it 'ranges in two events, and marks, are where they belong' "$TOOLS"'
	at() { printf "{\"ph\": \"%s\", \"cat\": \"nvtx\", \"name\": \"%s\", \"id\": \"0x5\", \"pid\": 5, \"tid\": %s, \"ts\": %s}" "$@"; }
	events "$(at B outer 6 10), $(at B inner 6 12.5), $(at i here 6 13), $(at b both 6 12), $(at E "" 6 15), $(at E "" 6 20), $(at e both 7 30),
		$(at B open 6 25)" >pairs.json
	gprof-trace dump --kind range,mark pairs.json >out
	like() { grep -q "$1" out || fail "no line like $1:\n$(cat out)"; }
	like "duration=10000 .*name=.outer. .*level=0 flags=0x0"
	like "duration=2500 .*name=.inner. .*level=1 flags=0x0"
	like "duration=18000 .*thread=1 end_thread=2 .*name=.both. .*flags=0x1"
	like "duration=5000 .*name=.open. .*flags=0x2"
	inner=$(sed -n "s/.* id=\([0-9]*\) .*inner.*/\1/p" out)
	like "mark .*range=$inner .*name=.here."
'

it 'a base that comes last, or none, gives the same times' "$TOOLS"'
	printf "{\"baseTimeNanoseconds\": 1700000000000000000, \"traceEvents\": [%s]}" "$(kernel 10.001 5.5)" >first.json
	printf "{\"traceEvents\": [%s], \"baseTimeNanoseconds\": 1700000000000000000}" "$(kernel 10.001 5.5)" >last.json
	events "$(kernel 1700000000000010.001 5.5)" >none.json
	for f in first last none; do
		gprof-trace dump --kind kernel $f.json >out
		says "start=1700000000000010001 duration=5500 " out
	done
'

it 'our own export comes back with the same kernels and calls' "$TOOLS"'
	need "$GPROF_BUILD/test/programs/sample_trace" "test programs are not built (make programs)"
	"$GPROF_BUILD/test/programs/sample_trace" own.gtrace steps >/dev/null
	gprof-trace export -o own.json own.gtrace >/dev/null
	for r in cuda_gpu_kern_sum cuda_api_sum; do
		gprof-trace report -r $r --format csv own.gtrace >want
		gprof-trace report -r $r --format csv own.json >got 2>err
		[ "$(wc -l <want)" -gt 1 ] || fail "$r is empty"
		cmp want got
	done
'

it 'what of a folder is no trace is named and left out' "$TOOLS"'
	mkdir ranks nothing
	events "$(kernel 10 5)" >ranks/0.json
	gzip -c ranks/0.json >ranks/1.json.gz
	rm ranks/0.json
	printf "{\"lr\": 0.1}" >ranks/config.json
	printf "hello" | gzip -c >ranks/notes.gz
	tar czf ranks/source.tar.gz ranks/config.json
	long=$(printf "%40000s" x)
	printf "{\"why\": \"%s\"}" "$long" | gzip -c >ranks/reasons.json.gz
	printf "{\"why\": \"%s\", %s" "$long" "$(events "$(kernel 20 5)" | cut -c 2-)" >ranks/2.json
	gprof-trace dump --kind kernel ranks >out 2>err
	is 2 "$(grep -c "^kernel " out)" "kernels"
	is 1 "$(wc -l <err)" "lines"
	grep -q "files of .ranks. left out, not a trace: .config.json., .notes.gz., .reasons.json.gz. and 1 more$" err || fail "$(cat err)"
	cp ranks/config.json nothing
	exits 1 gprof-trace dump nothing 2>err
	says "no trace in the folder" err
'

it 'a trace comes through a pipe as from a file' "$TOOLS"'
	events "$(kernel 10 5)" >f.json
	gzip -c f.json >f.json.gz
	gprof-trace dump --kind kernel f.json >want
	gprof-trace dump --kind kernel - <f.json | cmp - want
	gprof-trace dump --kind kernel - <f.json.gz | cmp - want
	cat f.json | gprof-trace dump --kind kernel - | cmp - want
	cat f.json | gprof-trace import -q -o piped -
	gprof-trace dump --kind kernel piped.gtrace | cmp - want
	cat f.json.gz | exits 1 gprof-trace report - 2>err
	is 1 "$(wc -l <err)" "lines"
	says "compressed data cannot come from a pipe" err
'

it 'several programs in one file have the kernels of their own calls' "$TOOLS"'
	call="{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": %d, \"tid\": %d, \"ts\": %d, \"dur\": 1, \"args\": {\"correlation\": %d}},"
	kernel="{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": 2, \"args\": {\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %d}}"
	{
		printf "[$call" 10 10 1 1
		printf "$call$call" 20 20 2 2 20 20 3 3
		printf "$call$call" 10 10 4 9 20 20 5 9
		printf "$kernel, " a 10 1 b 12 2 b 14 3 shared 16 9
		printf "$kernel]" nobody 18 77
	} >two.json
	gprof-trace import -q two.json
	is 1 "$(gprof-trace dump --process 1 --kind kernel two.gtrace | grep -c "name=\"a\"")" "kernels of the first"
	is 4 "$(gprof-trace dump --process 2 --kind kernel two.gtrace | grep -c "^kernel")" "kernels of the one with more calls"
	gprof-trace report -r hta_cuda_kernel_launch_stats_summary --format csv two.json | sed -n 2p >out
	says "0,5," out
'

it 'each of very many events keeps its arguments and its process' '
	need python3
	for processes in 1 2; do
		python3 - $processes <<-END
			import sys
			event = "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"e%d\", \"pid\": %d, \"tid\": 7, \"ts\": %d, \"dur\": 1, " \
			        "\"args\": {\"number\": %d, \"twice\": %d}}"
			with open("many.json", "w") as f:
			    f.write("[" + ",".join(event % (i, 5 + i % int(sys.argv[1]), 1 + i, i, 2 * i) for i in range(70000)) + "]")
		END
		gprof-trace import -q -f -o many many.json
		gprof-trace dump --kind imported,imported_arg many.gtrace >rows
		python3 - $processes <<-END
			import re, sys
			processes, rows = int(sys.argv[1]), open("rows").read().splitlines()
			def numbers(key): return [int(re.search(key + "=\"?e?([0-9]+)", row)[1]) for row in chosen]
			chosen = [row for row in rows if row.startswith("imported ")]
			assert sorted(numbers("index")) == list(range(70000)) and numbers("index") == numbers("name")
			assert all(i % processes + 1 == p for i, p in zip(numbers("index"), numbers("process")))
			for key, factor in ("number", 1), ("twice", 2):
			    chosen = [row for row in rows if f"key=\"{key}\"" in row]
			    assert sorted(numbers("index")) == list(range(70000)), len(chosen)
			    assert [i * factor for i in numbers("index")] == numbers("bits")
			    assert all(i % processes + 1 == p for i, p in zip(numbers("index"), numbers("process")))
		END
	done
'

it 'the processes of a merged export have their own kernels again' "$TOOLS"'
	need "$GPROF_BUILD/test/programs/fork_workers" "needs nvcc to build test/programs"
	need "$GPROF_BUILD/sim/libcuda.so.1"
	LD_LIBRARY_PATH=$GPROF_BUILD/sim gprof-run -q -o run -- "$GPROF_BUILD/test/programs/fork_workers" >said
	gprof-trace export --merged -o run.json run.gtrace >said
	for f in run.gtrace run.json; do
		gprof-trace report -r processes --format csv $f | cut -d, -f2,9,10,11 | sort >$f.processes
	done
	[ "$(wc -l <run.json.processes)" -gt 3 ] || fail "$(cat run.json.processes)"
	same run.gtrace.processes run.json.processes
'

it 'bytes that the file does not say are not known, and in no sum' "$TOOLS"'
	copy() { printf "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pageable -> Device)\", \"pid\": 0, \"tid\": 7, \"ts\": $1, \"dur\": 2, \"args\": {$2}}"; }
	events "$(copy 10 ""), $(copy 20 "\"bytes\": 3000000"), $(copy 30 "\"bytes\": 0")" >f.json
	gprof-trace report -r cuda_gpu_mem_size_sum --format csv f.json >out 2>err
	says "3.000,3,1.500,1.500,0.000,3.000," out
	says "1 copies and memory sets are counted, but in no number of bytes" err
	gprof-trace report -r cuda_gpu_trace --format csv f.json >out
	is 1 "$(grep -c ",3.000,1500000.000," out)" "sizes with a throughput"
	is 1 "$(grep -c ",0.000,0.000," out)" "sizes of 0"
	gprof-trace export -o back.json f.json >/dev/null
	is 2 "$(grep -o "\"bytes\"" back.json | wc -l)" "bytes in the export"
'

it 'a name that is spelled like a list is a name' "$TOOLS"'
	events "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 1, \"args\": {\"Input Dims\": [[1,2]]}},
		{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"[[1,2]]\", \"ts\": 5}" >a.json
	gprof-trace report -r ops_by_shape --format csv a.json >out
	says ",a,\"[[1, 2]]\"" out
	says ",\"[[1,2]]\"," out
'

it 'a name of any length is the name of a thread' "$TOOLS"'
	python3 - >f.json <<-END
		print("{\"traceEvents\": [{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 5, \"tid\": 6, \"args\": {\"name\": \"%s\"}}," % ("n" * (70 << 20)))
		print("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"op\", \"pid\": 5, \"tid\": 6, \"ts\": 1, \"dur\": 2}]}")
	END
	gprof-trace import -q f.json
	gprof-trace check f.gtrace >/dev/null
	gprof-trace dump --kind range f.gtrace >out
	is 1 "$(grep -c "^range " out)" "ranges"
'

it 'words of a file are printed in one line and without escapes' "$TOOLS"'
	printf "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"fo\no\\\\u001b[31m\", \"name\": \"x\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 2}]}" >f.json
	gprof-trace import -q f.json 2>err
	is 1 "$(wc -l <err)" "lines"
	says "unknown categories (fo.o.[31m)" err
'

# The judge reads the two tables, not the files.
it 'an own export has the steps of its trace after the import, and no warning' '
	need "$GPROF_BUILD/sim/libcuda.so.1" "needs the headers of CUDA to build the simulated GPU"
	LD_LIBRARY_PATH=$GPROF_BUILD/sim
	export LD_LIBRARY_PATH
	steps_of() { gprof-trace report -r steps -f csv "$1" 2>err | cut -d, -f1,7; }
	round_trip() {
		name=$1
		shift
		gprof-run -q -o "$name" "$@" >/dev/null 2>&1
		gprof-trace export -o "$name.json" "$name.gtrace" >/dev/null 2>&1
		gprof-trace import -o "$name.again" "$name.json" >/dev/null 2>warned
		is "" "$(cat warned)" "warnings of the import of $name.json"
		steps_of "$name.gtrace" >want
		steps_of "$name.again.gtrace" >got
		same want got
	}
	round_trip whole -- python3 "$GPROF_TOP/test/programs/train.py"
	is 21 "$(wc -l <got)" "lines: 20 steps and the heading"
	round_trip cycles --step "nvtx:step*" --schedule wait=1,warmup=1,active=3,repeat=2 -- python3 "$GPROF_TOP/test/programs/train.py"
	is 7 "$(wc -l <got)" "lines: 6 steps and the heading"
	round_trip none -- "$GPROF_BUILD/test/programs/vector_add"
	is 1 "$(wc -l <got)" "lines: the heading"
	round_trip sampled -s cpu -- python3 -c "print(sum(i * i for i in range(3000000)))"
	says native_function sampled.json
	round_trip moved --cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true -- "$GPROF_BUILD/test/programs/managed"
	says unified_memory moved.json
	round_trip stacks --cudabacktrace=all --nvtx-backtrace -- python3 "$GPROF_TOP/test/programs/train.py"
	round_trip payloads -- "$GPROF_BUILD/test/programs/nvtx_payloads"
'

# Of calls alone, of kernels without steps, of a CPU with steps: no sentence that holds for recorded traces only.
it 'no report of an imported trace speaks as if gprof-run had recorded it' "$TOOLS"'
	events "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaMalloc\", \"ts\": 1, \"dur\": 5, \"tid\": 1, \"args\": {\"correlation\": 3}}" >calls.json
	events "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"ts\": 1, \"dur\": 5, \"tid\": 1, \"args\": {\"correlation\": 3}},
		{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 9, \"dur\": 5, \"args\": {\"correlation\": 3, \"device\": 0, \"stream\": 7}}" >kernels.json
	events "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"train_step_1\", \"ts\": 1, \"dur\": 5, \"tid\": 1},
		{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"train_step_2\", \"ts\": 7, \"dur\": 5, \"tid\": 1}" >steps.json
	gprof-trace report list -f csv | sed "1d; s/,.*//" | grep -vxE "compare_traces|ops_diff|memory_by_category" >names
	[ "$(wc -l <names)" -gt 50 ] || fail "only $(wc -l <names) reports"
	for file in calls kernels steps; do
		gprof-trace report "$file.json" >out 2>&1
		says "What it did not record cannot be shown." out
		while read -r name; do
			gprof-trace report -r "$name" "$file.json" >>out 2>&1
		done <names
		for words in "gprof-run " "record with" "CUPTI could not" "connected" "nothing is known to be missing" "NVTX ranges with" "measured by gprof-run" \
			"see report -r health"; do
			never_says "$words" out
		done
	done
	gprof-trace report -r health kernels.json >out
	says "Imported from Kineto JSON." out
'

it 'of kernels whose calls the file does not have the number of launches is not known' '
	python3 - <<-END
		import json
		def event(cat, name, corr):
		    return dict(ph="X", cat=cat, name=name, pid=1, tid=1, ts=1000 + corr, dur=1, args=dict(device=0, stream=7, correlation=corr))
		events = [event("kernel", "known", 1), event("cuda_runtime", "cudaLaunchKernel", 1), event("kernel", "lost", 2)]
		json.dump(dict(traceEvents=events), open("a.json", "w"))
	END
	gprof-trace report -r launch_sites -f csv a.json 2>err | cut -d, -f 3,5,10 | sort >out
	is "1,,lost 1,1,known kernels,launches,kernel" "$(tr "\n" " " <out | sed "s/ $//")" "kernels and launches"
'
