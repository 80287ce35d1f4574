# The release runs on every glibc from 2.28 on.  Its tarball needs no package, no root, no network, and no writable folder except TMPDIR.
# Tested in a chroot that contains only libc and the program.
. "$(dirname "$0")/lib.sh"

LIMIT=600
it 'the tarball can be made, and the same source gives the same bytes' '
	B=$GPROF_BUILD sh "$GPROF_TOP/scripts/dist.sh" >said 2>&1 || { status=$?; cat said; exit $status; }
	tarball=$(ls "$GPROF_BUILD"/gprof-run-*-linux-x86_64.tar.xz)
	cp "$tarball" first
	B=$GPROF_BUILD sh "$GPROF_TOP/scripts/dist.sh" >said 2>&1
	cmp first "$tarball"
'
LIMIT=300

it 'says what is missing where there is no zig, and does not ask again' '
	need python3
	PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 PIP_FIND_LINKS=$PWD/none
	PATH=/usr/bin:/bin
	export PIP_CONFIG_FILE PIP_NO_INDEX PIP_FIND_LINKS PATH
	! command -v zig || skip "zig is here"
	exits 77 env -u ZIG B="$PWD/b" sh "$GPROF_TOP/scripts/dist.sh" >said 2>&1
	grep -E "no zig here, and (pip cannot install ziglang: .*ziglang|python3 cannot make a virtual environment)" said
	rm -rf b-release/zig/venv
	exits 77 env -u ZIG B="$PWD/b" sh "$GPROF_TOP/scripts/dist.sh" >again 2>&1
	same said again
	[ ! -e b-release/zig/venv ] || fail "it was tried again"
	exits 77 env ZIG=/bin/false B="$PWD/c" sh "$GPROF_TOP/scripts/dist.sh" >said 2>&1
	says "this zig does not run: /bin/false" said
'

# Unpacked in ./gprof, or skipped.
unpacked='
	need xz
	for tarball in "$GPROF_BUILD"/gprof-run-*-linux-x86_64.tar.xz; do
		[ -e "$tarball" ] || skip "there is no tarball"
	done
	tar -xJf "$tarball"
	mv gprof-run-* gprof
	RELEASE=$PWD/gprof
'

it 'needs no symbol of a glibc later than 2.28, and no library but those of glibc' "$unpacked"'
	need readelf
	sh "$GPROF_TOP/scripts/release-glibc.sh" gprof >versions
	is 5 "$(wc -l <versions)" "binaries"
	for file in gprof/bin/* gprof/lib/gprof/*; do
		readelf -dW "$file" | sed -n "s/.*(NEEDED).*\[\(.*\)\]/\1/p"
	done >needed
	[ -s needed ]
	exits 1 grep -vE "^(libc|libdl|libpthread|libm|librt|ld-linux[a-z0-9-]*)\.so\.[0-9]+$" needed
	readelf -dW gprof/bin/* gprof/lib/gprof/* >dynamic
	exits 1 grep -E "R(UN)?PATH" dynamic
'

it 'the check of symbol versions notices one that is too new' '
	need cc
	need readelf
	mkdir new
	echo "#include <stdlib.h>
	int main(void) { return (int)arc4random(); }" >new.c
	cc -o new/program new.c 2>err || skip "this glibc is too old to have a symbol later than 2.28"
	exits 1 sh "$GPROF_TOP/scripts/release-glibc.sh" new >said
	says "more than 2.28" said
'

it 'exports what the object of the development build exports' "$unpacked"'
	need nm
	for object in gprof/lib/gprof/libgprof_inject.so "$GPROF_BUILD/lib/gprof/libgprof_inject.so"; do
		nm -D --defined-only "$object" | sed "s/.* //; s/@.*//" | LC_ALL=C sort >>exported
	done
	is "" "$(LC_ALL=C sort exported | uniq -c | grep -v "^ *2 ")" "names in one of the two alone"
'

it 'has its documents, its licence and that of what is inside it' "$unpacked"'
	for file in README LICENSE share/doc/gprof-run/README.md share/doc/gprof-run/docs/reference/limits.md share/man/man1/gprof-run.1; do
		[ -s "gprof/$file" ] || fail "no $file"
	done
	says "Redistributions in binary form" gprof/share/doc/gprof-run/LICENSE.zstd
	says "Jean-loup Gailly" gprof/share/doc/gprof-run/LICENSE.zlib
'

