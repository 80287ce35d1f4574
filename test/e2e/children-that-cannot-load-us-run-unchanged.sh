#!/bin/sh
# A child that cannot load the injected object runs unchanged, without a message of its loader.  A child that can load it is recorded.
. "$(dirname "$0")/lib.sh"

children='
	need cc
	need "$GPROF_BUILD/test/programs/execs" "programs of gprof-run are not built"
	EXECS=$GPROF_BUILD/test/programs/execs
	PATH=$PWD:$PATH
	OBJECT=$GPROF_BUILD/lib/gprof/libgprof_inject.so
	cat >child.c <<-C
		#include <stdio.h>
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			printf("child %d\n", argc);
			fflush(stdout);
			if (argc > 1 && system(argv[1]))
				return 8;
			return 7;
		}
	C
	# alike PROGRAM: run by a shell, and in each way that there is, with and without us: exit status, output and messages are the same.
	alike() {
		for how in execve fexecve vfork spawn spawnp; do
			exits 7 "$EXECS" $how "$PWD/$1" >want.out 2>want.err
			exits 7 gprof-run -q -f -o t -- "$EXECS" $how "$PWD/$1" >got.out 2>got.err
			same want.out got.out
			grep -v "^gprof-run: the trace is" got.err >got.own || :
			same want.err got.own
		done
		exits 7 gprof-run -q -f -o t -- env "$1" >got.out 2>got.err     # execvp
		same want.out got.out
		exits 7 gprof-run -q -f -o t -- sh -c "./$1; exit \$?" >got.out 2>got.err
		same want.out got.out
		is "gprof-run: the trace is" "$(cut -c 1-23 got.err)" "standard error"
		# What it starts inherits what it would.
		./"$1" env 2>&1 | grep -v "^_=\|^PWD\|^OLDPWD\|^SHLVL" | sort >want.env || :
		gprof-run -q -f -o t -- sh -c "./$1 env; exit 0" 2>got.err | grep -v "^_=\|^PWD\|^OLDPWD\|^SHLVL" | sort >got.env
		grep -v "^LD_PRELOAD=$OBJECT\$\|^CUDA_INJECTION64_PATH=$OBJECT\$\|^NVTX_INJECTION64_PATH=$OBJECT\$\|^GPROF_SESSION=/" got.env >got.rest
		same want.env got.rest
		is 4 "$(($(wc -l <got.env) - $(wc -l <got.rest)))" "variables of ours"
	}
	processes() { gprof-trace report -r processes --format csv t.gtrace; }
'

it 'AddressSanitizer: its library stays first, for it alone, and it is recorded' "$children"'
	cc -fsanitize=address -shared-libasan -o asan child.c 2>/dev/null || cc -fsanitize=address -o asan child.c 2>/dev/null || skip "no sanitizer here"
	readelf -d asan | grep -q "libasan\|libclang_rt" || skip "the sanitizer is linked statically"
	alike asan
	processes >list
	grep -q ",.*asan" list || fail "not recorded: $(cat list)"
	grep -q "env" list || fail "its child is not recorded: $(cat list)"
	LD_PRELOAD=$(readlink -f /lib/*/libm.so.6 | head -n 1) gprof-run -q -f -o t -- sh -c "./asan env" >got.env 2>err || :
	never_says libasan got.env
	says libm got.env
	never_says "come first" err
'

it 'ThreadSanitizer' "$children"'
	cc -fsanitize=thread -o tsan child.c 2>/dev/null || skip "no sanitizer here"
	./tsan >/dev/null 2>&1 || [ $? = 7 ] || skip "it does not run here"
	alike tsan
'

it 'a static program: what it starts is recorded' "$children"'
	cc -static -o fixed child.c 2>/dev/null || skip "no static libc here"
	alike fixed
	processes | grep -q "env" || fail "its child is not recorded: $(processes)"
'

it 'a program of musl: what it starts is recorded' "$children"'
	need musl-gcc "no musl here (package musl-tools)"
	musl-gcc -o musl child.c
	alike musl
	processes | grep -q "env" || fail "its child is not recorded: $(processes)"
'

it 'a chroot without our object: not recorded, and the trace says so' "$children"'
	test "$(id -u)" = 0 || skip "needs root"
	mkdir -p jail
	cc -o child child.c
	cp child jail/
	ldd child | grep -o "/[^ ]*" | while read -r lib; do mkdir -p "jail$(dirname "$lib")"; cp "$lib" "jail$lib"; done
	chroot jail /child >want.out 2>want.err || [ $? = 7 ] || skip "a chroot cannot be made here"
	exits 7 gprof-run -q -o t -- sh -c "chroot jail /child" >got.out 2>got.err
	same want.out got.out
	is "gprof-run: the trace is" "$(cut -c 1-23 got.err)" "standard error"
	gprof-trace report -r health --format csv t.gtrace >health
	grep -q "not_loaded,1,.*child: libgprof_inject.so cannot be read there" health || fail "$(cat health)"
'

it 'a child of a program in such a chroot is named in health if it runs longer than all recorded processes' '
	test "$(id -u)" = 0 || skip "needs root"
	need cc
	printf "%s\n" "#include <unistd.h>" "int main(int c, char **v) {" "if (c > 1) return usleep(500000);" \
		"if (fork() == 0) return execl(\"/left\", \"left\", \"x\", (char *)0);" "return usleep(100000); }" >parent.c
	mkdir jail
	cc -o jail/parent parent.c
	cp jail/parent jail/left
	ldd jail/parent | grep -o "/[^ ]*" | while read -r lib; do mkdir -p "jail$(dirname "$lib")"; cp "$lib" "jail$lib"; done
	chroot jail /parent || skip "a chroot cannot be made here"
	gprof-run -q -o t -- sh -c "chroot jail /parent" 2>err
	# gprof-run ends with its program, the trace with the last process.
	named() { gprof-trace report -r health --format csv t.gtrace | grep "not_injected,1,.*left (pid "; }
	within 20 named
'
