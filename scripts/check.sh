#!/bin/sh
# `make check`: builds with gcc, with clang and with sanitizers, runs all tests, checks the rules of the source, and ends with one line:
# N passed, N failed, N skipped.  Logs are in $B/log, times in $B/log/times.
#	scripts/check.sh            everything                scripts/check.sh e2e WORD   end-to-end tests whose file name contains WORD
#	scripts/check.sh unit       unit tests                scripts/check.sh rules      the rules of the source
#	scripts/check.sh pipe WORD  the end-to-end tests that are also run with --transport=pipe
#	scripts/check.sh sanitized WORD  the unit tests, and the end-to-end tests of test/e2e/sanitized.txt, with sanitizers
#	scripts/check.sh quick      the build with gcc, rules, unit tests, and the end-to-end tests of test/e2e/quick.txt
# Each part first builds what its tests need; NO_BUILD=1 tests the existing build.
# Tests wait more than they compute, so $TASKS tests run at once, twice the number of compilers ($JOBS), the longest first.  The builds with
# sanitizers and with clang run at the same time.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
JOBS=${JOBS:-2}
TASKS=${TASKS:-$((2 * JOBS))}
case $B in /*) HERE= ;; *) HERE=$PWD/ ;; esac
export B HERE
unset MAKEFLAGS MFLAGS MAKELEVEL
log=$HERE$B/log
results=$log/results
rm -rf "$log"
mkdir -p "$log" || exit 1
: >"$results" >"$log/times"
export LOG=$log
. scripts/check-lib.sh
started=$(date +%s)

# record GROUP STATUS LOG: adds the log's ok, FAIL and skip lines to the results.  A task with an error status but no FAIL line counts as
# failed.
record() {
	grep -E '^(ok|FAIL|skip) ' "$3" | sed "s|^\([A-Za-z]*\) |\1 $1: |" >>"$results"
	if [ "$2" -ne 0 ] && ! grep -q '^FAIL ' "$3"; then
		echo "FAIL $1: ended with status $2 (log: $3)" >>"$results"
	elif ! grep -qE '^(ok|FAIL|skip) ' "$3"; then
		echo "FAIL $1: tested nothing (log: $3)" >>"$results"
	fi
}

# one GROUP TITLE COMMAND...: runs a check that has one result.  Status 77: skipped; the last line of output is the reason.
one() {
	group=$1 what=$2 name=$1-$(echo "$2" | tr -cs 'a-zA-Z0-9\n' -)
	file=$log/$name.log
	shift 2
	timed "$name" "$@" >"$file" 2>&1 </dev/null
	case $? in
	0) echo "ok $group: $what" >>"$results" ;;
	77) echo "skip $group: $what: $(tail -n 1 "$file")" >>"$results" ;;
	*)
		echo "FAIL $group: $what (log: $file)" >>"$results"
		tail -n 15 "$file" | sed 's/^/  | /'
		;;
	esac
}

progress() { echo "== $* ($(($(date +%s) - started)) s)"; }

# ---- builds ----
# targets 'A|B|...': prints those of the targets that the Makefile has.
targets() { make -pnrR 2>/dev/null | grep -oE "^($1):" | tr -d :; }

# build_in FOLDER TARGETS [VARIABLE=VALUE...]
build_in() {
	folder=$1 wanted=$2
	shift 2
	# shellcheck disable=SC2046
	${NICE-} make -j"$JOBS" B="$folder" "$@" all unit $(targets "$wanted")
}

# -O0: only the warnings matter, which do not depend on optimisation; the result is not run.
with_clang() {
	command -v clang >/dev/null || { echo "no clang here"; return 77; }
	build_in "$B-clang" 'sim|host-programs|bench-programs' CC=clang CFLAGS=-O0
}

# Sanitized: collector, programs and unit tests.  Not sanitized: the injected object, the simulated libraries, the test programs.
# -g1: line numbers in reports.  -O2, because gcc 12 gives false warnings about null pointers with -O1.
with_sanitizers() {
	echo 'int main(void) { return 0; }' >"$log/san.c"
	${CC:-cc} -fsanitize=address,undefined -o "$log/san" "$log/san.c" || { echo "this compiler has no sanitizers here"; return 77; }
	# Static runtimes: gcc's shared ones must be loaded first, and ignore log_path for each other's reports.
	static='-static-libasan -static-libubsan'
	# shellcheck disable=SC2086
	${CC:-cc} -fsanitize=address,undefined $static -o "$log/san" "$log/san.c" || static=
	build_in "$B-san" fuzz-replay SAN=address,undefined CFLAGS='-O2 -g1' LDFLAGS="$static" || return 1
	for shared in sim test/programs gpu judges tools; do
		rm -rf "${B:?}-san/$shared"
		[ ! -d "$B/$shared" ] || ln -s "$HERE$B/$shared" "$B-san/$shared"
	done
}

PROGRAMS='sim|programs|host-programs|bench-programs|gpu-programs'

# fresh COMMAND...: builds before tests; prints output only on failure.  If the build fails, no tests run.
fresh() {
	[ -z "${NO_BUILD-}" ] || return 0
	progress build
	if "$@" >"$log/build.log" 2>&1; then
		return 0
	elif [ $? -eq 77 ]; then
		echo "skip build: $(tail -n 1 "$log/build.log")" >>"$results"
		return 1
	fi
	grep -vE '^  [A-Z]+ +[^ ]+$' "$log/build.log"
	echo "FAIL build: nothing was tested (log: $log/build.log)" >>"$results"
	return 1
}

build_plain() {
	progress build
	one build 'builds without warnings' build_in "$B" "$1"
}

# Builds that the plain tests do not need.  They run with lower priority than the tests.
build_others() {
	NICE='nice -n 5'
	one build 'builds with sanitizers' with_sanitizers
	: >"$log/sanitized-is-built"
	rules
	one build 'builds with clang without warnings' with_clang
}

# ---- tests ----
# A task is a line: BUILD PATH, as scripts/check-task.sh takes them.
tasks() { sed "s/^/$1 /"; }

runners() {
	for runner in "$1"/test/unit-* "$1"/fuzz-replay/*; do
		case $runner in *.d) continue ;; esac
		[ ! -x "$runner" ] || echo "$runner"
	done
}

# scripts WORD [LIST]: prints the end-to-end scripts whose name contains WORD and is in LIST; those of longest.txt first.
scripts() {
	for script in test/e2e/*"$1"*.sh; do
		name=$(basename "$script" .sh)
		case $name in
		lib | assert | pythons | alike) continue ;;
		esac
		[ -e "$script" ] || continue
		[ -z "${2-}" ] || grep -q "^$name\(:\|\$\)" "$2" || continue
		echo "$({ grep -nx "$name" test/e2e/longest.txt || echo 9999; } 2>/dev/null | sed 's/:.*//'):$script"
	done | sort -s -t : -n -k 1,1 | sed 's/.*://'
}

