# Seccomp profiles of containers forbid some system calls.  Without each of these calls, and without all of them, rows and exit status are
# the same.
# also on the pipe
. "$(dirname "$0")/lib.sh"

for calls in memfd_create pidfd_open close_range process_vm_readv memfd_create,pidfd_open,close_range,process_vm_readv; do
	it "records all the same without $calls" '
		need "$GPROF_BUILD/test/programs/nvtx_kinds" "NVTX programs are not built"
		forbidden=$GPROF_BUILD/test/programs/forbidden
		"$forbidden" '$calls' true || skip "no system call can be forbidden here"
		exits 3 "$forbidden" '$calls' gprof-run -q -o run -- sh -c "\"$GPROF_BUILD/test/programs/nvtx_kinds\"; exit 3" >said
		sed -n "s/^range //p" said | sort >expected
		gprof-trace check run.gtrace
		gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" | sort >actual
		[ -s expected ]
		same expected actual
		is "" "$(ls -A "$TMPDIR")" "what is left in TMPDIR"
	'
done

it 'records the GPU all the same where all of them are forbidden' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	all=memfd_create,pidfd_open,close_range,process_vm_readv
	"$P/forbidden" $all true || skip "no system call can be forbidden here"
	rm -f truth
	"$P/forbidden" $all gprof-run -q -o t -- "$P/driver_api" 300 >out
	as_the_gpu_says
	is 300 "$(rows kernel)" kernels
'
