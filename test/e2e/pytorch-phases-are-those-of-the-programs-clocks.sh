# Training loops that time their own phases (torch_loops.py); the phases report is compared with these times.
. "$(dirname "$0")/lib.sh"

TORCH='
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python"; do
		"$python" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "torch is not to be had here"
	# A busy machine takes the processor away between two clocks: a second look decides.
	close() {
		"$@" && return
		"$@"
	}
	loops() {
		gprof-run -f -q -o t -- "$judge" -W ignore "$GPROF_TOP/test/e2e/torch_loops.py" clocks "$@" >out 2>err || fail "$(tail -n 5 err)"
		gprof-trace report -r phases --format csv t.gtrace >phases 2>notes
		"$judge" "$GPROF_TOP/test/e2e/phases_check.py" phases clocks >said 2>why
	}
'

it 'of a plain loop, loader workers, accumulation, autocast, step(closure), LBFGS and a loop that loads ahead' "$TORCH"'
	close loops 8 mlp cnn accumulate amp closure lbfgs huggingface || fail "$(cat why said)"
	gprof-trace report -r phases t.gtrace >table
	grep -qE "^  median step \(#[0-9]+ of [0-9]+ steps\), [0-9.]+ ms: data [0-9.]+ ms, forward [0-9.]+ ms, backward [0-9.]+ ms, optimizer [0-9.]+ ms" table || fail "$(tail -n 3 table)"
	says "GPU time was not recorded" table
'

it 'of a loop without a loader, whose data is unknown and not zero' "$TORCH"'
	close loops 6 no_loader || fail "$(cat why said)"
	says "data is unknown: no DataLoader was seen" notes
	is "" "$(cut -d, -f4 phases | tail -n +2 | tr -d "\n")" "data_ns"
'

it 'of a forward in front of zero_grad, which begins with its operators, or is unknown and not small' "$TORCH"'
	operators() {
		gprof-run -f -q -t torch-ops -o t -- "$judge" -W ignore "$GPROF_TOP/test/e2e/torch_loops.py" clocks "$@" >out 2>err || fail "$(tail -n 5 err)"
		gprof-trace report -r phases --format csv t.gtrace >phases 2>notes
		"$judge" "$GPROF_TOP/test/e2e/phases_check.py" phases clocks >said 2>why
	}
	close operators 8 between || fail "$(cat why said)"
	close operators 8 inference || fail "$(cat why said)"
	loops 6 between || :
	says "nothing shows where forward starts" notes
	is "" "$(cut -d, -f5 phases | tail -n +2 | tr -d "\n")" "forward_ns"
	loops 6 inference || :
	says "forward is unknown, and its time is in other: no backward pass was seen" notes
	is "" "$(cut -d, -f5 phases | tail -n +2 | tr -d "\n")" "forward_ns"
	is 6 "$(tail -n +2 phases | wc -l)" "steps"
'

it 'of each rank that torchrun starts, whose backward pass ends with its collectives' "$TORCH"'
	ranks() {
		gprof-run -f -q -o t -- "$judge" -W ignore -m torch.distributed.run --standalone --nproc_per_node=2 \
			"$GPROF_TOP/test/e2e/torch_loops.py" clocks "${2:-8}" "$1" >out 2>err || fail "$(tail -n 5 err)"
		gprof-trace report -r phases --format csv t.gtrace >phases 2>notes
		gprof-trace report -r processes --format csv t.gtrace | cut -d, -f1,4 | grep -E ",[01]$" >ranks
		is 2 "$(wc -l <ranks)" "ranks"
		while IFS=, read -r process rank; do
			"$judge" "$GPROF_TOP/test/e2e/phases_check.py" phases "clocks.$rank" "$process" >said 2>why || return 1
		done <ranks
	}
	close ranks ddp || fail "$(cat why said)"
	is 0 "$(cut -d, -f12 phases | tail -n +2 | grep -cx "")" "steps without the host time of collectives"
	is "" "$(cut -d, -f10,11 phases | tail -n +2 | tr -d ",\n")" "communication on a GPU that is not there"
	gprof-trace report t.gtrace >page
	tr -s " \n" "  " <page | grep -q "collectives issued for [0-9.]* [mu]s on the host, [0-9.]* [mun]*s ([0-9]* %) outside the backward pass" || fail "$(cat page)"
	# zero_grad between forward and backward, batches by hand: the forward begins with its scopes.
	close ranks ddp_between 6 || fail "$(cat why said)"
	close ranks fsdp_between 6 || fail "$(cat why said)"
'
