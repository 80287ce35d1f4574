#!/bin/sh
# check-task.sh BUILD PATH: check.sh runs one unit runner, fuzz target or end-to-end script.  BUILD: plain, pipe (plain, and every
# gprof-run gets --transport=pipe) or san.  The output goes to $LOG/NAME.log, the exit status to $LOG/NAME.status; failures are printed.
# The time limits are only for hanging tests: at a load of 4 a script takes several times as long as alone.
set -u
. scripts/check-lib.sh

build=$1 path=$2 folder=$B
name=$(task_name "$build" "$path")
case $build in
plain) ;;
pipe) export GPROF_TEST_TRANSPORT=pipe ;;
san)
	# Reports of sanitizers go to files, because some processes have no stderr (the collector).
	folder=$B-san
	mkdir -p "$LOG/sanitizer"
	export ASAN_OPTIONS="log_path=$LOG/sanitizer/asan:exitcode=99:detect_stack_use_after_return=0:abort_on_error=0"
	export UBSAN_OPTIONS="log_path=$LOG/sanitizer/ubsan:print_stacktrace=1"
	;;
esac
case $path in
*.sh)
	export GPROF_BUILD="$HERE$folder"
	set -- sh "$path"
	;;
*/fuzz-replay/*) set -- "$path" "test/fuzz/${path##*/}" ;;
*) set -- "$path" ;;
esac

timed "$name" timeout -k 5 "${CHECK_LIMIT:-900}" "$@" >"$LOG/$name.log" 2>&1 </dev/null
echo $? >"$LOG/$name.status"
grep -A 12 "^FAIL " "$LOG/$name.log" | head -n 60
:
