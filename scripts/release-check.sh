#!/bin/sh
# release-check.sh ARCH: builds inject/ and trace/ for ARCH and runs their unit tests under qemu-user.  Exit status 77: tools are missing.
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
