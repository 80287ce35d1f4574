# Sourced by test/e2e/*.sh:  . "$(dirname "$0")/lib.sh"
#
#	it 'says what is true' '
#		exits 1 gprof-trace check nothing.gtrace 2>err
#		says "cannot open" err
#	'
#
# Each body runs in a *separate* `sh -euc` in an empty folder: in a subshell such as `if ( ... )` or `( ... ) || ...` the shell would
# ignore set -e, and a failing line would not fail the test.  The body has the functions of assert.sh, PATH with the build's bin/ first, and
#	GPROF_BUILD	the build folder, absolute	GPROF_TOP	the repository
#	TMPDIR		another empty folder		(XDG_RUNTIME_DIR, LD_PRELOAD and rank variables are not set)
# Exit status 77 skips the test; the last line of output is the reason.  A test may take 300 s; LIMIT=600 before an `it` changes that for
# all following tests.  test/e2e/sanitized.txt lists the scripts that make check also runs with sanitized programs, longest.txt the scripts
# that it starts first.  By hand: `ONLY=word sh test/e2e/x.sh` runs the tests whose title contains the word; KEEP=1 keeps the folders and
# prints their path.

GPROF_TOP=$(cd "$(dirname "$0")/../.." && pwd)
GPROF_BUILD=${GPROF_BUILD:-build}
case $GPROF_BUILD in /*) ;; *) GPROF_BUILD=$GPROF_TOP/$GPROF_BUILD ;; esac
[ -x "$GPROF_BUILD/bin/gprof-trace" ] || [ "${NO_BUILD-}" ] || {
	echo "FAIL ${0##*/}: nothing is built in $GPROF_BUILD; run make first"
	exit 1
}
PATH=$GPROF_BUILD/bin:$PATH
LC_ALL=C
COLUMNS=1000   # no table is folded or cut, whatever terminal the tests run in
export GPROF_TOP GPROF_BUILD PATH LC_ALL COLUMNS
unset XDG_RUNTIME_DIR LD_PRELOAD CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH GPROF_SESSION GPROF_RAW \
	RANK LOCAL_RANK WORLD_SIZE SLURM_PROCID SLURM_LOCALID SLURM_NTASKS PMI_RANK PMI_SIZE PMIX_RANK \
	OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_SIZE MPI_LOCALRANKID

LIMIT=300      # seconds; generous, because a busy machine can need minutes for a test of seconds
E2E_FAILED=0
E2E_COUNT=0
E2E_ROOT=$(mktemp -d "${TMPDIR:-/tmp}/gprof-e2e.XXXXXX") || exit 1

# GPROF_TEST_TRANSPORT=pipe: every gprof-run of the tests gets --transport=pipe.  make check runs scripts with the line "# also on the pipe"
# near their top a second time in this way.  Tests look at $GPROF_TEST_TRANSPORT where the pipe guarantees less.
if [ "${GPROF_TEST_TRANSPORT-}" ]; then
	export GPROF_TEST_TRANSPORT
	mkdir "$E2E_ROOT/bin"
	printf '#!/bin/sh\nexec "%s" --transport=%s "$@"\n' "$GPROF_BUILD/bin/gprof-run" "$GPROF_TEST_TRANSPORT" >"$E2E_ROOT/bin/gprof-run"
	chmod +x "$E2E_ROOT/bin/gprof-run"
	PATH=$E2E_ROOT/bin:$PATH
fi

e2e_finish() {
	status=$?
	trap - EXIT
	if [ "${KEEP-}" ]; then
		echo "kept: $E2E_ROOT"
	else
		chmod -R u+rwx "$E2E_ROOT" 2>/dev/null
		rm -rf "$E2E_ROOT"
	fi
	[ $status -ne 0 ] || [ $E2E_FAILED -eq 0 ] || status=1
	exit $status
}
trap e2e_finish EXIT
trap 'exit 130' INT TERM HUP

it() {
	case $1 in *"${ONLY-}"*) ;; *) return 0 ;; esac
	E2E_COUNT=$((E2E_COUNT + 1))
	CASE=$E2E_ROOT/$E2E_COUNT
	mkdir "$CASE" "$CASE/here" "$CASE/tmp"
	(
		cd "$CASE/here" || exit 1
		CASE_WHY=$CASE/why TMPDIR=$CASE/tmp exec timeout -k 5 "$LIMIT" \
			sh -euc '. "$GPROF_TOP/test/e2e/assert.sh"
'"$2"
	) </dev/null >"$CASE/out" 2>&1
	status=$?
	case $status in
	0)
		echo "ok $1"
		;;
	77)
		echo "skip $1: $(tail -n 1 "$CASE/out")"
		;;
	*)
		echo "FAIL $1"
		case $status in 124 | 137) echo "  did not end within $LIMIT s" ;; *) echo "  exit status $status" ;; esac
		cat "$CASE/out" "$CASE/why" 2>/dev/null | tail -n 60 | cut -c 1-300 | sed 's/^/  | /'
		E2E_FAILED=$((E2E_FAILED + 1))
		;;
	esac
}
