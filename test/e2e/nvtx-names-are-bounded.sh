#!/bin/sh
# Many domains and names: lookup stays fast (hash table), and memory for strings is bounded.
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'ten thousand domains are kept apart' '
	need "$GPROF_BUILD/test/programs/nvtx_strings" "NVTX programs are not built"
	gprof-run -q -o run -- "$GPROF_BUILD/test/programs/nvtx_strings" 0 10000
	gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace | tail -n +2 | awk -F, "\$3 == 1 { print \$9 }" | sort -u >names
	is 10000 "$(wc -l <names)" "domains with one range"
	says "domain 9999:in" names
'

it 'strings beyond the limit share names; every range is there, and health says how often' '
	need "$GPROF_BUILD/test/programs/nvtx_strings" "NVTX programs are not built"
	gprof-run -q -o run --string-memory 1M -- "$GPROF_BUILD/test/programs/nvtx_strings" 200000
	gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace | tail -n +2 >rows
	is 200000 "$(awk -F, "{ n += \$3 } END { print n }" rows)" "ranges"
	shared=$(grep "one of many strings, #" rows | awk -F\" "{ print \$1 }" | awk -F, "{ n += \$3 } END { print n }")
	own=$(grep -vc "one of many strings, #" rows)
	is 200000 $((shared + own)) "ranges under their own and under shared names"
	test "$own" -gt 5000 && test "$own" -lt 50000 || fail "$own strings in 1 MiB"
	gprof-trace dump -k health run.gtrace >health
	says "count=$shared reason=7 " health
'
