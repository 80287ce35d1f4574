# Holistic Trace Analysis reads the exported JSON; its numbers are compared with the program's and with reports of gprof-trace.
. "$(dirname "$0")/lib.sh"

HTA='
	need "$GPROF_BUILD/judges/bin/python"
	"$GPROF_BUILD/judges/bin/python" -c "import hta.trace_analysis" 2>/dev/null || skip "HTA is not to be had here"
	need "$GPROF_BUILD/test/programs/vector_add" "needs nvcc to build test/programs"
	need "$GPROF_BUILD/sim/libcuda.so.1"
	hta() { HTA_DISABLE_NS_ROUNDING=1 HOME=$PWD "$GPROF_BUILD/judges/bin/python" "$GPROF_TOP/test/e2e/hta_says.py" "$1"; }
	simulated() { LD_LIBRARY_PATH=$GPROF_BUILD/sim gprof-run -q "$@"; }
'

it 'finds the kernels, their times and their launches' "$HTA"'
	simulated -o run -- "$GPROF_BUILD/test/programs/streams" 4 10 >said
	mkdir json
	gprof-trace export -o json/run.json run.gtrace
	hta json >hta 2>err || fail "$(tail -n 5 err)"
	gprof-trace report -r cuda_gpu_kern_sum --format csv run.gtrace | tail -n +2 | sort -t, -k9 >ours
	while IFS=, read -r _ total _ _ _ _ _ _ name; do
		# HTA holds microseconds in doubles since the session'"'"'s start: some ns of 40 kernels are lost in it.
		theirs=$(sed -n "s/^kernel $name ns //p" hta)
		[ "$((theirs - total))" -ge -80 ] && [ "$((theirs - total))" -le 80 ] || fail "$name: $total ns, HTA says $theirs"
	done <ours
	says "kernel spin_overlapping" hta
	# 41 kernels and one asynchronous copy, each joined with its launch by the correlation id.
	is "launches 42" "$(grep launches hta)"
'

it 'finds each rank of a job that wrote one file per process' "$HTA"'
	mkdir json
	for rank in 0 1; do
		RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 simulated -o "run.%r" -- "$GPROF_BUILD/test/programs/vector_add" >/dev/null
		gprof-trace export -o json/rank$rank.json run.$rank.gtrace
	done
	hta json >hta 2>err || fail "$(tail -n 5 err)"
	says "rank 0" hta
	says "rank 1" hta
	is 2 "$(grep -c "^kernel vector_add" hta)" "kernels of both ranks"
'
