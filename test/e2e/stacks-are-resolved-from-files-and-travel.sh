#!/bin/sh
# `gprof-trace resolve` on programs that were compiled, stripped and moved in different ways; compared with addr2line and nm.
. "$(dirname "$0")/lib.sh"

PROGRAM='need cc "needs a C compiler"
write="$GPROF_BUILD/test/programs/whereabouts_trace"
need "$write" "test programs are not built (make programs)"
sources=$GPROF_TOP/test/programs/symbols
# program FLAGS...: ./program, built here so that its lines are known
program() { cc -O2 -g -Wl,--build-id=sha1 "$@" -o program "$sources/whereabouts.c" -ldl; }
library() { c++ -O2 -g -fPIC -shared -Wl,--build-id=sha1 "$@" -o library.so "$sources/library.cc"; }
record() { "$@" >said && "$write" run.gtrace <said; }
resolve() { gprof-trace resolve "$@" run.gtrace >summary; }
# function:line of each symbol, innermost first, lines only where there are any
symbols() {
	gprof-trace dump -k symbol run.gtrace |
		sed "s/.* name=\"\([^\"]*\)\" file=\"\([^\"]*\)\" line=\([0-9]*\) depth=\([0-9]*\).*/\4 \1 \3/; s/ 0$//" >symbols
}
has_libdw() { ldconfig -p 2>/dev/null | grep -q libdw.so.1; }
line_of() { grep -n "$1" "$sources/whereabouts.c" | tail -n 1 | cut -d: -f1; }
the_chain() {   # with lines, where those can be read
	if has_libdw; then
		says "2 innermost $(($(line_of "void innermost(void)") + 2))" symbols
		says "1 between $(($(line_of "void between(void)") + 2))" symbols
		says "0 outermost $(($(line_of "void outermost(void)") + 2))" symbols
	else
		says "0 outermost" symbols
	fi
}
id_of() { readelf -n "$1" | sed -n "s/.*Build ID: //p"; }
'

it 'functions, inlined ones and lines of a program that can be loaded anywhere, and of one that cannot' "$PROGRAM"'
	for how in "-fPIE -pie" "-fno-pie -no-pie"; do
		# shellcheck disable=SC2086
		program $how
		record ./program
		resolve
		symbols
		the_chain
		gprof-trace check run.gtrace >checked
		says "complete" checked
	done
'

it 'lines and inlined functions are those of addr2line' "$PROGRAM"'
	need addr2line
	has_libdw || skip "needs libdw.so.1"
	program -fPIE -pie
	record ./program
	resolve
	base=$(sed -n "s/^image \([0-9a-f]*\) .*/\1/p" said | head -n 1)
	at=$(sed -n "s/^native //p" said | head -n 1)
	addr2line -i -f -e program "$(printf 0x%x $((0x$at - 0x$base)))" | sed "s/ (discriminator.*//" | paste -d" " - - >want
	gprof-trace dump -k symbol run.gtrace | head -n 3 |
		sed "s/.* name=\"\([^\"]*\)\" file=\"\([^\"]*\)\" line=\([0-9]*\) .*/\1 \2:\3/" >got
	is 3 "$(wc -l <want)"
	same want got
'

it 'a library that was opened late, its C++ names, and the code of the kernel' "$PROGRAM"'
	need c++ "needs a C++ compiler"
	library
	program
	record ./program "$PWD/library.so"
	resolve
	symbols
	says "0 deep::hidden(int)" symbols
	! grep -q "linux-vdso" said || ! grep -q "vdso.*-" said || says "clock_gettime" symbols
'

it 'symbols in a file of their own are found by the debug link, also in .debug' "$PROGRAM"'
	need objcopy
	for place in . .debug; do
		program
		mkdir -p $place
		objcopy --only-keep-debug program $place/program.debug
		(cd $place && objcopy --strip-all --add-gnu-debuglink=program.debug "$OLDPWD/program")
		! nm program 2>/dev/null | grep outermost || fail "it is not stripped"
		record ./program
		resolve
		symbols
		the_chain
		rm $place/program.debug
	done
'

it 'a debug link to symbols of another build is not followed' "$PROGRAM"'
	need objcopy
	program -DOTHER -O0
	objcopy --only-keep-debug program program.debug
	program
	objcopy --strip-all --add-gnu-debuglink=program.debug program
	record ./program
	resolve
	symbols
	never_says "outermost" symbols
