#!/bin/sh
# Payloads of the NVTX extension: values that the program passed, compared with reports and exports.
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'decodes payloads by the schemas that the program registered, in a forked child too' '
	need "$GPROF_BUILD/test/programs/nvtx_payloads" "NVTX programs are not built"
	gprof-run -q -o run -- "$GPROF_BUILD/test/programs/nvtx_payloads" >said
	sort said >expected
	gprof-trace report -r nvtx_payloads --format json run.gtrace >rows.json
	python3 - rows.json <<-PY | sort >actual
		import json, sys
		for r in json.load(open(sys.argv[1])):
		    print("|".join(r[k] or "" for k in ("event", "range", "schema", "field", "value")))
	PY
	same expected actual
'

it 'names a range without a message after its payload, and counts it with its name' '
	need "$GPROF_BUILD/test/programs/nvtx_payloads" "NVTX programs are not built"
	gprof-run -q -o run -- "$GPROF_BUILD/test/programs/nvtx_payloads" >said
	gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" | sort >actual
	printf "%s\n" comm:AllReduce,1 comm:forked,1 comm:mixed,1 comm:outer,1 >expected
	same expected actual
'

it 'prints the values in dump, and exports them as args' '
	need "$GPROF_BUILD/test/programs/nvtx_payloads" "NVTX programs are not built"
	gprof-run -q -o run -- "$GPROF_BUILD/test/programs/nvtx_payloads" >said
	gprof-trace dump -k payload run.gtrace >rows
	grep -q "\"Message size \[bytes\]\"=4000 \"Reduction operation\"=\"Max\"" rows || fail "no values in dump: $(cat rows)"
	gprof-trace export -o run.json run.gtrace 2>/dev/null
	python3 - run.json <<-PY
		import json, sys
		events = json.load(open(sys.argv[1]))["traceEvents"]
		named = {e["name"]: e for e in events if e["ph"] in "Xbi"}
		reduce = named["AllReduce"]["args"]
		assert reduce["payload"] == {"NCCL communicator ID": 77, "Message size [bytes]": 4000, "Reduction operation": "Max"}, reduce
		assert reduce["payload 2"] == {"value": 8}, reduce
		assert named["mixed"]["args"]["payload"]["shape"] == [3, -4, 5], named["mixed"]
		assert named["Outer"]["args"]["payload"]["id"] == -7, named["Outer"]
		assert named["from inside"]["args"]["payload"]["values"] == [10, 20], named["from inside"]
	PY
'
