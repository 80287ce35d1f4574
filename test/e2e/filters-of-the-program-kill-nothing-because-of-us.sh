# A program installs a seccomp filter.  It behaves as without gprof-run; rows that the filter permits are recorded, others are counted.
. "$(dirname "$0")/lib.sh"

# The program's exit status and output, with and without us; ranges of it in rows.
cat >"$E2E_ROOT/filtered.sh" <<'END'
filters=$GPROF_BUILD/test/programs/filters
need "$filters" "NVTX programs are not built"
"$filters" errno files return 0 0 >/dev/null || [ $? -eq 5 ] || skip "no filter can be installed here"
run() {
	exits 5 "$filters" "$@" >alone 2>alone.err
	exits 5 gprof-run -q -f -o run ${OPTIONS-} -- "$filters" "$@" >recorded 2>recorded.err
	same alone recorded
	grep -v "^gprof-run: the trace is '" recorded.err >recorded.said || :
	same alone.err recorded.said
	gprof-trace check run.gtrace
	gprof-trace dump run.gtrace >rows
	gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace 2>/dev/null | tail -n +2 | awk -F, '{ print $9, $3 }' | sort | tr '\n' ' ' >ranges
	gprof-trace report -r health --format csv run.gtrace 2>/dev/null >health
}
END
export E2E_ROOT

for action in kill trap errno; do
	for end in _exit return quick_exit; do
		it "a program with a filter ($action) ends by $end as without us, whatever it recorded" '
			. "$E2E_ROOT/filtered.sh"
			run '"$action all $end"' 0 0
			is "" "$(cat ranges)" ranges
			run '"$action all $end"' 1 0
			is ":before 1 " "$(cat ranges)" ranges
			run '"$action all $end"' 2 3
			is ":after 3 :before 2 " "$(cat ranges)" ranges
		'
	done

	it "the first NVTX call after a filter ($action) records nothing, which is counted" '
		. "$E2E_ROOT/filtered.sh"
		# A call that would kill or trap is not made; one that the filter answers with an error is made, and its error is named.
		counted=",filtered,1,"
		[ '"$action"' != errno ] || counted=",refused,1,.*: Operation not permitted,"
		for what in all files; do
			run '"$action"' $what return 0 1
			is "" "$(cat ranges)" ranges
			grep -q "$counted" health || fail "$(cat health)"
		done
	'

	it "the first NVTX call of a module after a filter ($action) is recorded" '
		. "$E2E_ROOT/filtered.sh"
		need "${filters%/*}/libnvtx_module.so"
		for what in all files; do
			run '"$action"' $what module 1 3
			is ":before 1 :module 3 " "$(cat ranges)" ranges
		done
	'

	it "a filter ($action) that forbids files leaves new threads and rows" '
		. "$E2E_ROOT/filtered.sh"
		run '"$action"' files thread 1 2
		is ":after 2 :before 1 :thread 2 " "$(cat ranges)" ranges
		run '"$action"' files thread 0 2
		is "" "$(cat ranges)" ranges
	'

	it "a program that is executed under a filter ($action) runs as without us" '
		. "$E2E_ROOT/filtered.sh"
		run '"$action"' sockets exec 1 0
		run '"$action"' sockets exec 1 2
		is ":after 2 :before 1 " "$(cat ranges)" ranges
		[ '"$action"' = errno ] || says "not_loaded" health
	'

	it "a filter ($action) on all threads finds none of ours that it would kill" '
		. "$E2E_ROOT/filtered.sh"
		for options in "" "--transport=pipe" "-s cpu"; do
			OPTIONS=$options
			run '"$action"' threads return 2 0
			is ":before 2 " "$(cat ranges)" "ranges ($options)"
		done
	'

	it "children that are forked after a filter ($action) end as without us" '
		. "$E2E_ROOT/filtered.sh"
		run '"$action"' files fork 0 0
		run '"$action"' files fork 1 0
		run '"$action"' files fork 2 3
		says ":after 3" ranges
	'
done
