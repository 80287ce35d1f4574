#!/bin/sh
# Call stacks of CUDA calls and NVTX ranges on the simulated GPU: a program that prints its own call sites; names from nm.
# also on the pipe
. "$(dirname "$0")/lib.sh"

# said OPTION...: the program under gprof-run; its calls with the names of functions in ./said.
setup='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need python3
	need nm
	need cc
	for name in one two; do
		printf "void %s(void (*f)(void)); void %s(void (*f)(void)) { f(); __asm__ volatile(\"\" ::: \"memory\"); }" $name $name |
			cc -O2 -shared -fPIC -o lib$name.so -x c -
	done
	said() {
		OPTIONS="$*" exits 0 traced call_chain "$PWD"
		"$P/stack_rows" t.gtrace >raw
		python3 "$GPROF_TOP/test/e2e/stacks_say.py" raw "$P/call_chain" libone.so libtwo.so >said
	}
'

it 'names every function from the call to main' "$setup"'
	said --cudabacktrace=all:0
	# flags 1: native frames; complete, not cut
	is 20 "$(grep -c "^api cuCtxSynchronize 1 [0-9]* libcuda innermost middle middle middle middle outermost main libc _start$" said)"
	is 1 "$(grep -c "^api cuMemAlloc_v2 1 [0-9]* libcuda compare libc.* by_callback main libc _start$" said)"
	is 1 "$(grep -c "^api cuCtxSynchronize 1 [0-9]* libcuda innermost by_thread libc$" said)"
'

it 'goes through a signal handler on its own stack, and ends with a coroutine' "$setup"'
	said --cudabacktrace=sync:0
	is 1 "$(grep -c "^api cuCtxSynchronize 1 [0-9]* libcuda innermost handler libc.* by_signal main libc _start$" said)"
	# What begins a coroutine in libc has no rules: 8, something may be missing.
	is 1 "$(grep -c "^api cuCtxSynchronize 9 [0-9]* libcuda innermost by_coroutine libc$" said)"
'

it 'tells libraries apart that were loaded to the same place one after the other' "$setup"'
	said --cudabacktrace=sync:0
	for name in one two; do
		is 3 "$(grep -c "^api cuCtxSynchronize 1 [0-9]* libcuda innermost $name by_library main libc _start$" said)" "calls through $name"
		grep "^image lib$name.so unmapped ........" said
	done
	grep "^image call_chain mapped ........" said
	is 6 "$(grep -c " is at " out)"
	# On every loader that was tried; what is above holds all the same.
	is 1 "$(sed -n "s/.* is at //p" out | sort -u | wc -l)" "the number of places"
'

it 'is the same with libunwind, and with .eh_frame alone' "$setup"'
	said --cudabacktrace=all:0
	grep "^api" said >auto
	said --cudabacktrace=all:0 --backtrace=dwarf
	grep "^api" said >dwarf
	same auto dwarf
	ldconfig -p 2>/dev/null | grep -q "libunwind.so.8" || exit 0
	said --cudabacktrace=all:0 --backtrace=libunwind
	# It turns back at the end of a coroutine, and goes on behind _start.
	grep "^api" said | grep -v by_coroutine >libunwind
	grep -v by_coroutine auto >want
	same want libunwind
'

it 'keeps the innermost frames, as many as asked for, and says that there were more' "$setup"'
	said --cudabacktrace=sync:0 --backtrace-depth=4
	is 20 "$(grep -c "^api cuCtxSynchronize 5 4 libcuda innermost middle$" said)"
	said --cudabacktrace=sync:0 --backtrace=none
	never_says " innermost" said
'

it 'takes stacks of the classes and durations that were asked for' "$setup"'
	said --cudabacktrace=memory:0
	is 0 "$(grep -c "^api cuCtxSynchronize [1-9]" said)"
	is 1 "$(grep -c "^api cuMemAlloc_v2 1 .* compare " said)"
	said --cudabacktrace=all:1000000000000
	is "stacks 0" "$(grep "^stacks" said)"
	said
	is "stacks 0" "$(grep "^stacks" said)"
	never_says "^image" said
	said --cudabacktrace=true --cudabacktrace-threshold=0
	is 20 "$(grep -c "^api cuCtxSynchronize 1 [0-9]* libcuda innermost middle middle middle middle outermost main" said)"
'

it 'describes a stack once, however often it comes' "$setup"'
	said --cudabacktrace=sync:0
	[ "$(sed -n "s/^stacks //p" said)" -le 12 ]
'

it 'says where NVTX ranges were begun' '
	need "$GPROF_BUILD/test/programs/stack_rows" "test programs are not built (make programs)"
	need "$GPROF_BUILD/test/programs/nvtx_kinds" "test programs are not built (no NVTX headers)"
	need python3
	need nm
	P=$GPROF_BUILD/test/programs
	said() {
		gprof-run -q -f -o t "$@" -- "$P/nvtx_kinds" >out 2>err
		"$P/stack_rows" t.gtrace >raw
		python3 "$GPROF_TOP/test/e2e/stacks_say.py" raw "$P/nvtx_kinds" >said
	}
	said --nvtx-backtrace
	is 3 "$(grep -c "^range forward 1 [0-9]* main libc _start$" said)"
	is 3 "$(grep -c "^range step 1 [0-9]* main libc _start$" said)"
	is "" "$(grep "^range" said | grep -v " main libc _start$\| ends_it libc$")"
	said "--nvtx-backtrace=f*"
	is 3 "$(grep -c "^range" said)"
	is 3 "$(grep -c "^range forward 1 " said)"
	said --nvtx-backtrace=false
	is 0 "$(grep -c "^range" said)"
'
