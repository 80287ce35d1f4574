# Programs that cannot load the injected object, and launchers: gprof-run warns in one line and runs them.
. "$(dirname "$0")/lib.sh"

it 'a static program' '
	need cc
	echo "int main(void) { return 5; }" >five.c
	cc -static -o five five.c 2>/dev/null || skip "no static libc here"
	exits 5 gprof-run -q -o run -- ./five 2>err
	says "is a static program" err
	is 1 "$(grep -c five err)"
'

it 'a 32-bit program' '
	printf "\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0%040d" 0 >old
	chmod 755 old
	gprof-run -q -o run -- ./old >out 2>err || :
	says "is a 32-bit program" err
'

it 'a set-uid program' '
	test "$(id -u)" = 0 || skip "needs root, to make one"
	cp /bin/true mine
	chown 65534 mine
	chmod 4755 mine
	gprof-run -q -o run -- ./mine 2>err
	says "is set-uid" err
'

it 'a program of musl, whose children are recorded' '
	need musl-gcc "no musl here (package musl-tools)"
	echo "int main(void) { return 5; }" >five.c
	musl-gcc -o five five.c
	exits 5 gprof-run -q -o run -- ./five 2>err
	says "uses musl" err
'

it 'and nothing of a program built with a sanitizer that must come first: it is recorded' '
	need cc
	echo "int main(void) { return 5; }" >five.c
	cc -fsanitize=address -shared-libasan -o five five.c 2>/dev/null || cc -fsanitize=address -o five five.c 2>/dev/null ||
		skip "no sanitizer here"
	exits 5 gprof-run -q -o run -- ./five 2>err
	is "gprof-run: the trace is" "$(cut -c 1-23 err)" "standard error"
	gprof-trace report -r processes --format csv run.gtrace | grep -q "five" || fail "it is not listed"
'

it 'a script of such a program' '
	need cc
	echo "int main(void) { return 5; }" >five.c
	cc -static -o five five.c 2>/dev/null || skip "no static libc here"
	printf "#!$PWD/five\n" >script
	printf "#!/usr/bin/env -S PATH=$PWD five\n" >script2
	chmod 755 script script2
	exits 5 gprof-run -q -o run -- ./script 2>err
	says "five'"'"' is a static program" err
	PATH=$PWD:$PATH exits 5 gprof-run -q -o run -f -- ./script2 2>err
	says "five'"'"' is a static program" err
'

it 'launchers: the order that works, and they run' '
	mkdir bin
	for name in srun mpirun mpiexec ssh docker podman apptainer singularity kubectl ray torchrun; do
		printf "#!/bin/sh\necho \$0 \"\$@\"\n" >bin/$name
		chmod 755 bin/$name
		gprof-run -q -o run -f -- bin/$name python train.py >out 2>err
		is "bin/$name python train.py" "$(cat out)"
		case $name in
		torchrun) never_says "gprof-run -- COMMAND" err ;;
		*) says "gprof-run -- COMMAND" err; is 1 "$(grep -c COMMAND err)" ;;
		esac
	done
	gprof-run -q -o run -f -- bin/srun x 2>err >out
	says "srun gprof-run -- COMMAND" err
'

it 'a program that took the place of one of ours, with a cleaned environment that stays so' '
	gprof-run -q -o run --restore-environment=false -- sh -c "sleep 0.2; exec env -i sleep 1" 2>err
	gprof-trace report -r health --format csv run.gtrace >health
	grep -q "not_injected,1,.*sleep (pid" health || fail "$(cat health)"
'

it 'also when it had recorded before' '
	need python3
	need "$GPROF_BUILD/test/programs/libnvtx_shim.so" "the NVTX shim is not built"
	cat >leaves.py <<-PY
		import ctypes, os
		nvtx = ctypes.CDLL("$GPROF_BUILD/test/programs/libnvtx_shim.so")
		nvtx.nvtx_mark(b"before")
		os.execve("/bin/sleep", ["sleep", "4"], {})
	PY
	gprof-run -q -o run --restore-environment=false -- python3 leaves.py 2>err
	gprof-trace report -r health --format csv run.gtrace >health
	grep -q "not_injected,1,.*sleep (pid" health || fail "$(cat health)"
	is 1 "$(gprof-trace dump run.gtrace | grep -c "^mark ")" "marks"
	gprof-trace report -r processes --format csv run.gtrace | grep python | grep -q execed || fail "$(gprof-trace report -r processes run.gtrace)"
'

it 'and says nothing of programs that change their name, or that are simply followed by another' '
	need python3
	gprof-run -q -o run -- python3 -c "
import ctypes, os, subprocess, time
ctypes.CDLL(None).prctl(15, b\"renamed\", 0, 0, 0)
subprocess.run([\"sh\", \"-c\", \"exec sh -c true\"])
time.sleep(2.5)
" 2>err
	gprof-trace report -r health --format csv run.gtrace >health
	never_says not_injected health
'
