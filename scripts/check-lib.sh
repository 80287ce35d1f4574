# shellcheck shell=sh
# Sourced by check.sh and check-task.sh.

# task_name BUILD PATH: prints the name of a task in results and logs.
task_name() {
	task=$(basename "$2" .sh)
	case $2 in */fuzz-replay/*) task=fuzz-$task ;; esac
	case $1 in plain) echo "$task" ;; *) echo "$task-$1" ;; esac
}

# timed NAME COMMAND...: runs the command and adds a line to $LOG/times: CPU seconds, wall seconds, NAME.  CPU seconds include all
# descendants that were waited for; load of other programs hardly changes them.
timed() {
	timed_name=$1 timed_began=$(date +%s%N)
	shift
	("$@"; status=$?; times >"$LOG/$timed_name.cpu"; exit $status)
	timed_status=$?
	awk -v wall=$(($(date +%s%N) - timed_began)) -v name="$timed_name" '
		{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); cpu += 60 * t[1] + t[2] } }
		END { printf "%.2f %.2f %s\n", cpu, wall / 1e9, name }' "$LOG/$timed_name.cpu" >>"$LOG/times"
	rm -f "$LOG/$timed_name.cpu"
	return $timed_status
}
