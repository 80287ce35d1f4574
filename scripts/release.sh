#!/bin/sh
# release.sh [ARCH]: `make release`.  Builds programs and injected object in $B-release/ARCH for every glibc from 2.28 on; all other
# libraries are linked statically.  ARCH: x86_64 (default) or aarch64.  release.sh ARCH FILE...: builds only these files, such as
# bin/gprof-run.  Exit status 77: the compiler, or static libzstd or libz, is not available; the last line says which.
# LIBS=DIR: uses include/{zstd,zlib,zconf}.h and lib/{libzstd,libz}.a of this folder instead of the distribution's.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
JOBS=${JOBS:-2}
case $B in /*) ;; *) B=$PWD/$B ;; esac
export B
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS LDFLAGS
arch=${1:-x86_64}
[ $# -eq 0 ] || shift
place=$B-release/$arch
libs=${LIBS:-$B-release/libs-$arch}

targets=all
[ $# -eq 0 ] || targets=$(printf "$place/%s " "$@")
mkdir -p "$place" || exit 1
exec 8>"$place.lock"
! command -v flock >/dev/null || flock 8

cc=$(scripts/release-zig.sh "$arch-linux-gnu.2.28" 8>&-) || { status=$?; echo "release.sh: $cc"; exit $status; }

# The distribution's static libraries must not need a glibc newer than 2.28; release-glibc.sh checks this.
libs_of_this_machine() {
	mkdir -p "$libs/include" "$libs/lib" || return 1
	for name in zstd z; do
		library=$(${HOST_CC:-cc} -print-file-name=lib$name.a) && [ -e "$library" ] && cp "$library" "$libs/lib/" || return 1
	done
	headers=$(printf '#include <zstd.h>\n#include <zlib.h>\n' | ${HOST_CC:-cc} -M -xc - 2>/dev/null |
		grep -oE '/[^ ]*/(zstd|zlib|zconf)\.h') || return 1
	# shellcheck disable=SC2086
	cp $headers "$libs/include/"
}

if [ ! -e "$libs/include/zlib.h" ]; then
	if [ "$arch" = "$(uname -m)" ]; then
		libs_of_this_machine || { echo "release.sh: no static libzstd and libz here (Debian: libzstd-dev zlib1g-dev, Fedora: libzstd-static zlib-static)"; exit 77; }
	else
		why=$(scripts/release-foreign.sh "$arch" 8>&-) || { echo "release.sh: $why"; exit 77; }
	fi
fi
# -w: zig's clang is newer than the compilers of `make check`; its new warnings must not stop a release.  --no-gc-sections: lld would drop
# the section in which unit tests are registered.
case $targets in *unit*) ldflags=-Wl,--no-gc-sections ;; *) ldflags=-Wl,-s ;; esac
# shellcheck disable=SC2086
make -s -j"$JOBS" B="$place" CC="$cc" CFLAGS="-O2 -g0 -w -isystem $libs/include" LDFLAGS="-L$libs/lib $ldflags" \
	LIBZSTD=-lzstd LIBZ=-lz $targets 8>&- || exit 1
[ "$targets" = all ] || exit 0
glibc=$(scripts/release-glibc.sh "$place/bin" && scripts/release-glibc.sh "$place/lib") || { status=$?; echo "$glibc"; exit $status; }
echo "release.sh: in $place, for glibc from $(printf '%s\n' "$glibc" | sed 's/ .*//' | sort -V | tail -n 1) on"
