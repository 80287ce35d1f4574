#!/bin/sh
# A reader in Python, written from docs/reference/trace-format.md only, reads traces as gprof-trace does.
. "$(dirname "$0")/lib.sh"

it 'reads a made-up trace of kernels, calls, copies and ranges as gprof-trace dump does' '
	need python3
	need "$GPROF_BUILD/tools/synth_trace"
	"$GPROF_BUILD/tools/synth_trace" x.gtrace 3000 >/dev/null
	gprof-trace dump --raw x.gtrace >ours
	python3 "$GPROF_TOP/test/e2e/read_gtrace.py" x.gtrace "$GPROF_TOP/docs/reference/trace-format.md" >theirs
	[ "$(wc -l <ours)" -gt 6000 ]
	cmp ours theirs
'

it 'reads a session as gprof-trace dump does' '
	need python3
	gprof-run -o x -- sh -c "true; true" 2>/dev/null
	gprof-trace dump --raw x.gtrace >ours
	python3 "$GPROF_TOP/test/e2e/read_gtrace.py" x.gtrace "$GPROF_TOP/docs/reference/trace-format.md" >theirs
	[ "$(wc -l <ours)" -gt 10 ]
	cmp ours theirs
'
