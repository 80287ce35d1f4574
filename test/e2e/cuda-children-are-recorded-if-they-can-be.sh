#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'workers forked before CUDA was touched are recorded in full, and so is their parent' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced fork_workers 4 before
	as_the_gpu_says
	is 5 "$(flagged 8)" "processes with CUPTI up"
	is 5 "$(rows device)" "device rows"
'

it 'a child of a process with CUDA is named, and never calls CUPTI' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced fork_workers 3 after
	as_the_gpu_says
	is 3 "$(flagged 40)" "processes marked as such children"
	is 3 "$(health forked_after_cuda | wc -l)" "processes whose health says it"
	is 1 "$(flagged 8)" "processes with CUPTI up"
	gprof-trace report *.gtrace >page
	never_says "missing" page       # workers of a data loader are such children, and nothing is wrong with them
'
