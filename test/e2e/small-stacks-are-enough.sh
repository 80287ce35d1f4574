# Hooks use little stack, because they may run on small stacks of coroutines and signal handlers.
. "$(dirname "$0")/lib.sh"

cat >"$E2E_ROOT/small.sh" <<'END'
P=$GPROF_BUILD/test/programs
need "$P/small_stacks" "NVTX programs are not built"
GOAL=1536       # docs/reference/limits.md
# small OPTIONS MODE: on such a stack, with and without us.
small() {
	exits 0 "$P/small_stacks" $2 >alone
	exits 0 gprof-run -q -f -o run $1 -- "$P/small_stacks" $2 >out
	gprof-trace check run.gtrace
	gprof-trace dump run.gtrace >rows
}
# within_goal: each call in ./out, without what it takes alone.
within_goal() {
	paste -d" " alone out | awk -v goal=$GOAL '$4 - $2 > goal { print $1, $4 - $2 }' >much
	[ "$(wc -l <out)" -ge 7 ] || fail "nothing was measured: $(cat out)"
	[ ! -s much ] || fail "bytes of stack, more than $GOAL: $(tr '\n' ' ' <much)"
}
END
export E2E_ROOT

for options in "" "--nvtx-backtrace=*" "--nvtx-backtrace=* --python-backtrace=cuda" "--transport=pipe --nvtx-backtrace=*"; do
	it "NVTX calls take little of the stack (${options:-no options})" '
		. "$E2E_ROOT/small.sh"
		small "'"$options"'" use
		within_goal
		# The first call of a process includes the loading of libraries; it takes no more than ours beyond what it takes alone.
		small "'"$options"'" first
		paste -d" " alone out >much
		awk -v goal=$GOAL "\$4 - \$2 > goal { bad = 1 } END { exit bad || NR != 1 }" much || fail "bytes of stack alone and with us: $(cat much)"
		small "'"$options"'" use-thread
		# The first row of a thread comes with the first of them.
		within_goal
	'
done

it "threads of 16 KiB and coroutines of 4 KiB have call stacks, and handlers on 8 KiB" '
	. "$E2E_ROOT/small.sh"
	small "--nvtx-backtrace=*" "thread 16384"
	[ "$(grep -c "^range_stack.* stack=[1-9]" rows)" -ge 80 ] || fail "$(grep -c ^range_stack rows) stacks"
	small "--nvtx-backtrace=* -s cpu" "first-thread 16384"
	[ "$(grep -c "^range_stack.* stack=[1-9]" rows)" -ge 4 ]
	for mode in "coroutine 4096" "handler 8192"; do
		small "" "$mode"
		is 7 "$(grep -c "^range " rows)" "ranges ($mode)"
		small "--nvtx-backtrace=*" "$mode"
		is 7 "$(grep -c "^range " rows)" "ranges ($mode)"
		[ "$(grep -c "^range_stack.* stack=[1-9]" rows)" -ge 5 ] || fail "$mode: $(grep -c ^range_stack rows) stacks"
		# Down to the function that the program runs on that stack.
		grep -q "^symbol.*name=\"everything\"" rows
	done
'

it "CUDA calls need no larger stack than without us, with call stacks and without" '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	GOAL=1536
	unset SIM_TRUTH         # what the simulator writes down takes 18 KiB of a stack
	"$P/cuda_stacks" use >alone
	least=$(awk "{ if (\$2 > n) n = \$2 } END { print n }" alone)
	for options in "" "--cudabacktrace=all:0"; do
		OPTIONS=$options
		traced cuda_stacks thread 16384
		is 40 "$(rows kernel)" kernels
		# The simulated driver needs some 10 KiB itself; ours comes on top of its smaller frames.
		traced cuda_stacks coroutine $((least + GOAL))
		is 2 "$(rows kernel)" kernels
	done
	is 0 "$(gprof-trace dump t.gtrace | grep -c "^api.* stack=0 ")" "calls without a stack"
'
