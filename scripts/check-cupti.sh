#!/bin/sh
# inject/cupti/cupti_abi.h declares the parts of CUPTI that inject/ uses.  Compares it with NVIDIA's headers, where these are installed, by static
# assertions.
cd "$(dirname "$0")/.." || exit 1
CUDA=${CUDA:-${CUDA_HOME:-/usr/local/cuda}}
check=$(find inject test/unit -name '*cupti_abi*.c' | head -n 1)
[ "$check" ] || { echo "there is no cupti_abi_check.c"; exit 1; }
for folder in "$CUDA/include" "$CUDA/extras/CUPTI/include"; do
	[ -e "$folder/cupti_activity.h" ] && headers="${headers-} -isystem $folder"
done
[ "${headers-}" ] || { echo "NVIDIA's CUPTI headers are not here"; exit 77; }
# shellcheck disable=SC2086
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -iquote . $headers -isystem "$CUDA/include" -fsyntax-only "$check"
