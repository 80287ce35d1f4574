# Programs that reach CUDA in different ways (linked, loaded, from Python, in children): all work of the simulated GPU is in the trace.  A
# statically linked CUDA runtime is not tested: it needs tables of the driver that the simulated driver does not have.
# also on the pipe
. "$(dirname "$0")/lib.sh"

# python KIND...: test/programs/kinds.py under gprof-run.  Version managers put shell scripts in front of python3; not here.
kinds='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need python3
	PYTHON=$(python3 -c "import sys; print(sys.executable)")
	PYTHONDONTWRITEBYTECODE=1
	export PYTHONDONTWRITEBYTECODE
	recorded() {
		case $1 in --*) option=$1; shift ;; *) option=-q ;; esac
		gprof-run -q -f -o t "$option" -- "$@" >out 2>err || fail "exit status $?: $(cat out err)"
	}
	kinds() { recorded "$PYTHON" "$GPROF_TOP/test/programs/kinds.py" "$@"; }
	# What the program said, and what the GPU did.
	as_it_says() {
		as_the_gpu_says
		for kind in kernel memcpy memset device context; do
			want=$(awk -v kind="${kind}s" "\$1 == kind || \$1 \"s\" == kind { n += \$2 } END { if (NR && n) print n }" out)
			[ -z "$want" ] || is "$want" "$(rows $kind)" "${kind}s"
		done
		grep -q "^[a-z]* [1-9]" out || fail "the program expects nothing"
		is "" "$(health record_unknown)$(health cupti_error)" "trouble"
	}
'

for method in fork forkserver spawn; do
	it "multiprocessing workers by $method, each with kernels of its own" "$kinds"'
		kinds workers '$method' 3 20
		as_it_says
		is 3 "$(flagged 8)" "processes with CUPTI up"
		is "" "$(health forked_after_cuda)" "children that could not be recorded"
	'
done

for form in execv execl execlp execle fexecve execveat; do
	it "a program that becomes another by $form in the middle" "$kinds"'
		kinds exec 30 '$form'
		as_it_says
		is 61 "$(rows kernel)" kernels
		is 2 "$(flagged 8)" "process images with CUPTI up"
		is "" "$(health ended_early)" "processes that ended without our last flush"
	'
done

it 'a program that fails to become another, and goes on' "$kinds"'
	kinds stays 30
	as_it_says
	is 1 "$(flagged 8)" "process images with CUPTI up"
	is "" "$(health zero_time)" "kernels that a flush took while they ran"
'

it 'several devices, each with two contexts, one destroyed with kernels in flight' "$kinds"'
	SIM_DEVICES=3
	export SIM_DEVICES
	kinds contexts 20
	as_it_says
	is 3 "$(rows device)" devices
	is 6 "$(rows context)" contexts
'

it 'the primary context reset with kernels in flight, and used again' "$kinds"'
	kinds reset 25
	as_it_says
'

it 'the CUDA runtime loaded by dlopen' "$kinds"'
	kinds runtimes libcudart.so.13
	as_it_says
'

it 'two CUDA runtimes in one process' "$kinds"'
	mkdir other
	cp "$GPROF_BUILD/sim/libcudart.so.13" other/libcudart.so.12
	kinds runtimes "$GPROF_BUILD/sim/libcudart.so.13" "$PWD/other/libcudart.so.12"
	as_it_says
'

it 'kernels in a plugin that is opened at run time' "$kinds"'
	need nvcc "needs nvcc"
	nvcc -O1 -cudart shared -shared -Xcompiler -fPIC -Dmain=plugin -o plugin.so "$GPROF_TOP/test/programs/vector_add.cu"
	recorded "$PYTHON" -c "import ctypes; ctypes.CDLL(\"./plugin.so\")._Z6pluginv()"
	as_the_gpu_says
	[ "$(rows kernel)" -ge 1 ] || fail "no kernel"
'

it 'a stripped binary' "$kinds"'
	need strip
	need "$P/vector_add" "vector_add is not built (needs nvcc)"
	strip -s -o stripped "$P/vector_add"
	recorded ./stripped
	as_the_gpu_says
	[ "$(rows kernel)" -ge 1 ] || fail "no kernel"
'

it 'a program that a script starts, after others and by exec' "$kinds"'
	cat >wrapper <<-"END"
	#!/bin/sh
	set -e
	ulimit -c 0
	"$@" | cat
	(cd / && "$@")
	exec env WRAPPED=1 "$@"
	END
	chmod +x wrapper
	recorded ./wrapper "$P/driver_api" 10
	as_the_gpu_says
	is 30 "$(rows kernel)" kernels
	is 3 "$(flagged 8)" "processes with CUPTI up"
'

it "a wrapper that clears the environment and lets two variables pass: CUDA_INJECTION64_PATH is enough" "$kinds"'
	cat >wrapper <<-"END"
	#!/bin/sh
	exec env -i LD_LIBRARY_PATH="$LD_LIBRARY_PATH" SIM_TRUTH="$SIM_TRUTH" \
		CUDA_INJECTION64_PATH="$CUDA_INJECTION64_PATH" GPROF_SESSION="$GPROF_SESSION" "$@"
	END
	chmod +x wrapper
	recorded ./wrapper "$P/driver_api" 40
	as_the_gpu_says
	is 40 "$(rows kernel)" kernels
	is 1 "$(flagged 8)" "processes with CUPTI up"
'

it 'a wrapper whose cleared environment stays so runs the program all the same' "$kinds"'
	recorded --restore-environment=false /usr/bin/env -i LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$P/driver_api" 40
	is 0 "$(rows kernel)" kernels
	says spin_ptx,40 out
'
