#!/bin/sh
# Taking a call stack waits for no lock and does not call the program's malloc: a program holds the loader's locks and counts allocations
# while stacks are taken.
. "$(dirname "$0")/lib.sh"

setup='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	stacks() { gprof-trace dump t.gtrace | grep -c "^stack "; }
'

it 'stacks of a thread are taken while another one is in a callback of dl_iterate_phdr()' "$setup"'
	OPTIONS="--cudabacktrace=all:0 --nvtx-backtrace --python-launch-site --backtrace-depth=128" exits 0 traced stack_locks loader
	says "the calls were made meanwhile" out
	[ "$(stacks)" -ge 500 ] || fail "$(stacks) stacks"
'

it 'and while it loads a library whose constructor takes long' "$setup"'
	need cc
	echo "void stack_locks_slow(void); __attribute__((constructor)) static void slow(void) { stack_locks_slow(); }" |
		cc -shared -fPIC -o libslow.so -x c -
	OPTIONS="--cudabacktrace=all:0 --nvtx-backtrace --python-launch-site --backtrace-depth=128" exits 0 traced stack_locks opening "$PWD"
	says "the calls were made meanwhile" out
	[ "$(stacks)" -ge 500 ] || fail "$(stacks) stacks"
'

it 'nothing is allocated by malloc() for a stack' "$setup"'
	exits 0 traced stack_locks malloc
	mv out without
	is 0 "$(rows stack)"
	OPTIONS="--cudabacktrace=all:0 --backtrace-depth=128" exits 0 traced stack_locks malloc
	[ "$(stacks)" -ge 500 ] || fail "$(stacks) stacks"
	same without out
'
