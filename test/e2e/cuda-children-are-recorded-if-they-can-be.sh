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

it 'children that recorded nothing are one row below their parent, and so is their reason' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export P
	need "$P/fork_workers" "fork_workers is not built (needs nvcc)"
	gprof-run -q -o run -- sh -c "\"$P/fork_workers\" 5 after; \"$P/fork_workers\" 2 before; true" >out
	gprof-trace report -r processes --wide run.gtrace >text
	cut -c "$(($(sed -n "/ -- *-/s/[^ ]*$//p" text | head -n 1 | wc -c)))-" text | sed -n "/^sh$/,/^$/p" >names
	cat >want <<-"END"
		sh
		  fork_workers
		    5 fork_workers, recorded nothing
		  fork_workers
		    fork_workers
		    fork_workers

	END
	cmp want names || fail "$(cat text)"
	gprof-trace report -r health run.gtrace >health
	is 1 "$(grep -c "^ *-  *-  forked_after_cuda  *5  " health)" "rows of the reason: $(cat health)"
	is 0 "$(grep -c "^ *[0-9][0-9]*  .*forked_after_cuda" health)" "rows of single processes"
	says "of 5 processes that recorded nothing (5 fork_workers)" health
	gprof-trace report -r health --all run.gtrace >health
	is 5 "$(grep -c "^ *[0-9][0-9]*  .*forked_after_cuda" health)" "rows with --all"
	gprof-trace report -r health --format csv run.gtrace >health
	is 5 "$(grep -c "^[0-9][0-9]*,[0-9]*,forked_after_cuda," health)" "rows in CSV"
'
