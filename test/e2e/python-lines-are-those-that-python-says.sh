#!/bin/sh
# trace/pyline.c maps an instruction to a line; compared with each CPython installed on this machine.
. "$(dirname "$0")/lib.sh"

it 'gives every instruction of the standard library the line that its Python gives it' '
	. "$GPROF_TOP/test/e2e/pythons.sh"
	lib=$GPROF_BUILD/test/programs/libpyline.so
	need "$lib" "test programs are not built (make host-programs)"
	[ "$(pythons 8)" ] || { echo "no CPython 3.8 to 3.14 here"; exit 77; }
	for python in $(pythons 8); do
		"$python" "$GPROF_TOP/test/e2e/pyline_check.py" "$lib" >out 2>&1 || { cat out; fail "$python"; }
	done
'
