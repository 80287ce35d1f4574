#!/bin/sh
# Python scripts call the stack walker of inject/python/*.c; compared with the stacks that each CPython of this machine prints.
. "$(dirname "$0")/lib.sh"
LIMIT=600

ready='
	. "$GPROF_TOP/test/e2e/pythons.sh"
	lib=$GPROF_BUILD/test/programs/libpywalk.so
	need "$lib" "test programs are not built (make host-programs)"
	[ "$(pythons 8)" ] || { echo "no CPython 3.8 to 3.14 here"; exit 77; }
'

it 'finds the frames, names, files and lines of traceback.extract_stack() in two thousand shapes of calls' "$ready"'
	for python in $(pythons 8); do
		"$python" -W ignore "$GPROF_TOP/test/e2e/pywalk_check.py" "$lib" 0.3 >out 2>&1 || { cat out; fail "$python"; }
	done
'

it 'gives fewer frames and no crash for wrong layouts, garbage, several interpreters, a fork and the end of Python' "$ready"'
	for python in $(pythons 8); do
		"$python" -W ignore "$GPROF_TOP/test/e2e/pywalk_torture.py" "$lib" >out 2>&1 || { cat out; fail "$python"; }
	done
'
