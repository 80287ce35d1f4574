#!/bin/sh
# A program checks that the injected object does not change its descriptors, files, errno, signals, vfork and fork.
# also on the pipe
. "$(dirname "$0")/lib.sh"

manners=$GPROF_BUILD/test/programs/manners
export manners

it 'touches no descriptor, file, errno or signal of a program that takes every number, forks and vforks' '
	need "$manners" "NVTX programs are not built"
	"$manners" alone.txt
	is untouched "$(cat alone.txt)" "without us the program"
	gprof-run -q -o run -- "$manners" with.txt
	is untouched "$(cat with.txt)" "the program"
	gprof-trace dump run.gtrace >rows
	is 2010 "$(grep -c "^range .*\"work\"" rows)" "ranges of parent and forked child"
	is 2010 "$(grep -c "^mark .*\"tick\"" rows)" "their marks"
'

it 'leaves a program alone whose session is gone' '
	need "$manners" "NVTX programs are not built"
	mkdir session
	object=$GPROF_BUILD/lib/gprof/libgprof_inject.so
	GPROF_SESSION=$PWD/session LD_PRELOAD=$object NVTX_INJECTION64_PATH=$object "$manners" gone.txt
	is untouched "$(cat gone.txt)" "the program"
	GPROF_SESSION=$PWD/nothing LD_PRELOAD=$object NVTX_INJECTION64_PATH=$object "$manners" gone.txt
	is untouched "$(cat gone.txt)" "the program"
'

it 'keeps a forked child apart from its parent' '
	need python3
	need "$GPROF_BUILD/test/programs/libnvtx_shim.so" "the NVTX shim is not built"
	cat >forks.py <<-PY
		import ctypes, os, sys
		nvtx = ctypes.CDLL("$GPROF_BUILD/test/programs/libnvtx_shim.so")
		push, pop = nvtx.nvtx_push, nvtx.nvtx_pop
		push(b"parent"); pop()
		for i in range(3):
		    pid = os.fork()
		    if pid == 0:
		        push(b"child"); pop()
		        os._exit(0)
		    os.waitpid(pid, 0)
		push(b"parent"); pop()
	PY
	gprof-run -q -o run -- python3 forks.py
	gprof-trace dump run.gtrace >rows
	is 2 "$(grep -c "^range .*\"parent\"" rows)" "ranges of the parent"
	is 3 "$(grep -c "^range .*\"child\"" rows)" "ranges of the children"
	is 3 "$(grep "^range .*\"child\"" rows | sed "s/.* process=\([0-9]*\).*/\1/" | sort -u | wc -l)" "processes with a child range"
'

it 'takes little of an address space that is limited' '
	need python3
	need "$GPROF_BUILD/test/programs/libnvtx_shim.so" "the NVTX shim is not built"
	cat >limited.py <<-PY
		import ctypes, mmap
		nvtx = ctypes.CDLL("$GPROF_BUILD/test/programs/libnvtx_shim.so")
		size = lambda: int(open("/proc/self/statm").read().split()[0]) * mmap.PAGESIZE
		before = size()
		nvtx.nvtx_push(b"limited"); nvtx.nvtx_pop()
		print("it takes", (size() - before) >> 20, "MiB")
	PY
	gprof-run -q -o run -- sh -c "ulimit -v 600000; exec python3 limited.py" >said
	most=40
	[ -z "${GPROF_TEST_TRANSPORT-}" ] || most=50    # what was sent is kept, too
	[ "$(sed "s/[^0-9]//g" said)" -le $most ] || fail "$(cat said)"
	is 1 "$(gprof-trace dump run.gtrace | grep -c "^range .*\"limited\"")" "ranges"
'