# jail: ./root holds libc, a shell, the tarball and test programs.  in_jail COMMAND: there as root of its own namespaces, all read-only
# but /scratch.
jail=$unpacked'
	copy() {
		for file; do
			mkdir -p "root$(dirname "$file")" && cp -L "$file" "root$file"
		done
	}
	libc=$(ldd /bin/sh | sed -n "s/.*=> \(.*libc\.so[^ ]*\) .*/\1/p")
	copy "$libc" "$(readelf -lW /bin/sh | sed -n "s/.*interpreter: \(.*\)\]/\1/p")" "$(readlink -f /bin/sh)"
	[ -e root/bin/sh ] || { mkdir -p root/bin && cp -L /bin/sh root/bin/sh; }
	for lib in libdl.so.2 libpthread.so.0 libm.so.6 librt.so.1; do copy "$(dirname "$libc")/$lib"; done
	cp -L "$(command -v sleep)" root/bin/sleep
	mkdir -p root/opt root/scratch root/proc root/dev "root/a place"
	mv gprof "root/a place/gprof"
	for program in nvtx_kinds driver_api ends; do
		[ ! -e "$GPROF_BUILD/test/programs/$program" ] || cp "$GPROF_BUILD/test/programs/$program" root/opt/
	done
	[ ! -e "$GPROF_BUILD/sim/libcuda.so.1" ] || cp "$GPROF_BUILD"/sim/lib*.so.* root/opt/
	: >root/dev/null
	cat >enter <<-"END"
	set -e
	mount --bind root root
	mount --bind root/scratch root/scratch
	case $MOUNTS in *proc*) mount -t proc proc root/proc ;; esac
	case $MOUNTS in *null*) mount --bind /dev/null root/dev/null ;; esac
	mount -o remount,ro,bind root
	if touch root/file 2>/dev/null; then exit 99; fi
	exec env -i PATH="/a place/gprof/bin:/bin" TMPDIR=/scratch "$(command -v chroot)" ${AS:+--userspec="$AS"} root /bin/sh -euc "$1"
	END
	if [ "$(id -u)" -eq 0 ]; then
		space="unshare -m -p -f --kill-child"
	else
		space="unshare -r -m -p -f --kill-child"
	fi
	$space true 2>why || skip "namespaces may not be made here: $(cat why)"
	MOUNTS="proc null"
	export MOUNTS
	in_jail() { $space sh enter "$1"; }
	in_jail true >why 2>&1 || skip "nothing may be mounted here: $(tail -n 1 why)"
	T="root/a place/gprof/bin/gprof-trace"
'

it 'records NVTX with a read-only root, no home, no /dev/shm and TMPDIR alone to write to' "$jail"'
	need "$PWD/root/opt/nvtx_kinds" "NVTX programs are not built"
	in_jail "gprof-run -o /scratch/run -- /opt/nvtx_kinds; gprof-trace check /scratch/run.gtrace" >said 2>err
	says "NVTX ranges" err
	sed -n "s/^range //p" said | sort >expected
	"$T" report -r nvtx_pushpop_sum --format csv root/scratch/run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" | sort >actual
	[ -s expected ]
	same expected actual
	is run.gtrace "$(ls -A root/scratch)" "what is left in TMPDIR"
'

it 'records CUDA there too' "$jail"'
	need "$PWD/root/opt/libcupti.so.13" "the simulated CUDA stack is not built (make sim)"
	in_jail "export LD_LIBRARY_PATH=/opt; gprof-run -q -o /scratch/run -- /opt/driver_api 100" >said 2>err
	"$T" report -r cuda_gpu_kern_sum --format csv root/scratch/run.gtrace >kernels
	is 100 "$(awk -F, "NR > 1 { n += \$3 } END { print n }" kernels)" "kernels"
'

it 'writes the trace to TMPDIR and says so where it may not be written' "$jail"'
	in_jail "cd /opt; gprof-run -- /bin/sh -c \"echo hello\"; cd /scratch; gprof-trace check *.gtrace" >said 2>err
	says hello said
	says /scratch/ err
'

it 'is the first process of a container: the trace is whole, and nothing is left behind' "$jail"'
	exits 3 in_jail "exec gprof-run -o /scratch/run -- /bin/sh -c \"echo \\\$PPID; exit 3\"" >said 2>err
	is 1 "$(cat said)" "process id of gprof-run"
	"$T" check root/scratch/run.gtrace
	is run.gtrace "$(ls -A root/scratch)" "what is left in TMPDIR"
'

it 'as the first process of a container finishes the trace of what the program left running, too' "$jail"'
	exits 3 in_jail "exec gprof-run -o /scratch/run -- /bin/sh -c \"for i in 1 2 3; do sleep 100 & done; exit 3\"" >said 2>err
	"$T" check root/scratch/run.gtrace
	is run.gtrace "$(ls -A root/scratch)" "what is left in TMPDIR"
'

it 'passes the signal that stops a container on to the program' "$jail"'
	exits 9 in_jail "exec gprof-run -q -o /scratch/run -- /bin/sh -c \"trap \\\"exit 9\\\" TERM; (kill -TERM 1); while :; do sleep 1; done\"" >said 2>err
	"$T" check root/scratch/run.gtrace
'

it 'runs as a user without a name, whom nothing belongs to' "$jail"'
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	chmod 1777 root/scratch
	chmod 755 . ..
	AS=54321:54321
	export AS
	need "$PWD/root/opt/nvtx_kinds" "NVTX programs are not built"
	in_jail "gprof-run -o /scratch/run -- /opt/nvtx_kinds" >said 2>err
	is 54321 "$(stat -c %u root/scratch/run.gtrace)" "owner of the trace"
	says "NVTX ranges" err
'

for mounts in proc null none; do
	case $mounts in
	proc) without='/dev/null' ;;
	null) without='/proc' ;;
	none) without='/dev/null and /proc' ;;
	esac
	it "records, and runs the program as it would without us, where there is no $without" "$jail"'
		MOUNTS='$mounts'
		[ "$MOUNTS" = null ] || rm root/dev/null
		exits 3 in_jail "gprof-run -o /scratch/run -- /bin/sh -c \"echo hello; exit 3\"" >said 2>err
		is hello "$(cat said)"
		is "" "$(ls -A root/scratch | grep -v "^run.gtrace$")" "what is left in TMPDIR"
		"$T" check root/scratch/run.gtrace
		[ -e root/opt/nvtx_kinds ] || exit 0
		in_jail "gprof-run -q -f -o /scratch/run -- /opt/nvtx_kinds" >said 2>err
		sed -n "s/^range //p" said | sort >expected
		"$T" report -r nvtx_pushpop_sum --format csv root/scratch/run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" | sort >actual
		same expected actual
	'
done
