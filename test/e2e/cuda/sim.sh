# Sourced by the bodies of test/e2e/cuda-*.sh: a program on the simulated GPU under gprof-run, and what its trace must say.

need "$GPROF_BUILD/sim/libcupti.so.13" "the simulated CUDA stack is not built (make sim; needs NVIDIA's headers)"
need "$GPROF_BUILD/test/programs/sim_rows" "test programs are not built (make programs)"
P=$GPROF_BUILD/test/programs
LD_LIBRARY_PATH=$GPROF_BUILD/sim SIM_TRUTH=$PWD/truth
export LD_LIBRARY_PATH SIM_TRUTH

# release VERSION: that CUPTI is played, with the functions that it has more.
release() {
	export "SIM_CUPTI_RELEASE=$1"
	case $1 in
	13.2*) LD_LIBRARY_PATH=$GPROF_BUILD/sim/13.2:$LD_LIBRARY_PATH ;;
	13.[3-9]*) LD_LIBRARY_PATH=$GPROF_BUILD/sim/13.3:$LD_LIBRARY_PATH ;;
	esac
}

# traced PROGRAM ARGUMENT...: its exit status, its output in ./out; OPTIONS are gprof-run's.
traced() {
	need "$P/$1" "$1 is not built (needs nvcc)"
	program=$P/$1
	shift
	rm -f t.gtrace truth
	# shellcheck disable=SC2086
	gprof-run -q -f -o t ${OPTIONS-} -- "$program" "$@" >out 2>err
}

# Each row of the trace is what the GPU did, to the nanosecond, and nothing is missing; API calls come at the right time.
as_the_gpu_says() {
	"$P/sim_rows" rows t.gtrace | sort >got
	"$P/sim_rows" truth truth | sort >want
	[ -s want ] || fail "the simulated GPU did nothing"
	same want got
	is 0 "$("$P/sim_rows" late t.gtrace truth 2>&1)" "number of API rows at a wrong time"
}

# health REASON: its counts, one a line of a process.  detail REASON: the first details.
health() {
	"$P/count_rows" t.gtrace | sed -n "s/^health [0-9]* $1 \([0-9]*\).*/\1/p"
}
detail() {
	"$P/count_rows" t.gtrace | sed -n "s/^health [0-9]* $1 [0-9]* //p"
}

# rows KIND: how many, in all processes.
rows() {
	"$P/count_rows" t.gtrace | awk -v kind="$1" '$1 == "rows" && $3 == kind { n += $4 } END { print n + 0 }'
}

# drops KIND: rows of it that were not kept.
drops() {
	"$P/count_rows" t.gtrace | awk -v kind="$1" '$1 == "drop" && $3 == kind { n += $5 } END { print n + 0 }'
}

# What the simulated CUPTI dropped: operations, as it says, and of driver_api's device, context and two streams those that have no row.
dropped() {
	echo $(($(grep -c '"fate":"dropped"' truth) + 4 - $(rows device) - $(rows context) - $(rows stream)))
}

# flagged HEX: the last process rows of how many processes have that bit.
flagged() {
	"$P/count_rows" t.gtrace | awk '$1 == "process" { sub("flags=", "", $3); last[$2] = $3 } END { for (p in last) print last[p] }' |
		while read -r flags; do
			[ $((0x$flags & 0x$1)) -eq 0 ] || echo yes
		done | wc -l
}
