#!/bin/sh
# The figures of docs/reference/performance.md that need the whole of it: our share of an API call beside another tool's on the
# simulated stack, rows a second before the first is lost (on one core; with a slow disk), memory, the start of a program.
# LONG=1: also those that take minutes.
set -u
here=$PWD
case $B in /*) ;; *) B=$here/$B ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
SIM_KERNEL_NS=1
export SIM_KERNEL_NS
sim=$B/sim
run="gprof-run -q -f --max-size 1000G -o $work/t"
unset SIM_TRUTH

# on SIMULATED-STACK COMMAND...: with its libraries for the program alone.
on() { LD_LIBRARY_PATH=$sim "$@"; }

# The least: other programs run on the machine too.
least() { sort -n "$1" | awk 'NR == 1 { print $1 }'; }

share_of_a_call() {
	for i in 1 2 3 4 5 6 7 8 9; do
		on launches 300000 >>"$work/bare"
		on env CUDA_INJECTION64_PATH="$B/tools/empty_cupti.so" launches 300000 >>"$work/empty"
		on env CUDA_INJECTION64_PATH="$B/tools/empty_cupti.so" EMPTY_CUPTI=records launches 300000 >>"$work/records"
		on $run -- launches 300000 >>"$work/ours" 2>/dev/null
	done
	bare=$(least "$work/bare") empty=$(least "$work/empty") records=$(least "$work/records") ours=$(least "$work/ours")
	awk -v bare="$bare" -v empty="$empty" -v records="$records" -v ours="$ours" 'BEGIN {
		printf "a launch on the simulated stack, CPU of its thread\t%.0f\tns\tbest of 9\n", bare
		printf "the same, CUPTI with an empty callback\t%.0f\tns\t\n", empty
		printf "the same, and kernel records that nobody reads\t%.0f\tns\t\n", records
		printf "the same, recorded by us\t%.0f\tns\t\n", ours
		printf "our share over the empty callback\t%.0f\tns\tof it %.0f for CUPTI to write the records\n", ours - empty, records - empty
		printf "our share over callback and unread records\t%.0f\tns\tgoal 40\n", ours - records
	}'
}

start_up() {
	alternate 21 'cuInit and one launch' "LD_LIBRARY_PATH=$sim launches 0" \
		'the same under gprof-run' "LD_LIBRARY_PATH=$sim $run -- launches 0 2>/dev/null"
	# Of it inside of the program, as it says in its own trace.
	on $run -- launches 0 >"$work/out" 2>/dev/null
	gprof-trace report -r overhead --format csv "$work/t.gtrace" 2>/dev/null |
		awk -F , '$1 == "gprof" { printf "of it, in the program: %s\t%.2f\tms\t\n", $7, $5 / 1e6 }'
}

dropped() {
	gprof-trace report -r health --format csv "$1" 2>/dev/null |
		awk -F , '/no_block|file_limit|disk_full|write_failed/ { n += $4 } END { print n + 0 }'
}

# sustained NAME SECONDS COMMAND...: the highest of several rates at which no row is lost in that time.
sustained() {
	name=$1 for=$2 best=0
	shift 2
	for rate in 250000 500000 1000000 2000000 3000000 4000000 6000000 8000000; do
		"$@" rows $rate "$for" >"$work/made" 2>/dev/null || { echo "$name: failed"; return; }
		lost=$(dropped "$work/t.gtrace")
		made=$(awk '{ printf "%d", $1 / $2 }' "$work/made")
		[ "$lost" -eq 0 ] || break
		best=$made
		# The program itself can do no more.
		[ "$made" -ge $((rate * 95 / 100)) ] || break
	done
	beside="no more could be made"
	[ "$lost" -eq 0 ] || beside="at $made $lost of $(cut -d " " -f 1 "$work/made") were lost"
	printf '%s\t%d\trows/s\t%s in %s s\n' "$name" "$best" "$beside" "$for"
}

slow_collector() {
	cp -r "$B/bin" "$B/lib" "$work/"
	mv "$work/lib/gprof/gprof-collector" "$work/lib/gprof/real"
	cat >"$work/lib/gprof/gprof-collector" <<-END
		#!/bin/sh
		SLOW_BYTES_PER_S=$1 LD_PRELOAD=$B/tools/slow_write.so exec $work/lib/gprof/real "\$@"
	END
	chmod +x "$work/lib/gprof/gprof-collector"
}

rates() {
	for=$1
	command -v rows >/dev/null || { echo "no NVTX headers: rows a second are not measured"; return; }
	sustained 'rows kept from one thread' "$for" $run --
	sustained 'the same, everything on one core' "$for" taskset -c 0 $run --
	slow_collector 4000000
	sustained 'the same, a disk of 4 MB/s' "$for" "$work/bin/gprof-run" -q -f --max-size 1000G -o "$work/t" --
}

memory() {
	rate=1000000 for=$1
	on launches 0 $rate "$for" >"$work/bare"
	on env CUDA_INJECTION64_PATH="$B/tools/empty_cupti.so" EMPTY_CUPTI=records launches 0 $rate "$for" >"$work/records"
	on $run -- launches 0 $rate "$for" >"$work/ours" 2>/dev/null
	n=$(cut -d ' ' -f 2 "$work/ours")
	printf 'launches in %s s, asked for %s a second\t%s\t\tdropped rows: %s\n' "$(cut -d ' ' -f 3 "$work/ours")" $rate \
		"$n" "$(dropped "$work/t.gtrace")"
	for what in bare records ours; do
		printf 'peak memory of the program, %s\t%d\tKiB\t\n' $what "$(cut -d ' ' -f 4 "$work/$what")"
	done
	gprof-trace dump -k attribute "$work/t.gtrace" | sed -n 's/.*memory.peak_kb=\([0-9]*\).*/peak memory of the collector\t\1\tKiB\t/p'
	stat -c %s "$work/t.gtrace" | awk -v n="$n" '{ printf "trace\t%.1f\tB/launch\ta kernel row and a call row\n", $1 / n }'
}

if [ -e "$sim/libcupti.so.13" ]; then
	share_of_a_call
	start_up
else
	echo "no simulated stack: our share of a call is not measured"
fi
if [ "${LONG-}" ]; then
	rates 10
	[ ! -e "$sim/libcupti.so.13" ] || memory 60
else
	echo "LONG=1 measures rows a second and memory, too, in some minutes"
fi
