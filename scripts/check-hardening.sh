#!/bin/sh
# Programs that read untrusted files are built with hardening: position independent (PIE), full RELRO, no executable stack, stack protector,
# FORTIFY_SOURCE.  check-hardening.sh [FOLDER]: checks another build folder.
B=${1:-${B:-build}}
command -v readelf >/dev/null || { echo "no readelf here"; exit 77; }
bad=
for program in bin/gprof-run bin/gprof-trace bin/gprof-ctl lib/gprof/gprof-collector; do
	[ -x "$B/$program" ] || { echo "$B/$program is not built"; exit 77; }
	told=$(LC_ALL=C readelf -hldW "$B/$program") || exit 1
	names=$(LC_ALL=C readelf --dyn-syms -W "$B/$program")
	case $names in *__asan_init*) echo "$B is a sanitized build"; exit 77 ;; esac
	# has WHAT PATTERN TEXT
	has() { printf '%s\n' "$3" | grep -qE "$2" || { echo "$program: $1"; bad=1; }; }
	has 'stands at a fixed address (-pie)' 'Flags:.* PIE' "$told"
	has 'has relocations that are writable (-z relro)' 'GNU_RELRO' "$told"
	has 'looks symbols up late (-z now)' 'Flags:.*NOW' "$told"
	has 'has a stack that can be executed' 'GNU_STACK.* RW +0x' "$told"
	has 'has no guarded stacks (-fstack-protector-strong)' '__stack_chk_fail' "$names"
	# Not any __*_chk: libzstd, which is linked statically, has some.
	has 'has no checked functions (_FORTIFY_SOURCE)' '__(snprintf|vsnprintf|memcpy)_chk@' "$names"
done
[ -z "$bad" ]