plain() { scripts "${1-}" | tasks plain; }

# Scripts that also run with --transport=pipe (lib.sh).
on_the_pipe() {
	scripts "${1-}" | while read -r script; do
		! grep -q '^# also on the pipe' "$script" || echo "$script"
	done | tasks pipe
}

sanitized() {
	if [ ! -x "$B-san/bin/gprof-trace" ]; then
		echo "skip sanitized: nothing is built with sanitizers" >>"$results"
		return
	fi
	{
		runners "$B-san"
		scripts "${1-}" test/e2e/sanitized.txt
	} | tasks san
}

everything() {
	plain
	runners "$B" | tasks plain
	on_the_pipe
	until [ -e "$log/sanitized-is-built" ]; do sleep 1; done
	sanitized
}

# Runs the tasks of stdin, $TASKS at a time, as they arrive.
run_tasks() {
	progress "tests, $TASKS at a time"
	tee "$log/tasks" | xargs -r -n 2 -P "$TASKS" sh scripts/check-task.sh
	[ -s "$log/tasks" ] || echo "FAIL check: there is no such test" >>"$results"
	once_more
	while read -r build path; do
		name=$(task_name "$build" "$path")
		record "$name" "$(cat "$log/$name.status" 2>/dev/null || echo 1)" "$log/$name.log"
	done <"$log/tasks"
	! grep -q '^san ' "$log/tasks" || sanitizers_said
}

# only_times FILE: each failure in the log is a difference of times, and there is one.
only_times() {
	failures=$(grep -c "^FAIL " "$1")
	[ "$failures" -gt 0 ] && [ "$(grep -c "^  | only times differ: " "$1")" -eq "$failures" ]
}

# Scripts of test/e2e/retried.txt in which only times differ run again alone, up to two times.  A wrong status or output is never forgiven.
# The last lines of the check name each test that passed only alone.
once_more() {
	[ -e test/e2e/retried.txt ] || return 0
	while read -r build path; do
		name=$(task_name "$build" "$path")
		grep -q "^$(basename "$path" .sh): ." test/e2e/retried.txt || continue
		for try in first second; do
			[ "$(cat "$log/$name.status" 2>/dev/null)" != 0 ] && only_times "$log/$name.log" || break
			mv "$log/$name.log" "$log/$name.$try.log"
			sh scripts/check-task.sh "$build" "$path" </dev/null
		done
		[ -e "$log/$name.first.log" ] && [ "$(cat "$log/$name.status")" = 0 ] || continue
		grep -h '^FAIL ' "$log/$name.first.log" | sed "s|^FAIL |$name: |" >>"$log/only-alone"
	done <"$log/tasks"
}

