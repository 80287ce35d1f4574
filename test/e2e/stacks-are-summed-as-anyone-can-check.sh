#!/bin/sh
# Reports and exports of call stacks on synthetic traces; expected numbers are computed from the output of `gprof-trace dump`.
. "$(dirname "$0")/lib.sh"
MADE='need "$GPROF_BUILD/test/programs/stack_trace" "test programs are not built (make programs)"
need python3
made() { "$GPROF_BUILD/test/programs/stack_trace" "$1.gtrace" "$1" || fail "no trace"; }
'

for kind in full native launch plain; do
	it "every report about stacks has the numbers that the rows give: $kind" "$MADE
		made $kind
		python3 \"\$GPROF_TOP/test/e2e/stacks_check.py\" $kind.gtrace >out 2>&1 || { cat out; fail 'a report differs'; }
		says 'reports that differ: 0' out
	"
done