'

it 'a trace is resolved on another machine from a folder that stands for its root, by build ids' "$PROGRAM"'
	need objcopy
	need readelf
	program
	id=$(id_of program)
	place=away/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)
	mkdir -p "$place" flat/.build-id/"$(echo "$id" | cut -c1-2)" whole"$PWD"
	objcopy --only-keep-debug program "$place/$(echo "$id" | cut -c3-).debug"
	cp "$place"/*.debug flat/.build-id/"$(echo "$id" | cut -c1-2)/"
	cp program whole"$PWD/"
	strip program
	record ./program
	cp run.gtrace as-recorded.gtrace
	for root in away flat whole; do
		cp as-recorded.gtrace run.gtrace
		{ echo host elsewhere; cat said; } | "$write" run.gtrace
		resolve
		symbols
		never_says "outermost" symbols
		resolve --symfs $root
		symbols
		the_chain
	done
	# And what is in the trace needs no files any more.
	rm -r program away flat whole
	symbols
	the_chain
'

it 'a file that was replaced since is not believed' "$PROGRAM"'
	program
	record ./program
	program -DOTHER -O0
	resolve
	symbols
	never_says "outermost" symbols
	# Nor one without a build id that is younger than the trace.
	cc -O2 -g -Wl,--build-id=none -o program "$sources/whereabouts.c" -ldl
	record ./program
	touch -d "1 hour" program
	resolve
	symbols
	never_says "outermost" symbols
	touch -d "1 hour ago" program
	resolve
	symbols
	says "outermost" symbols
'

it 'resolving again adds nothing, and more where there is more now' "$PROGRAM"'
	need objcopy
	program
	objcopy --only-keep-debug program away.debug
	strip -g program
	record ./program
	resolve
	symbols
	says "0 outermost" symbols
	before=$(wc -c <run.gtrace)
	resolve
	is "$before" "$(wc -c <run.gtrace)" size
	objcopy --add-gnu-debuglink=away.debug program linked
	mkdir -p root"$PWD"
	cp linked root"$PWD/program"
	cp away.debug root"$PWD/"
	resolve --symfs root
	symbols
	the_chain
	gprof-trace check run.gtrace
	gprof-trace recover run.gtrace
	gprof-trace check run.gtrace
'

it 'Rust names are readable' "$PROGRAM"'
	need rustc "needs rustc"
	cat >lib.rs <<-END
	mod deep { pub struct Box2<T>(pub T); impl<T: Copy> Box2<T> { #[inline(never)] pub fn here(&self) -> u64 { std::hint::black_box(super::at()) } } }
	extern "C" { fn return_address() -> u64; }
	fn at() -> u64 { std::hint::black_box(unsafe { return_address() }) }
	#[no_mangle] pub extern "C" fn say_where() -> u64 { let v = deep::Box2(3u8).here(); std::hint::black_box(v) }
	END
	echo "unsigned long return_address(void) { return (unsigned long)__builtin_return_address(0) - 1; }" >ra.c
	cc -O2 -fPIC -c ra.c && ar rcs libra.a ra.o
	rustc --crate-type cdylib -O -g -L . -l static=ra lib.rs -o library.so >log 2>&1 || skip "rustc builds no library here"
	program
	record ./program "$PWD/library.so"
	resolve
	symbols
	grep -E "lib::deep::Box2<.*>::here" symbols || fail "$(cat symbols)"
'

it 'Python sources are in the trace, but not those that were changed after it' "$PROGRAM"'
	printf "import os\ndef f():\n    return 1\n" >train.py
	printf "import os\n" >later.py
	touch -d "1 hour" later.py
	printf "%s\n" "python f 2 $PWD/train.py" "python g 1 $PWD/later.py" "python h 1 <string>" "python i 1 /no/such.py" >said
	"$write" run.gtrace <said
	resolve
	says "1 source files" summary
	gprof-trace dump -k source run.gtrace >got
	is 1 "$(wc -l <got)"
	says "$PWD/train.py" got
	says "def f():" got
	resolve
	says "nothing to resolve" summary
	"$write" run.gtrace <said
	resolve --no-sources
	gprof-trace dump -k source run.gtrace >got
	is 0 "$(wc -l <got)"
'

# taken FILE...: the sources that resolve puts into a trace whose stacks name these files.
TAKEN='
taken() {
	for file in "$@"; do echo "python f 1 $file"; done >names
	cat given names 2>/dev/null | "$write" run.gtrace
	# shellcheck disable=SC2086
	resolve ${OPTIONS-}
	gprof-trace dump -k source run.gtrace | sed "s/.* name=\"\([^\"]*\)\".*/\1/" | sort >got
	cat got
}
'

