#!/bin/sh
# A program embeds Python, finalizes it and unloads its library: the injected object does not use the unloaded library, and finds the next.
. "$(dirname "$0")/lib.sh"
LIMIT=300

# libraries: "LIBPYTHON HOME" of each CPython that has a shared library, a line each.
setup='
	. "$GPROF_TOP/test/e2e/pythons.sh"
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need "$P/embeds" "test programs are not built (no NVTX headers)"
	libraries() {
		for python in $(pythons 8); do
			"$python" -c "import os, sys, sysconfig
get = sysconfig.get_config_var
path = os.path.join(get(\"LIBDIR\"), get(\"INSTSONAME\") or get(\"LDLIBRARY\"))
print(path, sys.prefix) if \".so\" in path and os.path.exists(path) else None"
		done
	}
	libraries >all
	[ -s all ] || { echo "no libpython3 here"; exit 77; }
'

it 'runs on without the library, and names the lines of each one that is loaded in its turn' "$setup"'
	while read -r library; do
		gprof-run -q -f -o t --nvtx-backtrace --resolve-symbols=false -- "$P/embeds" 3 alone $library >out 2>err || fail "$library: $(cat err)"
		is "gone 3" "$(cat out)" "unloaded $library"
		"$P/stack_rows" t.gtrace >raw
		grep "^range here " raw >here
		is 900 "$(wc -l <here)" "stacks of $library"
		# Of the first range of all the interpreter is not known yet.
		[ "$(grep -c "4:inner:<string> 2:outer:<string> 6:<module>:<string>" here)" -ge 890 ] || fail "$library: $(grep -v "4:inner" here | sort | uniq -c | head)"
		is 0 "$(grep -c "^range between .*inner" raw)" "ranges after Python with its frames"
	done <all
'

it 'takes another version for what it is' "$setup"'
	gprof-run -q -f -o t --nvtx-backtrace --resolve-symbols=false -- "$P/embeds" 2 alone $(tr "\n" " " <all) >out 2>err || fail "$(cat err)"
	n=$(wc -l <all)
	is "gone $((2 * n))" "$(cat out)" "unloaded"
	"$P/stack_rows" t.gtrace >raw
	[ "$(grep -c "^range here .*4:inner:<string> 2:outer:<string> 6:<module>:<string>" raw)" -ge $((600 * n - 10 * n)) ] || fail "$(grep -c "^range here .*4:inner" raw) of $((600 * n))"
'

it 'does so beside a thread that is always taking stacks, and under samples' "$setup"'
	head -n 1 all >some
	tail -n 1 all >>some
	while read -r library; do
		gprof-run -q -f -o t --nvtx-backtrace -s cpu --resolve-symbols=false -- "$P/embeds" 5 beside $library >out 2>err || fail "$library: $(cat err)"
		is "gone 5" "$(cat out)" "unloaded $library"
	done <some
'
