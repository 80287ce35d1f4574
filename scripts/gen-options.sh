#!/bin/sh
# gen-options.sh BUILD: prints docs/reference/options.md: the help of the programs in BUILD about options and reports.
B=$1
block() {
	printf '\n```text\n'
	"$@" 2>&1
	printf '```\n'
}
section() { printf '\n## %s\n' "$1"; }

cat <<END
# Options and reports

Made by \`make docs\` from the texts in the programs: do not edit.

Options of nsys for Windows, embedded systems and graphics programs are accepted and not listed.
END
section gprof-run
block "$B/bin/gprof-run" --help-all
section gprof-trace
block "$B/bin/gprof-trace" --help
for command in report info export import check recover resolve redact dump help; do
	section "gprof-trace $command"
	block "$B/bin/gprof-trace" "$command" --help-all
done
section gprof-ctl
block "$B/bin/gprof-ctl" --help-all
section Reports
block "$B/bin/gprof-trace" report list --all