# Each report of a sanitizer is a failed result.
sanitizers_said() {
	for report in "$log"/sanitizer/*; do
		[ -e "$report" ] || continue
		# Not an error: ASan warns that it does not fully support coroutines.
		grep -v "ASan doesn't fully support makecontext" "$report" | grep -q . || { rm "$report"; continue; }
		echo "FAIL sanitized: $(grep -m 1 -E 'ERROR|runtime error' "$report") (log: $report)" >>"$results"
	done
	[ -e "$report" ] || echo "ok sanitized: no sanitizer had anything to say" >>"$results"
}

# ---- rules of the source ----
scripts_parse() {
	for script in scripts/*.sh test/e2e/*.sh .ci/run; do
		case $(head -n 1 "$script") in
		*bash*) bash -n "$script" || return 1 ;;
		*) sh -n "$script" || return 1 ;;
		esac
	done
	if command -v shellcheck >/dev/null; then
		shellcheck -S error scripts/*.sh || return 1
	fi
}

# Not test/data, which has files of other projects.
files_are_short() {
	find trace inject collector cli scripts test -path test/data -prune -o \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \
		-o -name '*.py' -o -name '*.js' -o -name '*.sh' \) -exec wc -l {} + | awk '$1 > 600 && $2 != "total" { print; bad = 1 } END { exit bad }'
}

# inject/ is not among them yet.
no_cycles() {
	command -v python3 >/dev/null || { echo "no python3 here"; return 77; }
	python3 scripts/cycles.py "$B" --fail cli collector trace
}

rules() {
	progress rules
	one rules 'every file includes only what its floor may' scripts/check-layers.sh
	one rules 'no folders use each other in a circle, and no more than three files of one folder' no_cycles
	one rules 'the guest never prints, exits, allocates or blocks signals' scripts/check-guest.sh
	one rules 'no source file is longer than 600 lines' files_are_short
	one rules 'the programs are position independent, with guarded stacks and read-only relocations' scripts/check-hardening.sh
	one rules 'all scripts can be parsed' scripts_parse
	one rules 'links of documents lead somewhere, and the index lists every document' scripts/check-docs.sh
	one rules 'texts for users are in plain words, and the documents have every option and report' scripts/check-words.sh
	one rules 'no line of a test ignores its own failure' scripts/check-tests.sh
	one rules 'our declarations of CUPTI agree with NVIDIA'"'"'s headers' scripts/check-cupti.sh
}

# The 20 slowest tasks; $B/log/times has all.
slowest() {
	[ "$(wc -l <"$log/times")" -gt 20 ] || return 0
	echo "slowest (CPU seconds, wall seconds):"
	sort -k 2,2 -rn "$log/times" | head -n 20
}

finish() {
	passed=$(grep -c '^ok ' "$results")
	failed=$(grep -c '^FAIL ' "$results")
	skipped=$(grep -c '^skip ' "$results")
	grep '^skip ' "$results"
	grep '^FAIL ' "$results"
	[ ! -e "$log/only-alone" ] || sed 's/^/failed beside another test, passed alone: /' "$log/only-alone"
	slowest
	progress "logs in $log"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

case ${1-all} in
all)
	progress "setup"
	scripts/setup.sh || echo "FAIL setup: something that is needed is missing" >>"$results"
	build_plain "$PROGRAMS"
	build_others &
	everything | run_tasks
	wait
	;;
quick)
	build_plain "$PROGRAMS"
	rules
	{
		scripts '' test/e2e/quick.txt
		runners "$B"
	} | tasks plain | run_tasks
	;;
unit) fresh build_in "$B" '' && runners "$B" | tasks plain | run_tasks ;;
e2e) fresh build_in "$B" "$PROGRAMS" && plain "${2-}" | run_tasks ;;
pipe) fresh build_in "$B" "$PROGRAMS" && on_the_pipe "${2-}" | run_tasks ;;
sanitized) fresh build_in "$B" "$PROGRAMS" && fresh with_sanitizers && sanitized "${2-}" | run_tasks ;;
rules) rules ;;
*)
	echo "check.sh: unknown part '$1'; all, quick, unit, e2e [WORD], pipe [WORD], sanitized [WORD] or rules"
	exit 2
	;;
esac
finish
