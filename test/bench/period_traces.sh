# The steps found in real traces, next to the marks that were hidden: GPROF_TRACES names files or folders of Kineto JSON, with blanks between.
program=${B:-build}/test/programs/period_feed
if [ -z "${GPROF_TRACES-}" ]; then
	echo "GPROF_TRACES names no Kineto traces: steps are looked for in simulated programs alone"
elif [ ! -x "$program" ]; then
	echo "$program is not built: make programs"
else
	# shellcheck disable=SC2086
	PYTHONDONTWRITEBYTECODE=1 python3 "$(dirname "$0")/period_traces.py" "$program" $GPROF_TRACES
fi
