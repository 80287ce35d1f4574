#!/bin/sh
# release-check.sh ARCH: inject/ and trace/ built for that machine, and their unit tests run under qemu-user.  Exit 77: not to be had.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
export B
arch=$1

why=$(scripts/release-foreign.sh "$arch") || { status=$?; echo "release-check.sh: $why"; exit $status; }
scripts/release.sh "$arch" lib/gprof/libgprof_inject.so test/unit-inject test/unit-trace || exit
for floor in inject trace; do
	"$B-release/run-$arch" "$B-release/$arch/test/unit-$floor" || bad=1
done
[ ! "${bad-}" ]
