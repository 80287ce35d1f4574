#!/bin/sh
# Every program of test/programs that uses CUDA, with all kinds recorded: every field of every GPU row equals the simulated GPU's truth
# file.  New programs are included automatically.
# also on the pipe
. "$(dirname "$0")/lib.sh"

compare='
	need python3
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_DEVICES=2    # some programs use what there is
	# recorded PROGRAM ARGUMENT...
	recorded() {
		exits 0 traced "$@"
		gprof-trace dump --uncorrected t.gtrace >dump
		python3 "$GPROF_TOP/test/e2e/cuda/details.py" dump truth ${WITHOUT-} >differences 2>counts || fail "$(head -n 12 differences; cat counts)"
		is "" "$(health record_unknown)$(health cupti_error)$(health cupti_dropped)$(health nested)" trouble
		"$P/sim_rows" rows t.gtrace | grep " api " | sort >got
		"$P/sim_rows" truth truth | grep " api " | sort >want
		same want got
	}
'
everything='-t cuda,nvtx,cuda-jit --cuda-memory-usage=true --cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true'

declared=$everything
for source in "$GPROF_TOP"/test/programs/*.cu "$GPROF_TOP"/test/programs/*.c; do
	program=${source##*/}
	program=${program%.*}
	everything=$declared
	case $program in
	play | play_profiler) continue ;;       # plays a recording: real-traces-are-recorded-live-as-they-were.sh
	cuda_stacks) continue ;;        # wants to know how large its stacks are: small-stacks-are-enough.sh
	nvtx_shim) continue ;;          # a library
	call_chain) continue ;;         # needs libraries that stacks-say-who-called.sh makes, and leaves the GPU nothing to do
	rough_cuda) continue ;;         # leaves calls without their end: cuda-rough-threads-lose-nothing-of-others.sh
	esac
	it "every row of $program is what the GPU did, in every field, and none is missing" "$compare program=$program everything='$everything'"'
		OPTIONS=$everything
		[ "$program" != kineto_client ] || WITHOUT=no-tids
		recorded "$program"
	'
	grep -q 'GraphLaunch' "$source" && [ "$program" != kineto_client ] || continue   # which does so on request
	it "launches of $program as whole graphs are what the GPU did" "$compare program=$program everything='$everything'"'
		OPTIONS="$everything --cuda-graph-trace=graph"
		recorded "$program"
		grep -q "graph=[1-9]" counts || fail "no whole graphs: $(cat counts)"
	'
done

it 'a difference in any field is seen' "$compare"'
	recorded vector_add
	for change in "s/duration=\([0-9]\)/duration=1\1/" "s/registers=/registers=1/" "s/ bytes=/ bytes=1/" "s/priority=/priority=1/" \
		"/^memcpy/d" "s/src_kind=./src_kind=9/" "s/max_warps_sm=/max_warps_sm=1/"; do
		sed "$change" dump >other
		! python3 "$GPROF_TOP/test/e2e/cuda/details.py" other truth >/dev/null 2>&1 || fail "not seen: $change"
	done
'
