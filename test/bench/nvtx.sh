#!/bin/sh
# ns of an NVTX push+pop: not injected, recording, recording delayed (only the nesting is kept), NVTX not asked for.  The program
# prints its own time and that of an empty call; the four run in turn, the medians of 5 are shown.
set -u
pair=$(command -v nvtx_pair) || { echo "no NVTX headers: not measured"; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for i in 1 2 3 4 5; do
	"$pair" >>"$work/bare"
	gprof-run -q -f -o "$work/on" -- "$pair" >>"$work/on" 2>/dev/null
	gprof-run -q -f --delay 1000 -o "$work/late" -- "$pair" >>"$work/late" 2>/dev/null
	gprof-run -q -f -t cuda -o "$work/none" -- "$pair" >>"$work/none" 2>/dev/null
done

median() {
	sort -n "$work/$1" | awk -v what="$2" '{ pair[NR] = $1; call[NR] = $2 } END {
		m = int((NR + 1) / 2); printf "%s\t%.1f\tns\tempty call %.2f\n", what, pair[m], call[m] }'
}

median bare 'NVTX pair, no tool'
median on 'NVTX pair, recorded (goal 50)'
median late 'NVTX pair, nesting only (--delay)'
median none 'NVTX pair, not asked for (-t cuda)'
