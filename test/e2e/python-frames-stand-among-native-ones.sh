#!/bin/sh
# Call stacks of CUDA calls and NVTX ranges in Python programs: Python frames replace the interpreter's frames, native frames stay between
# them.  Compared with Python's traceback module.
# also on the pipe
. "$(dirname "$0")/lib.sh"

# said PYTHON OPTION...: of each synchronisation, what the trace says in ./got (as python_stacks.py does) and what Python said in ./want;
# with SHIM=libnvtx_shim.so of each range.
setup='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	. "$GPROF_TOP/test/e2e/pythons.sh"
	[ "$(pythons 8)" ] || { echo "no CPython 3.8 to 3.14 here"; exit 77; }
	said() {
		python=$1
		shift
		rm -f t.gtrace
		gprof-run -q -f -o t --resolve-symbols=false "$@" -- "$python" "$GPROF_TOP/test/programs/python_stacks.py" libcuda.so.1 ${SHIM-} >out 2>err || fail "$python: $(cat err)"
		"$P/stack_rows" t.gtrace >raw
		sed -n "s/^\(api cuCtxSynchronize\|range here\) //p" raw | python3 -c "
import sys
for line in sys.stdin:
    words = [w.rpartition(\":\")[0] or \"native\" for w in line.split()[2:]]
    words = [w for i, w in enumerate(words) if w != \"native\" or words[i - 1:i] != [w]]
    print(\" \".join(words[:-1] if words[-1:] == [\"native\"] else words))" | sort >got
		sort out >want
		[ "$(wc -l <want)" -ge 20 ] || fail "$python made too few calls"
	}
'

it 'has the frames that traceback has, in their order, with what is native between them, in each CPython' "$setup"'
	for python in $(pythons 8); do
		said "$python" --cudabacktrace=all:0 --backtrace-depth=128
		diff want got >wrong || fail "$python: $(head -n 6 wrong)"
		# 3: native and Python frames, complete
		is 0 "$(grep "^api cuCtxSynchronize" raw | grep -vc "^api cuCtxSynchronize 3 ")" "stacks that are not complete under $python"
		grep "^api cuCtxSynchronize" raw | grep -q "_ctypes" || fail "$python: no frame of the extension"
		gprof-trace report -r stacks --by mixed t.gtrace >mixed
		for word in recursion libffi _ctypes nested_callbacks; do
			grep -q "$word" mixed || fail "$python: no $word in $(cat mixed)"
		done
	done
'

it 'keeps the innermost frames of either kind' "$setup"'
	for python in $(pythons 8); do
		said "$python" --cudabacktrace=all:0 --backtrace-depth=12
		is 0 "$(awk "\$1 == \"api\" && \$4 > 12" raw | wc -l)" "stacks that are too deep under $python"
		grep -q "^api cuCtxSynchronize 7 12 " raw || fail "$python: none was cut"
		sort -u got >few
		while read -r line; do
			grep -qF "$line" want || fail "$python: no stack begins with $line"
		done <few
	done
'

it 'has Python frames alone with --backtrace=none, and none with --python-backtrace=none or osrt' "$setup"'
	python=$(pythons 8 | head -n 1)
	said "$python" --cudabacktrace=all:0 --backtrace=none --backtrace-depth=128
	sed "s/native //g" want | sort >bare
	sort got >sorted
	diff bare sorted
	for off in none osrt; do
		said "$python" --cudabacktrace=all:0 --python-backtrace=$off
		is 0 "$(rows code)" "code objects with $off"
		is 0 "$(grep "^api cuCtxSynchronize" raw | grep -vc "^api cuCtxSynchronize [15] ")" "stacks with other than native frames"
	done
'

it 'says which Python lines begin NVTX ranges, in each CPython' "$setup"'
	SHIM=$P/libnvtx_shim.so
	need "$SHIM" "test programs are not built (no NVTX headers)"
	for python in $(pythons 8); do
		said "$python" --nvtx-backtrace --backtrace-depth=128
		diff want got >wrong || fail "$python: $(head -n 6 wrong)"
		is 0 "$(grep "^range here" raw | grep -vc "^range here 3 ")" "stacks that are not complete under $python"
		gprof-trace report -r range_sites t.gtrace >sites
		grep -q ":here .* sync (.*python_stacks.py:" sites || fail "$python: $(cat sites)"
	done
	said "$python" --nvtx-backtrace --backtrace-depth=128 --python-backtrace=none
	is 0 "$(rows code)" "code objects with --python-backtrace=none"
'
