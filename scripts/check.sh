#!/bin/sh
# `make check`: everything that can be proved on this machine.  Builds with both compilers and with sanitizers, runs all tests, checks
# the rules of the house, and ends with one line: N passed, N failed, N skipped.  Logs of everything in $B/log.
#	scripts/check.sh            all of it                 scripts/check.sh e2e WORD   the end-to-end tests whose file has the word
#	scripts/check.sh unit       unit tests                scripts/check.sh rules      the rules of the house
#	scripts/check.sh pipe WORD  the end-to-end tests that are also run with --transport=pipe
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
JOBS=${JOBS:-2}
case $B in /*) here= ;; *) here=$PWD/ ;; esac
export B
unset MAKEFLAGS MFLAGS MAKELEVEL
log=$here$B/log
results=$log/results
rm -rf "$log"
mkdir -p "$log" || exit 1
: >"$results"
started=$(date +%s)

# record GROUP STATUS LOG: its ok, FAIL and skip lines become results.  One that ended badly without saying FAIL has failed as a whole.
record() {
	grep -E '^(ok|FAIL|skip) ' "$3" | sed "s|^\([A-Za-z]*\) |\1 $1: |" >>"$results"
	if [ "$2" -ne 0 ] && ! grep -q '^FAIL ' "$3"; then
		echo "FAIL $1: ended with status $2 (log: $3)" >>"$results"
	elif ! grep -qE '^(ok|FAIL|skip) ' "$3"; then
		echo "FAIL $1: tested nothing (log: $3)" >>"$results"
	fi
}

# one GROUP 'what is true' COMMAND...: a check that is one result.  77 skips, the last line is the reason.
one() {
	group=$1 what=$2 file=$log/$1-$(echo "$2" | tr -cs 'a-zA-Z0-9\n' -).log
	shift 2
	"$@" >"$file" 2>&1 </dev/null
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
# Of these targets the ones that there are.
targets() { make -pnrR 2>/dev/null | grep -oE "^($1):" | tr -d :; }

# build_in FOLDER TARGETS [VARIABLE=VALUE...]
build_in() {
	folder=$1 wanted=$2
	shift 2
	# shellcheck disable=SC2046
	make -j"$JOBS" B="$folder" "$@" all unit $(targets "$wanted")
}

with_clang() {
	command -v clang >/dev/null || { echo "no clang here"; return 77; }
	build_in "$B-clang" 'sim|host-programs|bench-programs' CC=clang
}

# The collector, the programs and the unit tests are sanitized; the injected object, the stand-ins and the test programs never are.
with_sanitizers() {
	echo 'int main(void) { return 0; }' >"$log/san.c"
	${CC:-cc} -fsanitize=address,undefined -o "$log/san" "$log/san.c" || { echo "this compiler has no sanitizers here"; return 77; }
	# gcc's shared runtimes let each other's reports go to stderr, which the collector does not have, and want to be loaded first.
	static='-static-libasan -static-libubsan'
	# shellcheck disable=SC2086
	${CC:-cc} -fsanitize=address,undefined $static -o "$log/san" "$log/san.c" || static=
	build_in "$B-san" none SAN=address,undefined LDFLAGS="$static" || return 1
	for shared in sim test/programs gpu judges tools; do
		rm -rf "${B:?}-san/$shared"
		[ ! -d "$B/$shared" ] || ln -s "$here$B/$shared" "$B-san/$shared"
	done
}

builds() {
	progress builds
	one build 'builds without warnings' build_in "$B" 'sim|programs|host-programs|bench-programs'
	one build 'builds with clang without warnings' with_clang
	one build 'builds with sanitizers' with_sanitizers
}

# ---- tests ----
units() {
	for runner in "$1"/test/unit-*; do
		case $runner in *.d) continue ;; esac
		[ -x "$runner" ] || continue
		name=${runner##*/}$2
		progress "$name"
		timeout 300 "$runner" >"$log/$name.log" 2>&1 </dev/null
		record "$name" $? "$log/$name.log"
	done
}

# chosen SUFFIX SCRIPT: is it run so?
chosen() {
	case $1 in
	-san) ! grep -q '^# not sanitized' "$2" ;;
	-pipe) grep -q '^# also on the pipe' "$2" ;;
	esac
}

