#!/bin/sh
# release-glibc.sh FOLDER: prints "VERSION FILE" for each binary: the highest glibc version that it needs.  Fails above 2.28.
set -u
newest=2.28
command -v readelf >/dev/null || { echo "release-glibc.sh: needs readelf (binutils)"; exit 77; }
found=$(
	find "$1" -type f | LC_ALL=C sort | while read -r file; do
		readelf -h "$file" >/dev/null 2>&1 || continue
		version=$(readelf -VW "$file" | grep -oE 'Name: GLIBC_[0-9.]+' | sed 's/.*_//' | sort -V | tail -n 1)
		echo "${version:-none} $file"
	done
)
[ "$found" ] || { echo "release-glibc.sh: no program in $1"; exit 1; }
printf '%s\n' "$found"
highest=$(printf '%s\n%s\n' "$newest" "$(printf '%s\n' "$found" | sed 's/ .*//')" | grep -v none | sort -V | tail -n 1)
[ "$highest" = "$newest" ] || { echo "release-glibc.sh: glibc $highest is needed, more than $newest"; exit 1; }
