#!/bin/sh
# Finds gaps of the end-to-end tests: lines that cannot fail, lists that name missing scripts, and commands without a sanitized run.
# check-tests.sh [FOLDER]: checks another tree.
cd "${1:-$(dirname "$0")/..}" || exit 1

# `set -e` ignores the status of `! COMMAND`, so such a line cannot fail, unless it is the last one.  Use `exits 1 COMMAND` or
# `! COMMAND || fail WHY`.
if grep -nE "^[[:space:]]*! " test/e2e/*.sh | grep -vF '|| '; then
	exit 1
fi

# A misspelled name in a list would silently exclude the script from the check.
bad=0
for list in test/e2e/*.txt; do
	[ -e "$list" ] || continue
	sed -e '/^#/d' -e 's/:.*//' "$list" | while read -r name; do
		[ -e "test/e2e/$name.sh" ] || { echo "$list: there is no test/e2e/$name.sh"; exit 1; }
	done || bad=1
done

# The sanitized scripts must use each program, each command, each export format, and all reports.
sanitized() {
	sed -e '/^#/d' -e 's|^\([^:]*\):.*|test/e2e/\1.sh|' test/e2e/sanitized.txt | xargs cat | grep -E "$1" >/dev/null ||
		{ echo "test/e2e/sanitized.txt: no script has $1"; bad=1; }
}
if [ -e test/e2e/sanitized.txt ]; then
	for command in cli/cmd/cmd_*.c; do
		command=${command##*/cmd_}
		sanitized "gprof-trace ${command%.c}\b"
	done
	for word in gprof-run gprof-ctl 'gprof-trace report list' 'export .*kineto' folded pprof; do
		sanitized "$word"
	done
fi
exit $bad
