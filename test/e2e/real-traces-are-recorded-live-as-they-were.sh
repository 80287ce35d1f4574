# test/programs/play repeats real traces on the simulated GPU; the recording must equal the original.
# REPLAY=all: every trace of the data folder, at 1, 10 and 100 times real speed, and every simulated release of CUPTI.
# REPLAY_LOG=FILE: keeps the compared numbers.
. "$(dirname "$0")/lib.sh"

# Of each body: live SPEED SET...: each set under shared/data, its files the processes of one run.
begin='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need "$P/play" "play is not built (make programs)"
	need python3
	unset SIM_TRUTH
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	need "$data/hta/traces" "no real traces in $data"
	live() {
		speed=$1
		shift
		for set in "$@"; do
			rm -f truth
			# shellcheck disable=SC2086
			python3 "$GPROF_TOP/test/e2e/play_check.py" -x "$speed" ${OPTIONS-} "$data/$set"/* >out 2>&1 ||
				fail "$set, $speed times as fast: $(tail -n 1 out | cut -c 1-1000)"
			echo "$set: $(tail -n 1 out)" >>"${REPLAY_LOG:-/dev/null}"
		done
	}
'
export PYTHONDONTWRITEBYTECODE=1
releases='11.8 12.4.127 12.9.79 13.0.48 13.4'
if [ "${REPLAY-}" = all ]; then
	LIMIT=1200
	releases='11.8 12.0 12.3 12.4.127 12.6.80 12.8.90 12.9.79 13.0.48 13.0.85 13.1 13.2 13.3 13.4'
fi

it 'work of an H100 is recorded as it was' "$begin"'
	live 1 hta/traces/tl-h100-qwen hta/traces/tl-h100-timesformer
	live 10 hta/traces/tl-h100-nsfw
	live 100 hta/traces/tl-h100-bert-small
'

it 'work of an A100 is recorded as it was: streams that wait for each other, three threads, NCCL' "$begin"'
	live 1 hta/traces/hta-cp-event-sync hta/traces/hta-cp-event-sync-multi-stream
	live 10 hta/traces/hta-nccl-a100
	live 100 hta/traces/hta-cp-alexnet
'

it 'work of a V100 is recorded as it was: 8 ranks at once, four streams, ns times' "$begin"'
	live 1 hta/traces/dlrm-v100-8rank hta/traces/hta-ns-resolution
	live 10 tb/traces/resnet50-w4-1623212756351
	live 100 hta/traces/dlrm-v100-8rank
'

it 'more calls than can be made in time are recorded: 42,000 in 20 ms' "$begin"'
	live 100 hta/traces/hta-df-index-resolver
'

it 'graphs of hundreds of nodes are recorded node by node, or whole' "$begin"'
	live 1 hta/traces/tl-mi300-vllm-decode
	live 10 hta/traces/tl-mi300-sglang-decode hta/traces/tl-mi300-vllm-prefilldecode
	OPTIONS=-o=--cuda-graph-trace=graph live 10 hta/traces/tl-mi300-sglang-decode hta/traces/tl-mi300-vllm-prefilldecode
'

it 'rows without a call, and with one of before the recording, are recorded' "$begin"'
	live 10 hta/traces/tl-mi300-resnet-act-ckpt hta/traces/hta-sampled-2rank
'

it 'records may come in any order, late, a few at a time, from one buffer for all threads' "$begin"'
	export SIM_SHUFFLE=3 SIM_BUFFER_RECORDS=40 SIM_DELAY_MS=30
	live 100 hta/traces/hta-nccl-a100
	export SIM_PER_THREAD=0 SIM_EMPTY_BUFFERS=1
	live 10 hta/traces/dlrm-v100-8rank
'

it 'records of older releases and of newer ones say the same' "$begin"'
	for release in '"$releases"'; do
		SIM_CUPTI_RELEASE=$release live 100 hta/traces/tl-h100-nsfw
	done
	SIM_CUPTI_LAYOUT=130400 live 100 hta/traces/tl-h100-nsfw
'

it 'rows without times are those that were left without, and counted' "$begin"'
	export SIM_TRUTH="$PWD/truth" SIM_ZERO_TIMESTAMPS=7
	live 100 hta/traces/hta-nccl-a100 hta/traces/dlrm-v100-8rank
'

it 'rows that CUPTI dropped are missing, no other is, and they are counted' "$begin"'
	export SIM_TRUTH="$PWD/truth" SIM_MAX_BUFFERS=2 SIM_DELAY_MS=3000 SIM_BUFFER_RECORDS=200
	live 100 hta/traces/hta-nccl-a100
	export SIM_ZERO_TIMESTAMPS=5 SIM_BUFFER_RECORDS=50
	live 1 hta/traces/dlrm-v100-8rank
'

it 'call stacks and samples take nothing away, nor does the pipe' "$begin"'
	OPTIONS="-o=-scpu -o=--cudabacktrace=all" live 10 hta/traces/dlrm-v100-8rank
	OPTIONS="-o=--transport=pipe" live 10 hta/traces/dlrm-v100-8rank
'

it 'a program that profiles itself meanwhile is given every row, and so are we' "$begin"'
	need "$P/play_profiled"
	OPTIONS="--profiled -o=--cupti=share"
	live 1 hta/traces/tl-h100-qwen
	live 10 hta/traces/dlrm-v100-8rank
	live 100 hta/traces/hta-nccl-a100
	[ "${REPLAY-}" = all ] || exit 0
	for release in '"$releases"'; do
		SIM_CUPTI_RELEASE=$release live 10 hta/traces/dlrm-v100-8rank hta/traces/hta-nccl-a100
	done
'

it 'of two profiles of the program each is whole, and so is what we record, or what lies between them if we yield' "$begin"'
	need "$P/play_profiled"
	OPTIONS="--profiled --parts=5 -o=--cupti=share" live 10 hta/traces/dlrm-v100-8rank
	export SIM_CUPTI_RELEASE=12.8.90
	OPTIONS="--profiled --parts=5 -o=--cupti=yield" live 10 hta/traces/dlrm-v100-8rank
	[ "${REPLAY-}" = all ] || exit 0
	for release in '"$releases"'; do
		export SIM_CUPTI_RELEASE="$release"
		OPTIONS="--profiled --parts=5 -o=--cupti=share" live 10 hta/traces/dlrm-v100-8rank hta/traces/hta-nccl-a100
	done
'

[ "${REPLAY-}" = all ] || exit 0
for speed in 1 10 100; do
	it "every trace, $speed times as fast" "$begin"'
		for set in "$data"/*/traces/*; do
			live '"$speed"' "${set#"$data"/}"
		done
	'
done
