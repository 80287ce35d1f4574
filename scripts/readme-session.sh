#!/bin/sh
# Runs the commands of the demo in README.md and replaces their output there.  The output shows the folder as /home/user/gprof-run.  Run it
# on an idle machine, because the output has times.
set -eu
cd "$(dirname "$0")/.."
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/gprof-readme.XXXXXX")
trap 'rm -rf "$work"' EXIT
ln -s "$PWD/test" "$work/test"
ln -s "$B" "$work/build"
PATH=$B/bin:$(dirname "$(python3 -c 'import sys; print(sys.executable)')"):$PATH

part='/^## The demo/,/^## Two commands/'
sed -n "$part s/^    \\$ //p" README.md >"$work/commands"
(
	cd "$work"
	while read -r command; do
		printf '\n$ %s\n' "$command"
		LD_LIBRARY_PATH=$B/sim sh -euc "$command" 2>&1
	done <commands
) | sed "1d; s|$work/|/home/user/gprof-run/|g; s/^./    &/" >"$work/session"
awk -v session="$work/session" '
	/^## The demo/ { inside = 1 }
	/^## Two commands/ { inside = 0 }
	inside && /^    / && !shown { while ((getline line < session) > 0) print line; shown = 1; print ""; skip = 1 }
	inside && skip && (/^    / || /^$/) { next }
	{ skip = 0; print }' README.md >"$work/README.md"
cat "$work/README.md" >README.md
