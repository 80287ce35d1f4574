#!/bin/sh
# The injected object is a guest in the program: inject/ must not call the functions in $never, except lifecycle.c, which interposes some of
# them.  Comments and strings are ignored.  Also: no function has a large stack frame (.su files of the build).
# check-guest.sh [FOLDER]: checks another tree; used by the test of this script.
cd "${1:-$(dirname "$0")/..}" || exit 1
never='exit|_exit|_Exit|abort|assert|printf|fprintf|dprintf|vprintf|vfprintf|puts|fputs|perror|malloc|calloc|realloc|strdup|asprintf|system|popen|signal'
# Most bytes of one stack frame.  All frames of a hook together take at most 1.5 KiB (docs/reference/limits.md), which tests measure.
most=1024
# Functions with larger frames, lines "file:function reason": they run only on threads of the injected object, are not called in the guest,
# or replace a libc function with a frame as large.
larger='
inject/core/carrier.c:is_last the thread of the carrier alone asks whether it is the last one
trace/config.c:parse_line the guest is given its configuration as a struct, and parses none
inject/process/child_env.c:search execvp() of libc has the path that it tries on the stack, too
inject/process/lifecycle.c:execl the list of arguments, which libc has on the stack, too, and the environment of the child
inject/process/lifecycle.c:execlp as execl()
inject/process/lifecycle.c:execle as execl()
inject/process/lifecycle.c:execve the environment of the child: after vfork() it must not lie in memory of the parent
inject/process/lifecycle.c:execvpe as execve()
inject/process/lifecycle.c:execveat as execve()
inject/process/lifecycle.c:fexecve as execve()
inject/process/lifecycle.c:posix_spawn as execve()
inject/process/lifecycle.c:posix_spawnp as execve()
'
without_comments=$(mktemp) || exit 1
trap 'rm -f "$without_comments"' EXIT
words() {
	for file in inject/*/*.[ch]; do
		[ "${file##*/}" != lifecycle.c ] || continue
		if ! ${CC:-cc} -fpreprocessed -dD -E -P -w "$file" >"$without_comments" || ! [ -s "$without_comments" ]; then
			echo "$file: ${CC:-cc} cannot read it, so it was not checked"
			continue
		fi
		sed 's/"\([^"\\]\|\\.\)*"/""/g' "$without_comments" |
			grep -E "(^|[^[:alnum:]_.>])($never)[[:space:]]*\(" | sed "s|^|$file: |"
	done
}
# Lines of a .su file: FILE:LINE:COLUMN:FUNCTION, bytes, "static" or "dynamic" or "dynamic,bounded".
frames() {
	for file in inject/*/*.c trace/*.c trace/*/*.c; do
		su=${B:-build}/pic/${file%.c}.su
		if [ ! -s "$su" ]; then
			case $file in
			inject/*) ! grep -qs '^{' "$file" || echo "$file: there is no $su, so its stack was not checked: run 'make'" ;;
			esac
			continue
		fi
		awk -F '\t' -v most="$most" -v larger="$larger" -v file="$file" '
			{
				n = split($1, at, ":")
				sub(/\.(constprop|isra|part|cold).*/, "", at[n])
				named = index(larger, "\n" file ":" at[n] " ")
			}
			$2 > most && !named {
				print file ":" at[2] ": " at[n] "() takes " $2 " bytes of the stack, more than " most ": use inject/core/scratch.h"
			}
			$3 == "dynamic" && !named {
				print file ":" at[2] ": " at[n] "() takes as much of the stack as its caller says: use inject/core/scratch.h"
			}' "$su"
	done
}
found=$(words; frames)
[ -z "$found" ] && exit 0
printf '%s\n' "$found"
exit 1
