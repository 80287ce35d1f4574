#!/bin/sh
# Names that a program gives to streams, devices and other handles through NVTX.
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'names of streams and devices are on the tracks of the export, all others in a report' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced nvtx_names
	grep -v "^expect" out | sort >expected
	gprof-trace report -r nvtx_resources --format json t.gtrace >names.json
	python3 - names.json <<-PY | sort >actual
		import json, sys
		for r in json.load(open(sys.argv[1])):
		    print(r["type"], "" if r["id"] is None else "known", r["name"], sep="|")
	PY
	same expected actual
	is "" "$(health nested)" "hooks inside hooks"
	gprof-trace export -o run.json t.gtrace 2>err
	python3 - run.json <<-PY
		import json, sys
		events = json.load(open(sys.argv[1]))["traceEvents"]
		tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
		streams = sorted(tracks[e["pid"], e["tid"]].split(" ", 2)[2] for e in events if e.get("cat") == "kernel")
		assert streams == ["(compute)", "(copy)", "(third)"], streams
		devices = [e["args"]["name"] for e in events if e["name"] == "process_name"]
		assert any(d.endswith(" (the \"big\" one)") for d in devices), devices
	PY
'

it 'a stream named while CUPTI is not up is kept without an id, and that is said' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="-t nvtx"
	exits 0 traced nvtx_names
	gprof-trace report -r nvtx_resources t.gtrace >got 2>&1
	says "streams and contexts with an unknown id (CUPTI was not active in the thread): 3" got
'
