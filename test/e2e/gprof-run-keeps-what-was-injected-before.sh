# Objects that the user preloads or injects are kept; the injected object of gprof-run is added once.
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'keeps what was preloaded or injected before' '
	LD_PRELOAD=libm.so.6 CUDA_INJECTION64_PATH=/other/cuda.so NVTX_INJECTION64_PATH=/other/nvtx.so \
		gprof-run -q -o run -- /usr/bin/env >got 2>err
	says "libgprof_inject.so:libm.so.6" got
	says GPROF_NEXT_CUDA_INJECTION=/other/cuda.so got
	says GPROF_NEXT_NVTX_INJECTION=/other/nvtx.so got
	gprof-run -q -o run -f -e LD_PRELOAD=/x/libasan.so.8 -- /usr/bin/env >got 2>err || :
	gprof-run -q -o run -f -- gprof-run -q -o inner -- /usr/bin/env >got 2>err
	is 1 "$(grep -c "^LD_PRELOAD=[^:]*$" got)" "the number of preloaded objects"
	never_says GPROF_NEXT got
'
