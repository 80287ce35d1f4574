#!/bin/sh
# rows.sh TRACE [PID]: what a trace (of one process) says that came out of CUPTI's activity buffers, one line a row, sorted, so that two
# runs can be compared: texts instead of ids, times from the first one on, no process number.  TRACE may be X.dump.gz, what
# `gprof-trace dump --uncorrected` printed of one process.
set -eu
trace=$1
pid=${2-}
case $trace in *.dump.gz) number=0 ;; *) number=$(gprof-trace dump -k process "$trace" | awk -v pid="$pid" '{
	for (i = 2; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
	if (pid == "" || v["pid"] == pid) n = v["number"]
} END { print n }') ;; esac
[ "$number" ] || { echo "rows.sh: no process ${pid:-} in $trace" >&2; exit 1; }
case $trace in
*.dump.gz) gzip -dc "$trace" ;;
*)
	gprof-trace dump --uncorrected -p "$number" \
		-k config,health,device,context,stream,kernel,memcpy,memset,sync,overhead,graph,memory,mempool,jit,unified "$trace"
	;;
esac |
	awk '
	# Numbers of nanoseconds since 1970 are too long for awk: seconds and nanoseconds apart.
	function start_of(line) { return match(line, / start=[0-9]+/) ? substr(line, RSTART + 7, RLENGTH - 7) : "" }
	function less(a, b) { return length(a) < length(b) || (length(a) == length(b) && (a "") < (b "")) }
	function since(t, t0) {
		seconds = substr(t, 1, length(t) - 9) - substr(t0, 1, length(t0) - 9)
		return sprintf("%.0f", seconds * 1e9 + substr(t, length(t) - 8) - substr(t0, length(t0) - 8))
	}
	{ sub(/ process=[0-9]+/, "") }
	# What was counted of records of other kinds, and of rows without time.
	$1 == "health" {
		if (match($0, / reason=(17|18) /)) {
			reason = substr($0, RSTART + 8, 2)
			match($0, / count=[0-9]+/)
			print (reason == 17 ? "unknown" : "without_time") substr($0, RSTART, RLENGTH)
		}
		next
	}
	$1 == "config" { id = $2; sub(/^config id=[0-9]+ /, ""); config[id] = $0; next }
	{
		line[++n] = $0
		t = start_of($0)
		if (t != "" && t != "0" && (first == "" || less(t, first))) first = t
	}
	END {
		for (i = 1; i <= n; i++) {
			s = line[i]
			t = start_of(s)
			if (t != "" && t != "0") sub(/ start=[0-9]+/, " start=" since(t, first), s)
			if (match(s, / config=[0-9]+/)) {
				id = "id=" substr(s, RSTART + 8, RLENGTH - 8)
				s = substr(s, 1, RSTART - 1) " " config[id] substr(s, RSTART + RLENGTH)
			}
			# The folder of a cache is kept without the folders above it.
			sub(/ path="[^"]*\//, " path=\"", s)
			print s
		}
	}' | LC_ALL=C sort
