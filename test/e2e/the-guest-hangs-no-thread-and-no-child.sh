#!/bin/sh
# Threads that are cancelled, leave with longjmp, or fork in the middle of a hook: no thread and no child waits for them.
# also on the pipe
. "$(dirname "$0")/lib.sh"

rough=$GPROF_BUILD/test/programs/rough
export rough

recorded='
	need "$rough" "NVTX programs are not built"
	gprof-run -q -o run -- "$rough" '

it 'does not wait for a collector while NVTX starts, and 200 ms later' '
	need "$rough" "NVTX programs are not built"
	need python3
	cat >silent.py <<-PY
		import os, socket, subprocess, sys
		os.mkdir("session", 0o700)
		os.mkfifo("session/roster")
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s.bind("session/sock")
		s.listen(5)
		ours = "$GPROF_BUILD/lib/gprof/libgprof_inject.so"
		env = dict(os.environ, GPROF_SESSION=os.getcwd() + "/session", LD_PRELOAD=ours, NVTX_INJECTION64_PATH=ours)
		sys.exit(subprocess.run(["$rough", "start"], env=env).returncode)
	PY
	python3 silent.py
'

it 'lets children run that are forked while other threads make names' "$recorded"'name >said || fail "$(cat said)"
	# On a busy machine a child may not reach the collector within its 200 ms; then the trace says so.
	refused=$(gprof-trace report -r health --format csv run.gtrace | awk -F, "\$3 == \"refused\" { n += \$4 } END { print n + 0 }")
	is 200 "$(($(gprof-trace dump run.gtrace | grep -c "^range .*\"child\"") + refused))" "ranges of children, and children refused"
'

it 'is no cancellation point' "$recorded"'cancel >said || fail "$(cat said)"
	is 2 "$(gprof-trace dump run.gtrace | grep -c "^range ")" "ranges"
'

it 'goes on naming when a thread has left a hook by siglongjmp' '
	need "$rough" "NVTX programs are not built"
	gprof-run -q --string-memory 2G -o run -- "$rough" jump >said || fail "$(cat said)"
	gprof-trace dump run.gtrace >rows
	made=$(sed "s/ ranges//" said)
	kept=$(grep -cE "^range .*\"(init|other [0-9]*)\"" rows)
	# Where the collector could not keep up with two threads that do nothing else, it says how many ranges had no room.
	dropped=$(sed -n "s/^drop .*count=\([0-9]*\) kind=20 .*/\1/p" rows | awk "{ n += \$1 } END { print n + 0 }")
	# On the pipe: what could not be sent within 2 s of the end.
	left=$(gprof-trace report -r health --format csv run.gtrace | awk -F, "\$3 == \"pipe_left\" { n += \$4 } END { print n + 0 }")
	[ "$kept" -le "$made" ] && [ $((kept + dropped + left)) -ge "$made" ] || fail "$made ranges were made, $kept kept, $dropped dropped, $left left"
'

it 'goes on when threads end inside of a hook, and keeps what the others did' '
	need "$rough" "NVTX programs are not built"
	gprof-run -q --string-memory 2G -o run -- "$rough" die >said || fail "$(cat said)"
	gprof-trace dump -k range run.gtrace >rows
	made=$(sed "s/ ranges//" said)
	kept=$(grep -cE "^range .*\"(init|[0-9]*)\"" rows)
	dropped=$(gprof-trace dump -k drop run.gtrace | sed -n "s/.*count=\([0-9]*\) kind=20 .*/\1/p" | awk "{ n += \$1 } END { print n + 0 }")
	left=$(gprof-trace report -r health --format csv run.gtrace | awk -F, "\$3 == \"pipe_left\" { n += \$4 } END { print n + 0 }")
	[ "$kept" -le "$made" ] && [ $((kept + dropped + left)) -ge "$made" ] || fail "$made ranges were made, $kept kept, $dropped dropped, $left left"
	grep -q "\"mortal" rows || fail "no range of a thread that ended"
'

it 'adds nothing to a core file of the program' '
	need python3
	need "$GPROF_BUILD/test/programs/libnvtx_shim.so" "the NVTX shim is not built"
	# Two that are shared, or a large one that is our own.
	large=False mappings=2
	[ -z "${GPROF_TEST_TRANSPORT-}" ] || large=True mappings=1
	cat >maps.py <<-PY
		import ctypes
		size = lambda name: -eval("0x" + name.split()[0].replace("-", "-0x"))
		nvtx = ctypes.CDLL("$GPROF_BUILD/test/programs/libnvtx_shim.so")
		nvtx.nvtx_mark(b"x")
		name = ""
		for line in open("/proc/self/smaps"):
		    if "-" in line.split()[0]: name = line
		    if line.startswith("VmFlags:") and ("memfd:gprof" in name or $large and size(name) > 200 << 20):
		        print("left out" if " dd" in line else "in it: " + name)
	PY
	gprof-run -q -o run -- python3 maps.py >said
	is $mappings "$(grep -c "left out" said)" "mappings that are left out of $(cat said)"
'

it 'lets a library replace the program before our turn to be loaded' '
	command -v cc >/dev/null || skip "no compiler"
	cat >early.c <<-C
		#include <stdlib.h>
		#include <unistd.h>
		__attribute__((constructor)) static void early(void)
		{
			if (setenv("AGAIN", "1", 0) == 0 && !getenv("DONE")) {
				setenv("DONE", "1", 1);
				execvp("echo", (char *[]){ "echo", "replaced", NULL });
				_exit(9);
			}
		}
	C
	echo "int main(void) { return 3; }" >main.c
	cc -D_GNU_SOURCE -shared -fPIC -o libearly.so early.c
	cc -o main main.c -Wl,--no-as-needed -L. -learly -Wl,-rpath,"$PWD"
	gprof-run -q -o run -- ./main >said
	is replaced "$(cat said)" "the program said"
'

it 'counts the time that it takes from the program to start and to connect' '
	need "$rough" "NVTX programs are not built"
	gprof-run -q -o run -- "$rough" cancel
	gprof-trace dump run.gtrace | grep "^cost .* place=[12] " >costs
	is 2 "$(wc -l <costs)" "places in $(cat costs)"
'