# e2e FOLDER SUFFIX [WORD]: two at a time.
e2e() {
	for script in test/e2e/*"${3-}"*.sh; do
		case ${script##*/} in
		lib.sh | assert.sh | pythons.sh) continue ;;
		esac
		chosen "$2" "$script" || continue
		echo "$script"
	done >"$log/list$2"
	progress "e2e$2: $(wc -l <"$log/list$2") scripts"
	export GPROF_BUILD=$here$1 LOG=$log SUFFIX=$2
	# shellcheck disable=SC2016
	xargs -r -n 1 -P "$JOBS" sh -c '
		name=$(basename "$1" .sh)$SUFFIX
		timeout -k 5 300 sh "$1" >"$LOG/$name.log" 2>&1 </dev/null
		echo $? >"$LOG/$name.status"
		grep -A 12 "^FAIL " "$LOG/$name.log" | head -n 60
		:' - <"$log/list$2"
	once_more "$2"
	unset GPROF_BUILD LOG SUFFIX
	while read -r script; do
		name=$(basename "$script" .sh)$2
		record "$name" "$(cat "$log/$name.status" 2>/dev/null || echo 1)" "$log/$name.log"
	done <"$log/list$2"
}

# once_more SUFFIX: a script that failed beside another one is run again alone, for the tests that wait for something on a machine of few
# cores.  Both results are printed, the last lines name it, and where more than three failed nothing is run again: that is no matter of time.
once_more() {
	while read -r script; do
		[ "$(cat "$log/$(basename "$script" .sh)$1.status" 2>/dev/null)" = 0 ] || echo "$script"
	done <"$log/list$1" >"$log/failed$1"
	[ "$(wc -l <"$log/failed$1")" -le 3 ] || return 0
	while read -r script; do
		name=$(basename "$script" .sh)$1
		mv "$log/$name.log" "$log/$name.first.log"
		timeout -k 5 300 sh "$script" >"$log/$name.log" 2>&1 </dev/null
		echo $? >"$log/$name.status"
		if [ "$(cat "$log/$name.status")" = 0 ]; then
			grep '^FAIL ' "$log/$name.first.log" | sed "s|^FAIL |$name: |" >>"$log/only-alone"
		fi
	done <"$log/failed$1"
}

# The second carrier of rows: those that record once more, every gprof-run with --transport=pipe (lib.sh).
on_the_pipe() {
	export GPROF_TEST_TRANSPORT=pipe
	e2e "$B" -pipe "${1-}"
	unset GPROF_TEST_TRANSPORT
}

# Whatever a sanitizer says, in whichever process (the collector has no stderr), lands in a file of its own and is a failure.
sanitized() {
	[ -x "$B-san/bin/gprof-trace" ] || { echo "skip sanitized: nothing is built with sanitizers" >>"$results"; return; }
	mkdir -p "$log/sanitizer"
	export ASAN_OPTIONS="log_path=$log/sanitizer/asan:exitcode=99:detect_stack_use_after_return=0:abort_on_error=0"
	export UBSAN_OPTIONS="log_path=$log/sanitizer/ubsan:print_stacktrace=1"
	units "$B-san" -san
	e2e "$B-san" -san "${1-}"
	unset ASAN_OPTIONS UBSAN_OPTIONS
	for report in "$log"/sanitizer/*; do
		[ -e "$report" ] || continue
		echo "FAIL sanitized: $(grep -m 1 -E 'ERROR|runtime error' "$report") (log: $report)" >>"$results"
	done
	[ -e "$report" ] || echo "ok sanitized: no sanitizer had anything to say" >>"$results"
}

# ---- rules of the house ----
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

files_are_short() {
	find trace inject collector cli -name '*.[ch]' -exec wc -l {} + | awk '$1 > 600 && $2 != "total" { print; bad = 1 } END { exit bad }'
}

rules() {
	progress rules
	one rules 'every file includes only what its floor may' scripts/check-layers.sh
	one rules 'the guest never prints, exits, allocates or blocks signals' scripts/check-guest.sh
	one rules 'no source file is longer than 600 lines' files_are_short
	one rules 'all scripts can be parsed' scripts_parse
	one rules 'our declarations of CUPTI agree with NVIDIA'"'"'s headers' scripts/check-cupti.sh
}

finish() {
	passed=$(grep -c '^ok ' "$results")
	failed=$(grep -c '^FAIL ' "$results")
	skipped=$(grep -c '^skip ' "$results")
	grep '^skip ' "$results"
	grep '^FAIL ' "$results"
	[ ! -e "$log/only-alone" ] || sed 's/^/failed beside another test, passed alone: /' "$log/only-alone"
	progress "logs in $log"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

case ${1-all} in
all)
	progress "setup"
	scripts/setup.sh || echo "FAIL setup: something that is needed is missing" >>"$results"
	builds
	rules
	units "$B" ''
	e2e "$B" ''
	on_the_pipe
	sanitized
	;;
unit) units "$B" '' ;;
e2e) e2e "$B" '' "${2-}" ;;
pipe) on_the_pipe "${2-}" ;;
sanitized) with_sanitizers && sanitized "${2-}" ;;
rules) rules ;;
*)
	echo "check.sh: unknown part '$1'; all, unit, e2e [WORD], pipe [WORD], sanitized [WORD] or rules"
	exit 2
	;;
esac
finish
