#!/bin/sh
# Layers of the source (docs/explanation/architecture.md): prints each include that its layer does not allow, and fails.
# check-layers.sh [FOLDER]: checks another tree; used by the test of this script.
cd "${1:-$(dirname "$0")/..}" || exit 1
found=$(
	grep -rHoE '^#[[:space:]]*include "[^"]+' --include='*.[ch]' --include='*.def' trace inject collector cli |
		sed 's/:#[[:space:]]*include "/ /' |
		while read -r file inc; do
			case "$file $inc" in
			trace/*' trace/'* | inject/*' inject/'* | collector/*' collector/'*) ;;
			# inject/ uses the wire protocol, not trace files or zstd.
			inject/*' trace/file.h' | inject/*' trace/reader'*.h | inject/*' trace/columns'*.h)
				echo "$file: may not include \"$inc\"" ;;
			inject/*' trace/'*) ;;
			collector/*' trace/'*) ;;
			cli/analyze/*' cli/analyze/'* | cli/export/*' cli/export/'* | cli/import/*' cli/import/'*) ;;
			cli/analyze/*' cli/model/'* | cli/export/*' cli/model/'* | cli/import/*' cli/model/'*) ;;
			# Importers write trace files.
			cli/import/*' trace/'*) ;;
			cli/model/*' cli/model/'* | cli/model/*' trace/'* | cli/model/*' cli/fail.h') ;;
			# Readers of program files use neither model nor trace, except the checksum of trace/file.h.
			cli/symbols/*' cli/symbols/'* | cli/symbols/*' trace/file.h') ;;
			cli/model/*' cli/symbols/symbols.h' | cli/model/*' cli/symbols/demangle.h') ;;
			cli/*/*' trace/grow.h') ;;
			cli/*/*' trace/records.h' | cli/*/*' trace/health.'* | cli/*/*' cli/fail.h') ;;
			cli/analyze/*' cli/table.h' | cli/export/*' cli/json_out.h' | cli/analyze/*' cli/json_out.h') ;;
			cli/analyze/* | cli/export/* | cli/import/* | cli/model/* | cli/symbols/*)
				echo "$file: may not include \"$inc\"" ;;
			cli/*' trace/'* | cli/*' cli/'*) ;;
			*) echo "$file: may not include \"$inc\"" ;;
			esac
		done
	# NVIDIA's headers are not used; zstd only in trace/, zlib only in two files of cli/.
	grep -rHE '^#[[:space:]]*include <(cuda|cupti|nvtx|nvToolsExt|generated_)' --include='*.[ch]' trace inject collector cli
	grep -rHE '^#[[:space:]]*include <zstd' --include='*.[ch]' inject collector cli
	grep -rHE '^#[[:space:]]*include <zlib' --include='*.[ch]' trace inject collector cli | grep -vE '^cli/(import/inflate|gzip)\.c:'
)
[ -z "$found" ] && exit 0
printf '%s\n' "$found"
exit 1