it 'only what looks like Python, and is this user'"'"'s own or root'"'"'s, is read' "$PROGRAM$TAKEN"'
	mkdir .ssh
	echo TOPSECRET | tee .ssh/id_rsa .ssh/.py plain.txt x.py.bak >real.py
	ln -s real.py link.py
	ln -s .ssh/id_rsa key.py
	mkfifo pipe.py
	mkdir folder.py
	printf "#!/usr/bin/env python3\nTOPSECRET\n" >script
	printf "#!/bin/sh\nTOPSECRET\n" >script.sh
	cp real.py cython.pyx
	here=$PWD
	is "$here/cython.pyx $here/real.py $here/script" "$(echo $(taken "$here/.ssh/id_rsa" "$here/.ssh/.py" "$here/plain.txt" "$here/x.py.bak" \
		"$here/real.py" "$here/link.py" "$here/key.py" "$here/pipe.py" "$here/folder.py" "$here/script" "$here/script.sh" "$here/cython.pyx" /etc/passwd))"
	gprof-trace info run.gtrace >out
	says "Source Files in the Trace" out
	grep -E "$here/real.py +10" out
	gprof-trace report run.gtrace >out
	says "the text of 3 Python files is in the trace" out
	[ "$(id -u)" = 0 ] || exit 0
	chown 12345 real.py
	is "" "$(taken "$here/real.py")" "sources of another user"
'

it 'a trace of another machine, or of before this one was started, gets no sources' "$PROGRAM$TAKEN"'
	echo "pass" >train.py
	is "$PWD/train.py" "$(taken "$PWD/train.py")"
	for given in "host elsewhere" boot; do
		echo "$given" >given
		is "" "$(taken "$PWD/train.py")" "sources of a trace with: $given"
		OPTIONS=--symfs=/
		is "$PWD/train.py" "$(taken "$PWD/train.py")" "sources with --symfs, of a trace with: $given"
		OPTIONS=
	done
'

it 'sources of the standard library and of packages are left out, unless all are asked for' "$PROGRAM$TAKEN"'
	mkdir -p lib/python3.12 venv/site-packages/p
	echo "import os" | tee train.py lib/python3.12/os.py >venv/site-packages/p/x.py
	files="$PWD/lib/python3.12/os.py $PWD/train.py $PWD/venv/site-packages/p/x.py"
	is "$PWD/train.py" "$(taken $files)"
	OPTIONS=--sources=none
	is "" "$(taken $files)"
	OPTIONS=--sources=all
	is "$files" "$(echo $(taken $files))"
	exits 2 gprof-trace resolve --sources=some run.gtrace
'

it 'gprof-run --sources says which are embedded when the session ends' "$PROGRAM"'
	python=$(python3 -c "import sys; print(sys.executable)") || skip "needs python3"
	cat >train.py <<-END
		import colorsys, time
		begin = time.process_time()
		while time.process_time() - begin < 0.4:
		    [colorsys.rgb_to_hsv(i, 0.2, 0.7) for i in range(1000)]
	END
	for which in own all none; do
		exits 0 gprof-run -f -o run -s cpu --sources=$which -- "$python" train.py 2>page
		gprof-trace dump -k source run.gtrace >got
		case $which in
		none) is 0 "$(wc -l <got)" "sources"; never_says "Python file" page ;;
		own)  is 1 "$(wc -l <got)" "sources"; says train.py got; says "the text of 1 Python file is in the trace" page ;;
		all)  says colorsys.py got ;;
		esac
		gprof-trace report -r lines run.gtrace >$which
	done
	grep -E "train.py +[0-9]+ .*\[colorsys.rgb_to_hsv" own || fail "a line without its text: $(cat own)"
	grep -E "train.py +[0-9]+ .* -$" none || fail "a line with a text that is not there: $(cat none)"
	says "the trace has no source text" none
'

