# The page of each kind of program: at most 80 columns and 25 lines, each share names its base, and each report that it recommends has rows.
# not sanitized: shared traces of two hundred megabytes
. "$(dirname "$0")/lib.sh"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# page TRACE: prints the page, after a check of it.
PAGE='page() {
	python3 "$GPROF_TOP/test/e2e/page_check.py" "$1" >wrong || fail "the page of $1: $(cat wrong)"
	gprof-trace report "$1"
}
# own FILE...: checks the size of pages that gprof-run printed.
own() { python3 "$GPROF_TOP/test/e2e/page_check.py" --text "$@" >wrong || fail "the page of gprof-run: $(cat wrong)"; }
on_sim() { LD_LIBRARY_PATH=$GPROF_BUILD/sim "$@"; }
'

# A judge that has torch.
JUDGE='judge=$GPROF_BUILD/judges/bin/python
[ -x "$judge" ] && "$judge" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null || skip "torch is not to be had here"
'

it 'of shared traces and folders of ranks' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	[ -d "$data/hta/traces" ] || skip "no traces of real programs in GPROF_TEST_DATA"
	python3 "$GPROF_TOP/test/e2e/page_check.py" --data "$data" >wrong || { cat wrong; fail "pages"; }
	tail -n 1 wrong
'

it 'of a training loop on a GPU: what was slow, and where the program was told to wait for each kernel' "$PAGE"'
	need "$GPROF_BUILD/sim/libcuda.so.1"
	on_sim gprof-run -o run -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>err
	own err
	page run.gtrace >page
	grep "^  steps  .*, median .*, slowest #[0-9]* at .*: GPU [a-z]* +[0-9.]* [mu]s" page || fail "$(cat page)"
	never_says "CUDA_LAUNCH_BLOCKING" page
	CUDA_LAUNCH_BLOCKING=1 on_sim gprof-run -o one -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>err
	page one.gtrace >page
	says "changed   CUDA_LAUNCH_BLOCKING=1: each launch waits for its kernel" page
	CUDA_LAUNCH_BLOCKING=0 on_sim gprof-run -o zero -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>err
	page zero.gtrace >page
	never_says "CUDA_LAUNCH_BLOCKING" page
'

it 'of programs that only copy, launch graphs, use streams or have several contexts' "$PAGE"'
	need "$GPROF_BUILD/sim/libcuda.so.1"
	for program in copies graphs graph_update streams contexts threads managed many_kernels launches fork_workers vector_add; do
		[ -x "$GPROF_BUILD/test/programs/$program" ] || skip "no test programs of CUDA here"
		on_sim gprof-run -o "$program" -- "$GPROF_BUILD/test/programs/$program" >out 2>"$program.err" || true
		own "$program.err"
		page "$program.gtrace" >page
		says "next" page
	done
'

it 'of a plain program: with -s cpu its functions, without it the advice to use it' "$PAGE"'
	need cc
	cat >busy.c <<-"C"
		#include <time.h>
		__attribute__((noinline)) static unsigned long spin(unsigned long n)
		{
			volatile unsigned long sum = 0;

			for (unsigned long i = 0; i < n; i++)
				sum += i;
			return sum;
		}

		int main(void)
		{
			while (clock() < CLOCKS_PER_SEC / 2)
				spin(100000);
			return 0;
		}
	C
	cc -O1 -g -o busy busy.c
	gprof-run -o plain -- ./busy 2>err
	says "gprof-run -s cpu -- PROGRAM    shows where CPU time goes" err
	page plain.gtrace >out
	gprof-run -s cpu -o cpu -- ./busy 2>err
	page cpu.gtrace >page
	grep -E "^ +[0-9]+ +[0-9.]+  spin \(busy.c\)$" page || fail "$(cat page)"
	says "gprof-trace report -r cpu_sum cpu.gtrace" page
	never_says "gprof-run -s cpu" page
'

it 'of training and of inference with PyTorch on the CPU: phases, operators, scopes' "$PAGE$JUDGE"'
	cat >net.py <<-"PY"
		import sys
		import time
		import torch
		net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
		if sys.argv[1] == "train":
		    sgd = torch.optim.SGD(net.parameters(), 0.1)
		    for i in range(12):
		        net(torch.randn(8, 64)).sum().backward()
		        sgd.step()
		        sgd.zero_grad()
		else:
		    with torch.inference_mode():
		        for i in range(20):
		            with torch.profiler.record_function("request"):
		                net(torch.randn(8, 64))
	PY
	for kind in torch torch-ops; do
		gprof-run -t $kind,nvtx -o $kind -- "$judge" net.py train >out 2>err || fail "$(tail -n 3 err)"
		page $kind.gtrace >page
		grep "^  phases    median step #[0-9]*, .*: forward .*backward" page || fail "$(cat page)"
		says "gprof-trace report -r phases $kind.gtrace" page
	done
	says "self self %      times     mean  PyTorch operator or scope, on the CPU" page
	gprof-run -t torch-ops,nvtx -o serve -- "$judge" net.py serve >out 2>err || fail "$(tail -n 3 err)"
	page serve.gtrace >page
	grep "^  scopes    request: 20 times, median [0-9.]* .s, slowest [0-9.]* .s" page || fail "$(cat page)"
	says "gprof-trace report -r ops serve.gtrace" page
'

it 'of a shell that starts many programs: one line, however many there are' "$PAGE"'
	gprof-run -o run -- sh -c "i=0; while [ \$i -lt 30 ]; do sh -c \"true; true\"; i=\$((i+1)); done" 2>err
	own err
	page run.gtrace >page
	grep "^  wrappers  [0-9]* processes that recorded nothing: [0-9]* sh" page || fail "$(cat page)"
	[ "$(wc -l <page)" -le 12 ] || fail "$(cat page)"
'

it 'of a trace with a long path, and of one with a long command' "$PAGE"'
	deep=$PWD
	for i in 1 2 3 4 5; do
		deep=$deep/a_folder_with_a_name_of_some_length
	done
	mkdir -p "$deep"
	gprof-run -o "$deep/run" -- sh -c "exit 3" one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen 2>err || true
	own err
	cd ..
	page "$deep/run.gtrace" >here/page
	cd here
	says "/run.gtrace" page
	says "ended     exit 3" page
	says "report -r processes TRACE" page
'
