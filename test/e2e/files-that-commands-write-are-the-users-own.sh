#!/bin/sh
# Files that export, import and report -o write: mode 0600, symbolic links are not followed, no temporary file remains.
. "$(dirname "$0")/lib.sh"
USE='need "$GPROF_BUILD/test/programs/sample_trace" "test programs are not built (make programs)"
"$GPROF_BUILD/test/programs/sample_trace" one.gtrace one >has
umask 0
gzip -dc "$GPROF_TOP"/test/data/kineto/base/host0*.gz >in.json
mode() { stat -c %a "$1"; }
# COMMANDS: one a line, FILE stands for what is written; each writes over it.
each() {
	sed "s/FILE/$1/" <<-END
		gprof-trace export -f -o FILE one.gtrace
		gprof-trace import -f -o FILE in.json
		gprof-trace report -r cuda_api_sum -f csv -o FILE one.gtrace
	END
}
'

it 'are of mode 0600, and beside them stands nothing' "$USE"'
	each out.gtrace | while read -r command; do
		rm -f out.gtrace
		echo mine >out.gtrace.part
		$command >said 2>&1 || fail "$command: $(cat said)"
		is 600 "$(mode out.gtrace)" "mode after $command"
		is mine "$(cat out.gtrace.part)" "a file of the user after $command"
		is "" "$(ls -A | grep "^\.")" "what else is there after $command"
	done
'

it 'take the place of a link, and what it names stays as it is' "$USE"'
	each out.gtrace | while read -r command; do
		echo mine >victim
		ln -sf victim out.gtrace
		ln -sf victim out.gtrace.part
		$command >said 2>&1 || fail "$command: $(cat said)"
		is mine "$(cat victim)" "what the link named after $command"
		[ ! -L out.gtrace ] || fail "a link is there after $command"
	done
'

it 'take the place of a file only with -f, and a link to nowhere is one' "$USE"'
	ln -s nowhere out.gtrace
	exits 1 gprof-trace export -o out.gtrace one.gtrace 2>err
	says "exists; -f" err
	exits 1 gprof-trace import -o out.gtrace in.json 2>err
	says "exists; -f" err
	[ ! -e nowhere ] || fail "the link was followed"
	is "" "$(ls -A | grep "^\.")" "what else is there"
'

it 'go into devices and pipes as they are' "$USE"'
	mkfifo pipe
	cat pipe >got &
	exits 0 gprof-trace export -o pipe one.gtrace >said
	wait $!
	grep -q traceEvents got
	[ -p pipe ] || fail "the pipe is gone"
	exits 0 gprof-trace report -r cuda_api_sum -f csv -o /dev/null one.gtrace
'

it 'are not there when writing failed or was ended' "$USE"'
	exits 1 sh -c "ulimit -f 1; exec gprof-trace export -o out.json one.gtrace" 2>err
	exits 1 gprof-trace import -o out "$GPROF_TOP/README.md" 2>err
	is "" "$(ls -A | grep -e "^\." -e out)" "what is there after failures"
	seq 300000 | awk "BEGIN { print \"{\\\"traceEvents\\\": [\" }
		{ printf \"%s{\\\"ph\\\":\\\"X\\\",\\\"cat\\\":\\\"cpu_op\\\",\\\"name\\\":\\\"op\\\",\\\"pid\\\":1,\\\"tid\\\":1,\\\"ts\\\":%d,\\\"dur\\\":1}\\n\", (NR > 1 ? \",\" : \"\"), NR * 3 }
		END { print \"]}\" }" >long.json
	gprof-trace import -o out long.json >said 2>&1 &
	pid=$!
	until ls -A | grep -q -e "^\.gprof" -e "^out.gtrace$"; do kill -0 $pid || break; done
	kill -TERM $pid 2>/dev/null || :
	wait $pid || :
	is "" "$(ls -A | grep "^\.")" "what is there after a signal"
'
