# scripts/gpu-check.sh waits for a real GPU; that it works is shown on the simulated one.
# not sanitized: shell, and programs that other tests cover
. "$(dirname "$0")/lib.sh"

# The first one compiles a dozen programs.
LIMIT=240
it 'passes where our counts are those of the programs' '
	need nvcc
	need "$GPROF_BUILD/sim/libcuda.so.1"
	sh "$GPROF_TOP/scripts/gpu-check.sh" --sim --out "$PWD/out" >log 2>&1 || fail "$(tail -n 20 log)"
	says " 0 failed" log
	says "| counts-shared: kernel saxpy | 100 | 100 | ok |" out/*.md
	says "| counts-_exit-shared: kernels | 150 | 150 | ok |" out/*.md
	says "ns per launch" out/*.md
	never_says "$(hostname)" out/*.md
	find out -name "*.zst" -o -name "*.gz" | grep -q . || fail "no raw buffers were kept"
'

it 'names what failed where they differ' '
	need nvcc
	need "$GPROF_BUILD/sim/libcuda.so.1"
	mkdir -p build/bin
	ln -s "$GPROF_BUILD/lib" "$GPROF_BUILD/sim" "$GPROF_BUILD/gpu" "$GPROF_BUILD/test" build/
	cp "$GPROF_BUILD/bin/gprof-run" build/bin/
	printf "#!/bin/sh\n%s \"\$@\" | sed s/,100,/,99,/\n" "$GPROF_BUILD/bin/gprof-trace" >build/bin/gprof-trace
	chmod +x build/bin/gprof-trace
	GPROF_BUILD=$PWD/build exits 1 sh "$GPROF_TOP/scripts/gpu-check.sh" --sim --out "$PWD/out" >log 2>&1
	says "counts-shared: kernel saxpy: expected 100, got 99" log
	says "checks failed:" out/*.md
	says "| counts-shared: kernel saxpy | 100 | 99 | **FAILED** |" out/*.md
'

it 'refuses in one line where there is no GPU' '
	! nvidia-smi -L 2>/dev/null | grep -q "^GPU " || skip "there is a GPU here"
	exits 1 sh "$GPROF_TOP/scripts/gpu-check.sh" >log 2>&1
	is "gpu-check: no GPU here (nvidia-smi -L lists none)" "$(cat log)"
'
