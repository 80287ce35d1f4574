#!/bin/sh
# Of two copies of libcupti in a process only one may subscribe.  So gprof-run uses the copy that the program has loaded or would load.
# also on the pipe
. "$(dirname "$0")/lib.sh"

python='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need python3
	PYTHON=$(python3 -c "import sys; print(sys.executable)")
	# A program that opens libraries by their paths, then launches.
	cat >opens.py <<-PY
		import ctypes, sys
		sys.path.insert(0, "$GPROF_TOP/test/programs")
		held = [ctypes.CDLL(path) for path in sys.argv[1:]]
		from train import Driver
		import kinds
		kinds.launch(Driver(0.1), 20)
	PY
	mkdir driver
	cp "$GPROF_BUILD/sim/libcuda.so.1" driver
	copy() { mkdir -p "${2%/*}"; cp "$GPROF_BUILD/sim/$1" "$2"; }
	opened() {
		gprof-run -q -f -o t -- "$PYTHON" opens.py "$@" >out 2>err || fail "$(cat out err)"
		"$P/count_rows" t.gtrace | sed -n "s/.*cupti.path=\(.*\)/\1/p"
	}
'

it 'one that the program has loaded by its path, before any other' "$python"'
	copy libcupti.so.13 there/libcupti.so.13
	is "$PWD/there/libcupti.so.13" "$(opened "$PWD/there/libcupti.so.13")" "the libcupti in use"
	as_the_gpu_says
	is 20 "$(rows kernel)" kernels
'

for place in cuda_runtime/lib:cuda_cupti/lib cu13/lib:cu13/lib; do
	it "the one of the wheels whose CUDA runtime is loaded (nvidia/${place#*:})" "$python"'
		LD_LIBRARY_PATH=$PWD/driver
		copy libcudart.so.13 nvidia/'"${place%:*}"'/libcudart.so.13
		copy libcupti.so.13 nvidia/'"${place#*:}"'/libcupti.so.13
		used=$(opened "$PWD/nvidia/'"${place%:*}"'/libcudart.so.13")
		is "$(readlink -f nvidia/'"${place#*:}"'/libcupti.so.13)" "$(readlink -f "$used")" "the libcupti in use"
		is 20 "$(rows kernel)" kernels
	'
done