it 'wrong words are refused, and files that are no traces' "$PROGRAM"'
	exits 2 gprof-trace resolve
	exits 2 gprof-trace resolve --symfs /no/such/folder x.gtrace 2>err
	says "no folder" err
	echo text >x.gtrace
	exits 1 gprof-trace resolve x.gtrace 2>err
	is text "$(cat x.gtrace)"
	exits 1 gprof-trace resolve missing.gtrace 2>err
	says "missing.gtrace" err
'

it 'the collector resolves a trace with stacks when its session ends, unless told not to' "$PROGRAM"'
	PATH=$GPROF_BUILD/test/programs:$PATH
	fake_run -- fake_guest roster=c hello thread stack clean >said
	says closed said
	symbols
	says plainly symbols            # of test/programs/wire/fake_guest.c: it calls what takes the address
	gprof-trace check run.gtrace
	[ ! -e run.gtrace.log ] || fail "there is a log: $(cat run.gtrace.log)"
	rm run.gtrace
	fake_run -s resolve_symbols=0 -- fake_guest roster=c hello thread stack clean >said
	symbols
	[ ! -s symbols ] || fail "it was resolved: $(cat symbols)"
'

# many: ./run.gtrace, a trace of hundreds of functions that have lines, and ./before, all that is recorded in it.
MANY=$PROGRAM'
need nm
need readelf
recorded() { gprof-trace dump "$1" 2>dumped | grep -v "^symbol \|^source \|^string "; }
many() {
	{
		for i in $(seq 400); do echo "int function_number_$i(int a) { return a * $i; }"; done
		echo "int main(void) { return 0; }"
	} >many.c
	cc -g -Wl,--build-id=sha1 -no-pie -o many many.c
	{
		echo "image 0 400000 900000 $(id_of many) $PWD/many"
		nm many | sed -n "s/^0*\([0-9a-f]*\) T function_number.*/native \1/p"
	} >said
	"$write" run.gtrace <said
	recorded run.gtrace >before
	cp run.gtrace as-recorded
}
'

it 'a resolve that is killed at any moment costs nothing that was recorded' "$MANY"'
	many
	cat >kill.c <<-END
	#include <dlfcn.h>
	#include <signal.h>
	#include <stdlib.h>
	#include <unistd.h>
	ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
	{
		static int calls;
		ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
		int last = ++calls == atoi(getenv("KILL_AT"));
		ssize_t got = next(fd, p, last ? n / 2 : n, at);
		if (last)
			raise(SIGKILL);
		return got;
	}
	ssize_t pwrite64(int fd, const void *p, size_t n, off_t at) { return pwrite(fd, p, n, at); }
	END
	cc -D_GNU_SOURCE -shared -fPIC -o kill.so kill.c -ldl
	resolve
	symbols
	says "0 function_number_400" symbols
	mv symbols want
	killed=0
	for at in $(seq 40); do
		cp as-recorded run.gtrace
		status=0
		KILL_AT=$at LD_PRELOAD=$PWD/kill.so gprof-trace resolve run.gtrace >summary 2>&1 || status=$?
		[ "$status" -eq 137 ] || break
		killed=$((killed + 1))
		recorded run.gtrace >after
		same before after
		gprof-trace recover run.gtrace >summary 2>&1
		recorded run.gtrace >after
		same before after
		resolve
		symbols
		same want symbols
	done
	is 0 "$status"
	[ "$killed" -ge 3 ] || fail "it was killed $killed times"
'

it 'a trace that may not grow, or whose disk is full, stays as it was' "$MANY"'
	many
	(
		ulimit -f $(($(wc -c <run.gtrace) / 512 + 1))
		exits 1 gprof-trace resolve run.gtrace 2>err
	)
	says "cannot write the trace: File too large" err
	cmp as-recorded run.gtrace
	resolve
	says "new: 400 addresses" summary
	need unshare
	unshare -m true 2>/dev/null || skip "no file system may be mounted here"
	mkdir disk
	unshare -m sh -euc "
		mount -t tmpfs -o size=64k none disk || exit 77
		cp as-recorded disk/run.gtrace
		head -c 1000000 /dev/zero >disk/rest 2>/dev/null || :
		gprof-trace resolve disk/run.gtrace 2>err && exit 1
		cmp as-recorded disk/run.gtrace
	"
	says "No space left" err
'
