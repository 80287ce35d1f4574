#!/bin/sh
# The injected object is a guest: outside lifecycle.c, which stands between the program and its end, these are never called in inject/.
# Comments and strings do not count.  check-guest.sh [FOLDER]: another tree, for the test of this script.
cd "${1:-$(dirname "$0")/..}" || exit 1
never='exit|_exit|_Exit|abort|assert|printf|fprintf|dprintf|vprintf|vfprintf|puts|fputs|perror|malloc|calloc|realloc|strdup|asprintf|system|popen|signal'
found=$(
	for file in inject/*.[ch]; do
		[ "${file##*/}" != lifecycle.c ] || continue
		${CC:-cc} -fpreprocessed -dD -E -P -w "$file" 2>/dev/null | sed 's/"\([^"\\]\|\\.\)*"/""/g' |
			grep -E "(^|[^[:alnum:]_.>])($never)[[:space:]]*\(" | sed "s|^|$file: |"
	done
)
[ -z "$found" ] && exit 0
printf '%s\n' "$found"
exit 1
