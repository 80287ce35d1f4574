#!/bin/sh
# texts.sh FOLDER [BUILD]: writes the texts that the questions are about into FOLDER, one file each, named as questions.md names them.
# Needs a build of `make all sim programs` and Python 3.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${2:-$top/build}" && pwd)
mkdir -p "$1"
cd "$1"
PATH=$build/bin:$PATH
python=$(python3 -c 'import sys; print(sys.executable)')
python3 "$top/test/oracle/made_loops.py" made 1 2
loop=made/hta/traces/loop-1/trace.json
LD_LIBRARY_PATH=$build/sim gprof-run -q -f -s cpu --python-launch-site -o train -- "$python" "$top/test/programs/train.py" >/dev/null 2>&1

show() {
	file=$1
	shift
	{ echo "\$ $*"; "$@" 2>&1 || echo "(exit status $?)"; } >"$file.txt"
}
show page gprof-trace report train.gtrace
for report in steps lines temporal overlap cuda_gpu_kern_sum cuda_api_sum health overhead; do
	show "$report" gprof-trace report -r "$report" --limit 10 train.gtrace
done
show phases gprof-trace report -r phases "$loop"
show ops gprof-trace report -r ops "$loop"
show help-run gprof-run --help
show help-trace gprof-trace --help
show help-ctl gprof-ctl --help
cp "$top/README.md" README.txt

head -c 30000 train.gtrace >cut.gtrace
echo '{"traceEvents": [' >broken.json
show error-1 gprof-run
show error-2 gprof-run --trcae cuda true
show error-3 gprof-run -d soon true
show error-4 gprof-trace report -r cuda_gpu_kern_sun train.gtrace
show error-5 gprof-trace report nothing.gtrace
show error-6 gprof-trace check cut.gtrace
show error-7 gprof-trace report broken.json
show error-8 gprof-trace report --step 99 train.gtrace
show error-9 gprof-trace report --limit 5 train.gtrace
show error-10 gprof-ctl begin
rm -rf made cut.gtrace broken.json
