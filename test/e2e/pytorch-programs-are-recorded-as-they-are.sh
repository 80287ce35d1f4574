#!/bin/sh
# Real PyTorch on the CPU: unmodified scripts behave as without gprof-run, and the recorded ranges equal those of torch.profiler.
. "$(dirname "$0")/lib.sh"

# `import torch` takes a second, and ten on a busy machine.
LIMIT=600
BEGIN='
	programs=$GPROF_TOP/test/programs/pytorch
	torch=
	for python in ${GPROF_TORCH_PYTHON-} "$GPROF_BUILD/judges/bin/python" python3; do
		"$python" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null && torch=$python && break
	done
	[ "$torch" ] || skip "torch is not to be had here"
	count() { gprof-trace dump -k range run.gtrace | grep -c " name=\"$1\"" || :; }
	steps() { gprof-trace dump -k step run.gtrace | wc -l; }
'

it 'output, exit status and the table of torch.profiler are those without us; operators and their inputs are the same' "$BEGIN"'
	exits 3 "$torch" "$programs/judged.py" alone.json >alone 2>err
	exits 3 gprof-run -q -o run "$torch" "$programs/judged.py" with.json >with 2>err
	same alone with
	is 5 "$(count Optimizer.step#AdamW.step)" "optimizer steps"
	exits 3 gprof-run -q -f -o run --torch-shapes "$torch" "$programs/judged.py" with.json >with 2>err
	same alone with
	gprof-trace dump -k range run.gtrace >ranges
	gprof-trace dump -k op run.gtrace >ops
	"$torch" "$GPROF_TOP/test/e2e/pytorch_judge.py" with.json ranges ops >said
	is "operators True missing 0" "$(cat said)" "against torch.profiler"
	gprof-trace report -r health run.gtrace >health
	never_says PyTorch health
'

it 'a loader with workers that are forked, or spawned, works as without us' "$BEGIN"'
	exits 4 "$torch" "$programs/loops.py" train 2 >alone 2>err
	exits 4 gprof-run -q -o run -t torch-ops "$torch" "$programs/loops.py" train 2 >with 2>err
	same alone with
	is 11 "$(count "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")" "batches asked for"
	is 3 "$(gprof-trace dump -k op run.gtrace | grep -o "process=[0-9]*" | sort -u | wc -l)" "processes with operators"
	sed "s/if __name__.*/import torch.multiprocessing; torch.multiprocessing.set_start_method(\"spawn\", force=True)\n&/" "$programs/loops.py" >spawns.py
	sed -i "s/^import torch.multi.*/if __name__ == \"__main__\": torch.multiprocessing.set_start_method(\"spawn\", force=True)/" spawns.py
	exits 4 gprof-run -q -f -o run -t torch-ops "$torch" spawns.py train 1 >with 2>err
	same alone with
	is 2 "$(gprof-trace dump -k op run.gtrace | grep -o "process=[0-9]*" | sort -u | wc -l)" "processes with operators, spawned"
'

it 'steps are those of the optimizer, however the loop is written; a schedule follows them' "$BEGIN"'
	for loop in accumulate:5 two:10 infer:10; do
		exits 4 gprof-run -q -f -o run --step torch "$torch" "$programs/loops.py" "${loop%:*}" 0 >out 2>err
		is "${loop#*:}" "$(steps)" "steps of ${loop%:*}"
	done
	exits 4 gprof-run -q -f -o run -t torch-ops --schedule wait=2,warmup=1,active=3,repeat=1 "$torch" "$programs/loops.py" train 0 >out 2>err
	is 3 "$(gprof-trace dump -k step run.gtrace | grep -c "window=1 ")" "active steps"
	is 3 "$(gprof-trace dump -k range run.gtrace | grep -c "Optimizer.step#")" "optimizer steps in the window"
	is 1 "$(gprof-trace dump -k window run.gtrace | wc -l)" "windows"
'
