#!/bin/sh
# -t cublas,cudnn,cusparse,cusolver: NVTX ranges of these libraries.  A stand-in library calls NVTX as cuBLAS does.
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'switches the libraries on for the program, and leaves what the user has set' '
	gprof-run -q -o run -t cublas,cudnn,cusparse-verbose,cusolver -e CUDNN_NVTX_LEVEL=0 -- /usr/bin/env >got 2>err
	for value in CUBLAS_NVTX_LEVEL=1 CUBLASLT_NVTX_LEVEL=1 CUBLASXT_NVTX_LEVEL=1 CUDNN_NVTX_LEVEL=0 CUSPARSE_NVTX_LEVEL=2 \
		CUSOLVERDN_NVTX_LEVEL=2; do
		says "$value" got
	done
	never_says "not recorded" err
	gprof-run -q -f -o run -- /usr/bin/env >got 2>err
	never_says NVTX_LEVEL got
'

it 'the calls of a library are a track of their own, apart from the ranges of the program' '
	program=$GPROF_BUILD/test/programs/nvtx_library library=$GPROF_BUILD/test/programs/libcublas_standin.so
	need "$program" "NVTX programs are not built"
	gprof-run -q -o run -t nvtx,cublas -- "$program" "$library" 7
	gprof-trace report -r lib_api_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" >actual
	is "cuBLAS:cublasSgemm_v2,7" "$(cat actual)" "the calls"
	gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace 2>notes | tail -n +2 | awk -F, "{ print \$9 \",\" \$3 }" | sort >actual
	is ":layer,1 mine:own domain,1" "$(paste -sd" " actual)" "the ranges"
	says "ranges of CUDA libraries, listed in lib_api_sum (nvtx_pushpop_sum:all includes them here): 7" notes
	gprof-trace report -r nvtx_pushpop_sum:all --format csv run.gtrace | grep -q "cuBLAS:cublasSgemm_v2" || fail "not in :all"
	gprof-trace export -o run.json run.gtrace 2>err
	python3 - run.json <<-PY
		import json, sys
		calls = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e.get("cat") == "cuda_library"]
		assert len(calls) == 7 and all(e["name"] == "cublasSgemm_v2" for e in calls), calls
	PY
'

it '-t cublas alone records the library and no ranges of the program' '
	program=$GPROF_BUILD/test/programs/nvtx_library library=$GPROF_BUILD/test/programs/libcublas_standin.so
	need "$program" "NVTX programs are not built"
	gprof-run -q -o run -t cublas -- "$program" "$library" 3
	gprof-trace report -r nvtx_sum:all --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$10 \",\" \$3 }" >actual
	is "cuBLAS:cublasSgemm_v2,3" "$(cat actual)" "all ranges"
	is 0 "$(gprof-trace dump -k mark run.gtrace | wc -l)" "marks"
	gprof-trace report -r health run.gtrace >health 2>&1
	never_says pop_without_push health
	never_says library_silent health
'

it 'a library that was loaded but stayed silent is named, and why' '
	program=$GPROF_BUILD/test/programs/nvtx_library library=$GPROF_BUILD/test/programs/libcublas_standin.so
	need "$program" "NVTX programs are not built"
	gprof-run -q -o run -t nvtx,cublas,cudnn -e CUBLAS_NVTX_LEVEL=0 -- "$program" "$library" 3
	gprof-trace dump -k health run.gtrace >health
	says "libcublas (CUBLAS_NVTX_LEVEL is 0)" health
	never_says libcudnn health
	gprof-run -q -f -o run -t nvtx,cublas -- "$program" "$library" 0
	gprof-trace dump -k health run.gtrace >health
	says "libcublas (not called, or has no NVTX)" health
	gprof-run -q -f -o run -t nvtx,cublas -- env -u CUBLAS_NVTX_LEVEL "$program" "$library" 2
	gprof-trace dump -k health run.gtrace >health
	says "libcublas (CUBLAS_NVTX_LEVEL is not set)" health
'
