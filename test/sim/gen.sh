#!/bin/sh
# gen.sh INCLUDE_DIR OUT_DIR: writes tables of callback ids and result codes, taken from NVIDIA's headers.
set -eu
inc=$1 out=$2
mkdir -p "$out"
cbids() {
	sed -n "s/^ *CUPTI_$1_TRACE_CBID_\([A-Za-z_][A-Za-z0-9_]*\) *= *\([0-9][0-9]*\),*\$/\2 \1/p" "$inc/$2" |
	awk '$2 != "INVALID" && $2 != "SIZE" { printf "[%s] = \"%s\",\n", $1, $2 }'
}
cbids RUNTIME cupti_runtime_cbid.h >"$out/cbid_runtime.h"
cbids DRIVER cupti_driver_cbid.h >"$out/cbid_driver.h"
sed -n 's/^ *\(CUPTI_SUCCESS\|CUPTI_ERROR_[A-Z0-9_]*\) *= *\([0-9][0-9]*\),*$/{ \2, "\1" },/p' \
	"$inc/cupti_result.h" >"$out/cupti_results.h"
