#!/bin/sh
# Peculiarities of releases of CUPTI (docs/explanation/cupti-traps.md), one test each; and a program with all kinds of GPU work on every
# release.
. "$(dirname "$0")/lib.sh"

# recorded [THREADS]: with all of it asked for; each row, in every field, is what the simulated GPU did.
compare='
	need python3
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	everything="-t cuda,nvtx,cuda-jit --cuda-memory-usage=true"
	recorded() {
		traced every_kind "$@" || fail "it ended with $?: $(cat err)"
		# shellcheck disable=SC2086
		gprof-trace dump --uncorrected t.gtrace >dump
		python3 "$GPROF_TOP/test/e2e/cuda/details.py" dump truth ${WITHOUT-} >differences 2>counts || fail "$(head -n 12 differences; cat counts)"
		"$P/sim_rows" rows t.gtrace | grep " api " | sort >got
		"$P/sim_rows" truth truth | grep " api " | sort >want
		same want got
		is "" "$(health record_unknown)$(health cupti_error)$(health cupti_kind)$(health cupti_dropped)$(health buffers_full)$(health nested)" trouble
	}
	flushes() {
		grep -c "\"name\":\"flush\"" truth || :
	}
'

for release in 11.8 12.0 12.3 12.4.127 12.6.80 12.8.90 12.9.79 13.0.48 13.0.85 13.1 13.2 13.3 13.4; do
	without=
	case $release in
	11.8 | 12.0) without='no-tids no-overhead-corr' ;;      # their records do not have them
	12.3) without=no-tids ;;
	esac
	it "some of everything is recorded as CUPTI $release records it" "$compare export SIM_CUPTI_RELEASE=$release WITHOUT='$without'"'
		OPTIONS="$everything --cuda-flush-interval=20"
		recorded
	'
done

it 'threads have buffers of their own where a flush cannot damage them, and nowhere else' "$compare"'
	OPTIONS=--cuda-flush-interval=20
	for setting in "11.8 shared" "12.3 shared" "12.4.127 shared" "12.6.80 shared" "12.8.90 per thread" "12.9.79 per thread" "13.4 per thread"; do
		export SIM_CUPTI_RELEASE="${setting%% *}"
		exits 0 traced threads 8 10
		as_the_gpu_says
		"$P/count_rows" t.gtrace >facts
		says "cupti.buffers=${setting#* }" facts
	done
'

it 'records of CUDA events, which come along with those of waits up to 12.8, are no unknown ones' "$compare"'
	for release in 11.8 12.8.90; do
		export SIM_CUPTI_RELEASE=$release
		exits 0 traced event_pairs
		[ "$(rows event_record)" -gt 0 ] || fail "the program records no events"
		is "" "$(health record_unknown)" "unknown records"
	done
'

it 'of 64 threads with a MiB of buffer each only what CUPTI fills is resident' "$compare"'
	for release in 12.8.90 13.0.85; do
		export SIM_CUPTI_RELEASE=$release
		exits 0 traced every_kind 64
		resident=$(sed -n "s/^resident //p" out)
		[ "$resident" -lt 40 ] || fail "$resident MiB are resident"
	done
'

it 'buffers that are used again are as empty as new ones' "$compare"'
	export SIM_BUFFER_RECORDS=20
	OPTIONS="$everything --cuda-flush-interval=20 --cuda-buffer-limit=80"
	recorded 16
'

it 'a green context is a context, whichever kind of record tells of it' "$compare"'
	for release in 12.9.79 13.1 13.2 13.4; do
		export SIM_CUPTI_RELEASE=$release
		exits 0 traced every_kind 1
		is 4 "$(rows context)" "contexts of $release"
	done
'

it 'an event on a stream of another context than the current one has its stream' "$compare"'
	exits 0 traced every_kind 1
	gprof-trace dump t.gtrace | grep "^event_record\|^event_wait" >events
	# The first one is recorded in the first context, on a stream of the second.
	grep "^event_record" events | head -n 1 >first
	says "context=2 stream=13" first
	is 0 "$(grep -c "^event_record.*stream=none" events || :)" "events without a stream"
'

it 'nodes that an instantiation makes are not taken for captured ones' "$compare"'
	exits 0 traced every_kind 1
	# 4 of a capture and 3 of another, and 4 in each of two executable graphs.
	is 15 "$(rows graph_node)" "nodes"
	gprof-trace report -r cuda_graph_kern_sum t.gtrace >report
	says "conditional nodes: 1;" report
'

it 'a library that retains and releases the primary context around each call does not have CUPTI flushed each time' "$compare"'
	export SIM_FLUSH_US=5000
	OPTIONS="--cuda-flush-interval=60000"
	exits 0 traced every_kind 1
	[ "$(flushes)" -le 10 ] || fail "$(flushes) flushes"
'

it 'nothing is lost with a context that goes: CUPTI is flushed before, and before the last release of a primary one' "$compare"'
	export SIM_CONTEXT_LOSES=1
	OPTIONS="--cuda-flush-interval=60000"
	recorded 2
'

it 'long runs with graphs do not meet the crash of CUPTI 12.1 to 13.0' "$compare"'
	export SIM_GRAPH_CRASH=3
	for release in 12.4.127 12.8.90 13.0.48; do
		export SIM_CUPTI_RELEASE=$release
		exits 0 traced every_kind 1
	done
	never_says "in long runs with CUDA graphs" t.gtrace
	export SIM_CUPTI_RELEASE=12.8.90 SIM_CUPTI_FAIL=cuptiActivitySetAttribute=27 SIM_GRAPH_CRASH=0
	exits 0 traced every_kind 1
	detail cupti_flawed >said
	says "CUPTI before 13.0.85 may crash in long runs with CUDA graphs" said
'

it 'what is known of whole graphs in 12.4 is said where it matters' "$compare"'
	export SIM_CUPTI_RELEASE=12.4.99
	exits 0 traced every_kind 1
	is "" "$(health cupti_flawed)" "faults, node by node"
	OPTIONS=--cuda-graph-trace=graph
	exits 0 traced every_kind 1
	detail cupti_flawed >said
	says "CUPTI 12.4 before 12.4.127" said
'

it 'kernels that kernels launch are counted where CUPTI has records of them' "$compare"'
	export SIM_CDP=10
	exits 0 traced driver_api 100
	as_the_gpu_says
	is "10 " "$(health device_kernels) $(health record_unknown)" "kernels of kernels, unknown records"
'

it 'a module that is loaded from a file is a call' "$compare"'
	exits 0 traced every_kind 1
	is 1 "$(gprof-trace report -r cuda_api_sum -f csv t.gtrace | grep -c "cuModuleLoad$\|cuModuleLoad,")" "cuModuleLoad"
'
