#!/bin/sh
# `make demo`: builds, profiles a small training loop on a GPU, or on the simulated GPU if the machine has none, and shows the report.
set -eu
cd "$(dirname "$0")/.."
B=${B:-build}
case $B in /*) here= ;; *) here=$PWD/ ;; esac
folder=$B/demo

scripts/setup.sh
make -s B="$B" all programs
if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; then
	on="$(nvidia-smi -L | head -n 1)"
	simulated=
else
	make -s B="$B" sim
	on="a simulated GPU (there is none here)"
	simulated=$here$B/sim
	if [ ! -e "$simulated/libcuda.so.1" ]; then
		on="the CPU alone: no GPU here, and no CUDA headers to build the simulated one"
		simulated=
	fi
fi
mkdir -p "$folder"
rm -f "$folder"/train*

show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

echo
echo "Profiling a training loop on $on:"
[ -z "$simulated" ] || export LD_LIBRARY_PATH="$simulated${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# Calls the real python3, not the wrapper scripts of a version manager, which would be processes in the trace.
PATH=$(dirname "$(python3 -c 'import sys; print(sys.executable)')"):$PATH
# Without CUDA's headers libnvtx_shim.so is not built; then uses the nvtx package in $B/judges.
[ -e "$B/test/programs/libnvtx_shim.so" ] || [ ! -x "$B/judges/bin/python3" ] || PATH=$here$B/judges/bin:$PATH
PATH=$here$B/bin:$PATH
show gprof-run -o "$folder/train" -- python3 test/programs/train.py
show gprof-trace report -r cuda_gpu_kern_sum,cuda_api_sum --limit 6 "$folder/train.gtrace"
show gprof-trace report -r nvtx_pushpop_sum --sort Instances --limit 6 "$folder/train.gtrace"
show gprof-trace export --format kineto -o "$folder/train.json" "$folder/train.gtrace"

cat <<END

The trace is        $folder/train.gtrace   (\`gprof-trace report list\` names all reports)
To see it in time:  open https://ui.perfetto.dev (or chrome://tracing) and drop $folder/train.json into it.
END
