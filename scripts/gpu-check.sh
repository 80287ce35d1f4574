#!/bin/bash
# Tests gprof-run on a real GPU (docs/howto/check-a-gpu.md).  Needs bash, coreutils, python3, and a kit that was built before:
#
#	scripts/gpu-check.sh --build            on a machine with the CUDA toolkit (no GPU needed): builds the kit in $B/kit
#	GPROF_BUILD=build/kit scripts/gpu-check.sh --out DIR
#	                                        on the machine with the GPU; each step has a time limit; DIR always has the results so far
#	scripts/gpu-check.sh --list             lists the steps; names of steps as arguments run only these
#	scripts/gpu-check.sh --sim --quick      on the simulated GPU: tests only this script
#	scripts/gpu-check.sh --help             the other options
set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
B=${B:-build}
case $B in /*) ;; *) B=$top/$B ;; esac
arguments=$*
say() { printf 'gpu-check: %s\n' "$*" >&2; }
has() { case " $arguments " in *" $1 "*) ;; *) return 1 ;; esac; }
# B is relative to $top if possible: make would rebuild everything for another spelling of the folder.
build() { folder=$1 && shift && make -C "$top" --no-print-directory -j"${JOBS:-2}" B="${folder#"$top/"}" "$@" >&2; }

if has --build; then
	command -v nvcc >/dev/null || PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
	command -v nvcc >/dev/null || { say "no nvcc here; --build needs the CUDA toolkit (CUDA_HOME names it)"; exit 1; }
	build "$B" gpu-kit
	exit
fi
command -v python3 >/dev/null || { say "no python3 here"; exit 1; }
if has --sim; then
	GPROF_BUILD=${GPROF_BUILD:-$B}
	case $GPROF_BUILD in /*) ;; *) GPROF_BUILD=$PWD/$GPROF_BUILD ;; esac
	[ -x "$GPROF_BUILD/gpu/counts-shared" ] || build "$GPROF_BUILD" -s all sim programs gpu-programs
	[ -e "$GPROF_BUILD/sim/libcuda.so.1" ] || { say "no simulated stack in $GPROF_BUILD (CUDA's headers are needed)"; exit 1; }
elif [ -z "${GPROF_BUILD-}" ]; then
	GPROF_BUILD=$B/kit
	has --list || has --help || has --join || has --diff || [ -x "$GPROF_BUILD/bin/gprof-run" ] || {
		say "nothing in $GPROF_BUILD: run scripts/gpu-check.sh --build first, or set GPROF_BUILD"
		exit 1
	}
fi
case $GPROF_BUILD in /*) ;; *) GPROF_BUILD=$PWD/$GPROF_BUILD ;; esac
export GPROF_BUILD PYTHONDONTWRITEBYTECODE=1
exec python3 -u "$top/test/gpu/check/main.py" "$@"
