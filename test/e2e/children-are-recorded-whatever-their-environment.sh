#!/bin/sh
# A program starts a child with a cleaned environment or another LD_PRELOAD: the injected object adds its own variables again, and changes
# nothing else.
# also on the pipe
. "$(dirname "$0")/lib.sh"

execs='
	need "$GPROF_BUILD/test/programs/execs" "programs of gprof-run are not built"
	EXECS=$GPROF_BUILD/test/programs/execs
	ENV=$(command -v env)
	OBJECT=$GPROF_BUILD/lib/gprof/libgprof_inject.so
	others() { grep -vE "^(LD_PRELOAD=$OBJECT|CUDA_INJECTION64_PATH=$OBJECT|NVTX_INJECTION64_PATH=$OBJECT|GPROF_SESSION=/.*)\$" "$1" || :; }
'

it 'whatever starts it: exec in each of its forms, vfork and posix_spawn' "$execs"'
	for how in execl execle execlp execv execve execvp execvpe execveat fexecve vfork spawn spawnp; do
		gprof-run -q -f -o run -- "$EXECS" $how "$ENV" >got
		is A=1 "$(others got)" "variables besides ours of a child by $how"
		is 5 "$(wc -l <got)" "variables of a child by $how"
		# A word behind the program, and its exit status.
		exits 1 gprof-run -q -f -o run -- "$EXECS" $how "$(command -v cat)" /nothing 2>err
		says /nothing err
		gprof-trace report -r processes --format csv run.gtrace >processes
		grep -q "[,/ ]cat" processes || fail "cat by $how is not listed: $(cat processes)"
	done
'

it 'python: subprocess.run(env={}), with vfork and with posix_spawn' "$execs"'
	need python3
	PYTHON=$(python3 -c "import sys; print(sys.executable)")
	cat >starts.py <<-PY
		import subprocess
		for close_fds in True, False:
		    print(subprocess.run(["$ENV"], env={}, close_fds=close_fds, capture_output=True, text=True).stdout, end="")
	PY
	gprof-run -q -o run -- "$PYTHON" starts.py >got
	is "" "$(others got)" "variables besides ours"
	is 8 "$(wc -l <got)" "variables of two children"
	is 3 "$(gprof-trace report -r processes --format csv run.gtrace | grep -c "python\|env")" processes
'

it 'kernels of a program behind env -i, which is told nothing else' "$execs"'
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 gprof-run -q -f -o t -- "$ENV" -i LD_LIBRARY_PATH="$LD_LIBRARY_PATH" SIM_TRUTH="$SIM_TRUTH" "$P/driver_api" 40 2>err
	as_the_gpu_says
	is 40 "$(rows kernel)" kernels
	never_says "gprof-run -- COMMAND" err
'

it 'an LD_PRELOAD that a script sets anew keeps what it says, and ours joins it' "$execs"'
	command -v cc >/dev/null || skip "no compiler"
	echo "int other;" | cc -shared -o libother.so -x c -
	gprof-run -q -o run -- sh -c "LD_PRELOAD=$PWD/libother.so $ENV" >got
	says "LD_PRELOAD=$PWD/libother.so:$OBJECT" got
	gprof-run -q -f -o run -- "$ENV" -i LD_PRELOAD="$PWD/libother.so" "$ENV" >got
	says "LD_PRELOAD=$PWD/libother.so:$OBJECT" got
	is "" "$(others got | grep -v "^LD_PRELOAD")" "variables besides ours"
'

it 'left alone: LD_PRELOAD taken off, GPROF_SESSION empty, --restore-environment=false, an object that is not there' "$execs"'
	gprof-run -q -o run -- sh -c "unset LD_PRELOAD; exec $ENV" >got
	never_says LD_PRELOAD got
	gprof-run -q -f -o run -- "$ENV" -i GPROF_SESSION= "$ENV" >got
	is GPROF_SESSION= "$(cat got)" "the environment"
	gprof-run -q -f -o run --restore-environment=false -- "$EXECS" execve "$ENV" >got
	is A=1 "$(cat got)" "the environment"
	cp -r "$GPROF_BUILD/bin" "$GPROF_BUILD/lib" .
	mkdir moved
	./bin/gprof-run -q -f -o run -- sh -c "mv lib moved; exec $EXECS execve $ENV" >got
	is A=1 "$(cat got)" "the environment"
'
