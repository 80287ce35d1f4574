#!/bin/sh
# release.sh [ARCH]: `make release`.  Programs and injected object in $B-release/ARCH that run on every glibc from 2.28 on, with all
# other libraries inside.  ARCH: x86_64 (default) or aarch64.  release.sh ARCH FILE...: only these, bin/gprof-run for instance.
# Exit 77: the compiler or the static zstd is not to be had; the last line says which.
# ZSTD=DIR: a folder with include/zstd.h and lib/libzstd.a for that machine, in place of the distribution's.
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

# Debian's static library needs nothing of glibc that 2.28 has not; release-glibc.sh would say so.
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
# This clang is newer than those of the checks: what it warns about does not end a release.  The unit tests are found by the bounds
# of a section, which lld would drop.
case $targets in *unit*) ldflags=-Wl,--no-gc-sections ;; *) ldflags=-Wl,-s ;; esac
# shellcheck disable=SC2086
make -s -j"$JOBS" B="$place" CC="$cc" CFLAGS="-O2 -g0 -w -isystem $zstd/include" LDFLAGS="-L$zstd/lib $ldflags" \
	LIBZSTD=-lzstd START= $targets 8>&- || exit 1
[ "$targets" = all ] || exit 0
glibc=$(scripts/release-glibc.sh "$place/bin" && scripts/release-glibc.sh "$place/lib") || { status=$?; echo "$glibc"; exit $status; }
echo "release.sh: in $place, for glibc from $(printf '%s\n' "$glibc" | sed 's/ .*//' | sort -V | tail -n 1) on"
