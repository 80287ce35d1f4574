# The injected object is loaded into arbitrary programs: each library it needs is loaded there, and programs may bind to each symbol it
# exports.
. "$(dirname "$0")/lib.sh"

OBJECT=$GPROF_BUILD/lib/gprof/libgprof_inject.so
export OBJECT

it 'needs no library but those of glibc' '
	need readelf
	readelf -dW "$OBJECT" | sed -n "s/.*(NEEDED).*\[\(.*\)\]/\1/p" >needed
	[ -s needed ]
	exits 1 grep -vE "^(libc|libdl|libpthread|libm|librt|ld-linux[a-z0-9-]*)\.so\.[0-9]+$" needed
'

it 'exports its documented entry points and nothing else' '
	need nm
	nm -D --defined-only "$OBJECT" | sed "s/.* //; s/@.*//" | LC_ALL=C sort >exported
	grep -v "^#" "$GPROF_TOP/inject/process/exports.txt" | sed "s/[[:space:]].*//; /^$/d" | LC_ALL=C sort >documented
	same documented exported
'

it 'was built without one of the headers of NVIDIA' '
	cat "$GPROF_BUILD"/pic/inject/*/*.d | tr " " "\n" >dependencies
	grep -v "inject/" dependencies >others
	exits 1 grep -E "cuda|cupti[a-z_]*\.h|nvtx[0-9]|nvToolsExt" others
'

it 'asks for no executable stack, no text relocations and little thread-local memory' '
	need readelf
	readelf -lW "$OBJECT" >segments
	grep GNU_STACK segments >stack
	is "RW" "$(awk "{ print \$7 }" stack)" "the rights of the stack"
	readelf -dW "$OBJECT" >dynamic
	never_says TEXTREL dynamic
	# A dlopened object gets initial-exec TLS only from the spare room of the loader: some 1.6 KiB for all such objects together.
	tls=$(awk "\$1 == \"TLS\" { print \$6 }" segments)
	[ "$((${tls:-0}))" -le 128 ] || fail "thread-local memory is $tls bytes"
'

it 'can be loaded into a program that knows nothing of us, and changes nothing' '
	LD_PRELOAD=$OBJECT /bin/echo hello >out 2>err
	is hello "$(cat out)"
	is "" "$(cat err)"
'
