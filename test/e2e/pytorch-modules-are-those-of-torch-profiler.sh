#!/bin/sh
# The nn.Modules in which operators run: modules called as PyTorch calls them, in each CPython; and a real network, whose module
# names and numbers must equal those of torch.profiler.
. "$(dirname "$0")/lib.sh"

it 'finds the modules around a call in each CPython' '
	. "$GPROF_TOP/test/e2e/pythons.sh"
	lib=$GPROF_BUILD/test/programs/libpywalk.so
	need "$lib" "test programs are not built (make host-programs)"
	[ "$(pythons 8)" ] || { echo "no CPython 3.8 to 3.14 here"; exit 77; }
	for python in $(pythons 8); do
		"$python" -W ignore "$GPROF_TOP/test/e2e/pymodules_check.py" "$lib" >out 2>&1 || { cat out; fail "$python"; }
	done
'

it 'names modules as named_modules() does, in each CPython, and survives what is none' '
	. "$GPROF_TOP/test/e2e/pythons.sh"
	lib=$GPROF_BUILD/test/programs/libpywalk.so
	need "$lib" "test programs are not built (make host-programs)"
	[ "$(pythons 8)" ] || { echo "no CPython 3.8 to 3.14 here"; exit 77; }
	for python in $(pythons 8); do
		"$python" -W ignore "$GPROF_TOP/test/e2e/pymodules_paths_check.py" "$lib" >out 2>&1 || { cat out; fail "$python"; }
	done
'

it 'has the modules of every operator that torch.profiler has, by name and number' '
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python"; do
		"$python" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "torch is not to be had here"
	network=$GPROF_TOP/test/e2e/torch_network.py
	"$judge" -W ignore "$network" profile.json >out 2>err || fail "$(cat err)"
	gprof-run -q -f -o t --torch-modules -- "$judge" -W ignore "$network" >out 2>err || fail "$(cat err)"
	python3 "$GPROF_TOP/test/e2e/torch_modules_check.py" t.gtrace profile.json >said || fail "$(cat said)"
	gprof-trace report -r modules:class t.gtrace >table
	grep -qE " blocks\.\*\.\* +Net > Sequential > Block > Linear" table || fail "$(cat table)"
	grep -qE " blocks\.\*\.act +Net > Sequential > Block > ReLU" table || fail "$(cat table)"
	says "(outside of modules)" table
	gprof-trace report -r modules t.gtrace >table
	grep -qE " blocks\.2\.a +Net_0 > Sequential_0 > Block_2 > Linear_5" table || fail "$(cat table)"
	gprof-trace export -o k.json t.gtrace 2>err
	says "\"Module Hierarchy\": \"Net_0 > Sequential_0 > Block_2 > Linear_5\", \"Module Path\": \"blocks.2.a\"" k.json
	gprof-run -q -f -o t --torch-stacks -- "$judge" -W ignore "$network" >out 2>err || fail "$(cat err)"
	gprof-trace report -r ops_by_stack --by python --group-by-stack 1 t.gtrace | grep -A 1 "aten::addmm" >table
	says "Linear.forward (torch/nn/modules/linear.py:" table
	gprof-run -q -f -o t -t torch-ops -- "$judge" -W ignore "$network" >out 2>err
	gprof-trace report -r modules t.gtrace >table
	says "no nn.Modules were recorded" table
'

it 'has the path of every module that named_modules() has' '
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python"; do
		"$python" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "torch is not to be had here"
	gprof-run -q -f -o t --torch-modules -- "$judge" -W ignore "$GPROF_TOP/test/e2e/torch_paths_network.py" ddp "$PWD/init" >out 2>err || fail "$(cat err)"
	python3 "$GPROF_TOP/test/e2e/torch_paths_check.py" t.gtrace >said || fail "$(cat said)"
	gprof-trace report -r health t.gtrace >health
	grep -qE " torch_paths +1 " health || fail "$(cat health)"
'
