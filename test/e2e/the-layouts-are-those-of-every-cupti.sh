# The table of record layouts, compared with NVIDIA's headers: of the installed toolkit and of wheels from PyPI.
. "$(dirname "$0")/lib.sh"
LIMIT=600       # 10 MB a release, once

releases='nvidia-cuda-cupti-cu11==11.8.87 nvidia-cuda-cupti-cu12==12.1.105 nvidia-cuda-cupti-cu12==12.4.127
	nvidia-cuda-cupti-cu12==12.8.90 nvidia-cuda-cupti-cu12==12.9.79 nvidia-cuda-cupti==13.0.85
	nvidia-cuda-cupti==13.1.115 nvidia-cuda-cupti==13.2.86 nvidia-cuda-cupti==13.3.75 nvidia-cuda-cupti==13.4.92 nvidia-cuda-cupti==13.5.25'

it 'reads the records of the installed toolkit where they are' '
	need python3
	need /usr/local/cuda/include/cupti_activity.h "no CUPTI headers in /usr/local/cuda"
	cd "$GPROF_TOP"
	python3 test/unit/inject/abi/against_headers.py /usr/local/cuda/include
'

for release in $releases; do
	it "reads the records of $release where they are" "release=$release"'
		need "$GPROF_BUILD/judges/bin/python" "no environment to fetch wheels with"
		need unzip
		need /usr/local/cuda/include/cuda.h "no cuda.h in /usr/local/cuda"
		kept=$GPROF_BUILD/cupti-headers/$release
		if [ ! -d "$kept" ]; then
			timeout 60 "$GPROF_BUILD/judges/bin/python" -m pip download -q --no-deps --only-binary=:all: -d . "$release" >log 2>&1 ||
				skip "$release cannot be had: $(tail -n 1 log)"
			unzip -q -o ./*.whl -x "*.so*" -d wheel
			mkdir -p "$GPROF_BUILD/cupti-headers"
			mv wheel/nvidia/*/include "$kept"
		fi
		cd "$GPROF_TOP"
		python3 test/unit/inject/abi/against_headers.py "$kept"
	'
done
