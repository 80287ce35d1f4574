#!/bin/sh
# release.sh [ARCH]: `make release`.  Builds programs and injected object in $B-release/ARCH for every glibc from 2.28 on; all other
# libraries are linked statically.  ARCH: x86_64 (default) or aarch64.  release.sh ARCH FILE...: builds only these files, such as
# bin/gprof-run.  Exit status 77: the compiler or the static libzstd is not available; the last line says which.
# ZSTD=DIR: uses include/zstd.h and lib/libzstd.a of this folder instead of the distribution's.
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
zstd=${ZSTD:-$B-release/zstd-$arch}

targets=all
[ $# -eq 0 ] || targets=$(printf "$place/%s " "$@")
mkdir -p "$place" || exit 1
exec 8>"$place.lock"
! command -v flock >/dev/null || flock 8

cc=$(scripts/release-zig.sh "$arch-linux-gnu.2.28" 8>&-) || { status=$?; echo "release.sh: $cc"; exit $status; }

# The distribution's static library must not need a glibc newer than 2.28; release-glibc.sh checks this.
zstd_of_this_machine() {
	library=$(${HOST_CC:-cc} -print-file-name=libzstd.a) && [ -e "$library" ] || return 1
	headers=$(echo '#include <zstd.h>' | ${HOST_CC:-cc} -M -xc - 2>/dev/null | grep -oE '/[^ ]*/zstd\.h') || return 1
	mkdir -p "$zstd/include" "$zstd/lib" && cp "$library" "$zstd/lib/" && cp "$headers" "$zstd/include/"
}

if [ ! -e "$zstd/lib/libzstd.a" ]; then
	if [ "$arch" = "$(uname -m)" ]; then
		zstd_of_this_machine || { echo "release.sh: no static libzstd here (Debian: libzstd-dev, Fedora: libzstd-static)"; exit 77; }
	else
		why=$(scripts/release-foreign.sh "$arch" 8>&-) || { echo "release.sh: $why"; exit 77; }
	fi
fi
# -w: zig's clang is newer than the compilers of `make check`; its new warnings must not stop a release.  --no-gc-sections: lld would drop
# the section in which unit tests are registered.
case $targets in *unit*) ldflags=-Wl,--no-gc-sections ;; *) ldflags=-Wl,-s ;; esac
# shellcheck disable=SC2086
make -s -j"$JOBS" B="$place" CC="$cc" CFLAGS="-O2 -g0 -w -isystem $zstd/include" LDFLAGS="-L$zstd/lib $ldflags" \
	LIBZSTD=-lzstd $targets 8>&- || exit 1
[ "$targets" = all ] || exit 0
glibc=$(scripts/release-glibc.sh "$place/bin" && scripts/release-glibc.sh "$place/lib") || { status=$?; echo "$glibc"; exit $status; }
echo "release.sh: in $place, for glibc from $(printf '%s\n' "$glibc" | sed 's/ .*//' | sort -V | tail -n 1) on"
