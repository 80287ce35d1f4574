#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'the numbers of each step are those of the rows that ran in it, and of those that its calls caused' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need python3
	need "$GPROF_BUILD/test/programs/libnvtx_shim.so" "test programs are not built (make programs)"
	# Not through a script that ends in exec: the report gives both images one number, the dump has two.
	PATH=$(dirname "$(python3 -c "import sys; print(sys.executable)")"):$PATH
	gprof-run -q -o t -- python3 "$GPROF_TOP/test/programs/train.py" --steps 12 --no-torch --nvtx-shim "$GPROF_BUILD/test/programs/libnvtx_shim.so" >/dev/null 2>err
	gprof-trace report -r steps -f csv t.gtrace >steps.csv 2>/dev/null
	gprof-trace dump t.gtrace >dump
	python3 "$GPROF_TOP/test/e2e/cuda/steps.py" dump steps.csv >got || fail "$(cat got)"
	says "12 steps" got
	gprof-trace report -r steps -f csv --step 3:5 t.gtrace >part.csv 2>/dev/null
	sed -n "5,7p" steps.csv >want
	tail -n +2 part.csv | cmp - want || fail "steps 3 to 5 alone differ from those among all: $(cat part.csv)"
'

it 'steps that nothing marks are found in what is launched, and measured the same' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need python3
	gprof-run -q -t cuda -o t -- python3 "$GPROF_TOP/test/programs/train.py" --steps 50 --no-torch >/dev/null 2>err
	gprof-trace report -r steps -f csv t.gtrace >got 2>err
	is 50 "$(tail -n +2 got | wc -l)" steps
	is 50 "$(tail -n +2 got | cut -d , -f 20 | grep -cx 79)" "steps with the 79 kernels of one"
	is 49 "$(tail -n +2 got | cut -d , -f 22 | grep -cx 1)" "complete steps: of the last one nobody knows where it ends"
	says "steps were found from repeated launches (confidence" err
	gprof-trace report -r cuda_gpu_kern_sum -f csv --step 10:19 t.gtrace >got
	is 790 "$(awk -F, "NR > 1 { n += \$3 } END { print n }" got)" "kernels of ten steps"
'
