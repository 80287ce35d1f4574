#!/bin/sh
# --python-launch-site on the simulated GPU: each launch and copy has the Python lines that it comes from.
# also on the pipe
. "$(dirname "$0")/lib.sh"

ready='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	. "$GPROF_TOP/test/e2e/pythons.sh"
	train=$GPROF_TOP/test/programs/train.py
	[ "$(pythons 8)" ] || { echo "no CPython 3.8 to 3.14 here"; exit 77; }
	bare() { gprof-trace dump t.gtrace | awk "/^api .*name=\"cu(LaunchKernel|Memcpy|Memset)/ && / stack=0 /" | wc -l; }
'

it 'names the line of every launch and copy that Python makes, in each CPython' "$ready"'
	line=$(grep -n "rc = getattr(self.lib, function)(\*args)" "$train" | cut -d: -f1)
	for python in $(pythons 8); do
		gprof-run -q -f -o t -t cuda --python-launch-site -- "$python" "$train" --steps 4 --no-torch >out 2>err
		is 0 "$(bare)" "calls without a line under $python"
		gprof-trace report -r launch_sites t.gtrace >sites
		grep -q "train.py  *$line " sites || fail "$python: $(cat sites)"
		gprof-trace dump t.gtrace | grep "^stack " >stacks
		[ "$(wc -l <stacks)" -gt 4 ] || fail "$python: all launches come from one place"
	done
'

it 'has no stacks unless they are asked for' "$ready"'
	python=$(pythons 8 | head -n 1)
	gprof-run -q -f -o t -t cuda -- "$python" "$train" --steps 2 --no-torch >out 2>err
	is 0 "$(rows stack)" "stacks"
	is 0 "$(rows code)" "code objects"
'
