# Sourced in the bodies of `it`: runs a command without gprof-run and under gprof-run, and compares.
#
#	alike COMMAND...	exit status, standard output and standard error are equal; times differ by at most 10 % or 50 ms
#
# $OPTIONS: options of gprof-run.  $EXCEPT: a sed command that removes differences that are allowed from both outputs.  $UNTIMED: times
# are not compared.  Each use of EXCEPT and UNTIMED states the reason.  The time is from the program's start to its end, the shortest of
# several runs: other processes of the machine can only make a run longer.  One run in time is enough, because status and output are
# compared in each run.

need "$GPROF_BUILD/test/programs/timed" "programs of gprof-run are not built"

# once SIDE COMMAND...: the exit status in $status.
once() {
	side=$1
	shift
	status=0
	"$@" >"$side.out" 2>"$side.err" </dev/null || status=$?
	grep -v "^gprof-run: the trace is '" "$side.err" | sed "${EXCEPT-}" >"$side.err.seen" || :
	sed "${EXCEPT-}" "$side.out" >"$side.out.seen"
}

alike() {
	best_alone=1000000
	best_with=1000000
	for try in 1 2 3 4 5 6 7 8 9 10; do
		once alone "$GPROF_BUILD/test/programs/timed" alone.ms "$@"
		without=$status
		# shellcheck disable=SC2086
		once with gprof-run -q -f -o t ${OPTIONS-} -- "$GPROF_BUILD/test/programs/timed" with.ms "$@"
		[ "$status" -eq "$without" ] || fail "exit status $status, without us $without: $*
$(head -n 20 with.err)"
		for what in out err; do
			cmp -s alone.$what.seen with.$what.seen || fail "$what of $*:
$(diff alone.$what.seen with.$what.seen | head -n 20)"
		done
		[ "$best_alone" -le "$(cat alone.ms)" ] || best_alone=$(cat alone.ms)
		[ "$best_with" -le "$(cat with.ms)" ] || best_with=$(cat with.ms)
		[ -z "${UNTIMED-}" ] || return 0
		[ "$best_with" -gt $((best_alone + 50)) ] && [ "$best_with" -gt $((best_alone * 11 / 10)) ] || return 0
	done
	fail "only times differ: $best_with ms, without us $best_alone: $*"
}

# nvtx NAME [NUMBER]: one of test/programs/host/scenarios.c.
nvtx() {
	need "$GPROF_BUILD/test/programs/scenarios" "NVTX programs are not built"
	alike "$GPROF_BUILD/test/programs/scenarios" "$@"
}
