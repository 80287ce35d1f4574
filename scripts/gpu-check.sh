#!/bin/bash
# Holds gprof-run against a real GPU (docs/howto-check-a-gpu.md).  It needs bash, coreutils and python3, and what was built before:
#
#	scripts/gpu-check.sh --build            where the CUDA toolkit is (no GPU needed): all of it into $B/kit, to be carried
#	GPROF_BUILD=build/kit scripts/gpu-check.sh --out DIR
#	                                        where the GPU is; every step has a limit, partial results stand in DIR at any moment
#	scripts/gpu-check.sh --list             the steps; named, only those are run
#	scripts/gpu-check.sh --sim --quick      on the simulated GPU: proves this script, says nothing about a GPU
#	scripts/gpu-check.sh --help             the other options
set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
B=${B:-build}
case $B in /*) ;; *) B=$top/$B ;; esac
arguments=$*
say() { printf 'gpu-check: %s\n' "$*" >&2; }
has() { case " $arguments " in *" $1 "*) ;; *) return 1 ;; esac; }
# The folder as it is named from the top, where it is in there: what was built under one name is not known as built under another.
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
