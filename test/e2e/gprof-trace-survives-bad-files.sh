#!/bin/sh
. "$(dirname "$0")/lib.sh"
SAMPLE='need "$GPROF_BUILD/test/programs/sample_trace" "test programs are not built (make programs)"
sample() { "$GPROF_BUILD/test/programs/sample_trace" "$1.gtrace" "$1" >"$1.has"; }
one_line() { is 1 "$(wc -l <err)" "lines on stderr"; says "gprof-trace: " err; }
'

it 'files that are no traces get one line each, in every command' "$SAMPLE"'
	: >empty.gtrace
	mkdir folder.gtrace
	echo hello >text.gtrace
	printf "{\"traceEvents\": []}" >json.gtrace
	head -c 100000 /dev/urandom >noise.gtrace
	truncate -s 4G sparse.gtrace
	for file in empty folder text json noise sparse missing; do
		for command in report "report -r cuda_api_sum" info "export -o -" check dump recover; do
			# shellcheck disable=SC2086
			exits 1 gprof-trace $command $file.gtrace >out 2>err
			one_line
			says "$file.gtrace" err
		done
	done
	[ "$(id -u)" = 0 ] && exit
	: >closed.gtrace && chmod 0 closed.gtrace
	exits 1 gprof-trace report closed.gtrace 2>err
	says "Permission denied" err
'

it 'a trace of a newer format is refused with its number' "$SAMPLE"'
	sample one
	printf "\002" | dd of=one.gtrace bs=1 seek=8 conv=notrunc 2>/dev/null
	python3 - <<-END || skip "needs python3"
	import struct, zlib
	head = bytearray(open("one.gtrace", "rb").read(8 + 8 + 8 + 16 + 16 + 64 + 8))
	head[-4:] = struct.pack("<I", zlib.crc32(bytes(head[:-4])))
	f = open("one.gtrace", "r+b")
	f.write(head)
	END
	exits 1 gprof-trace report one.gtrace 2>err
	one_line
	says "has format 2; this program reads up to 1, use a newer one" err
'

it 'a damaged chunk in the middle costs its own rows, and they are named' "$SAMPLE"'
	need python3
	sample one
	gprof-trace report -r cuda_gpu_kern_sum -f csv one.gtrace >want 2>/dev/null
	at=$(gprof-trace check one.gtrace >/dev/null; python3 -c "
data = open(\"one.gtrace\", \"rb\").read()
import struct
at, out = 0, None
while True:
	at = data.find(struct.pack(\"<Q\", 0x6b6e756863746721), at)
	if at < 0: break
	if struct.unpack_from(\"<H\", data, at + 16)[0] == 30: out = at + 100      # the API chunk, behind its header
	at += 8
print(out)")
	printf "\377\376" | dd of=one.gtrace bs=1 seek="$at" conv=notrunc 2>/dev/null
	gprof-trace report -r cuda_gpu_kern_sum -f csv one.gtrace 2>err >got
	same want got
	gprof-trace report -r cuda_api_sum one.gtrace >got 2>err
	says "is damaged: chunk of 8 api rows of process 1 cannot be read" err
	says "no CUDA calls: a part of the file cannot be read" got
	exits 0 gprof-trace report one.gtrace >got 2>/dev/null
	exits 0 gprof-trace export -o x.json one.gtrace >got 2>err
	says "is damaged: chunk of 8 api rows" err
	gprof-trace dump one.gtrace >got 2>err
	says "is damaged: chunk of 8 api rows" err
	exits 1 gprof-trace check one.gtrace >got
	says "damaged" got
	says "chunk of 8 api rows of process 1" got
'

it 'a file cut off is read up to its last whole chunk, and recover finishes it' "$SAMPLE"'
	sample one
	head -c $(($(stat -c %s one.gtrace) - 3000)) one.gtrace >cut.gtrace
	exits 0 gprof-trace report -r processes cut.gtrace >out 2>err
	exits 1 gprof-trace check cut.gtrace >out
	says "gprof-trace recover cut.gtrace" out
	gprof-trace dump cut.gtrace 2>/dev/null | sort >before
	exits 0 gprof-trace recover cut.gtrace >out
	says "header and index are rewritten" out
	gprof-trace dump cut.gtrace 2>/dev/null | sort >after
	same before after
	exits 2 gprof-trace recover 2>err
	says "it needs its name" err
'

it 'a file cut off inside its index is whole again after recover' "$SAMPLE"'
	sample one
	head -c $(($(stat -c %s one.gtrace) - 100)) one.gtrace >cut.gtrace
	exits 1 gprof-trace check cut.gtrace >out
	says "the index, cut off" out
	never_says "at least 0 rows" out
	gprof-trace report cut.gtrace >out 2>err
	says "cut off" out
	gprof-trace recover cut.gtrace
	exits 0 gprof-trace check cut.gtrace
	gprof-trace dump one.gtrace >want
	gprof-trace dump cut.gtrace >got
	same want got
'

it 'a file that becomes shorter while it is read ends it with one line' "$SAMPLE"'
	need python3 "python3 makes a long file, and waits for what reads it"
	python3 -c "
print(\"{\\\"traceEvents\\\": [\")
for i in range(60000):
	print(\"{\\\"ph\\\": \\\"X\\\", \\\"cat\\\": \\\"user_annotation\\\", \\\"name\\\": \\\"n%d\\\", \\\"pid\\\": 1, \\\"tid\\\": 1, \\\"ts\\\": %d, \\\"dur\\\": 1},\" % (i, i * 2))
print(\"{}]}\")" >long.json
	exits 0 gprof-trace import -o long.gtrace long.json 2>err
	mkfifo door
	gprof-trace dump long.gtrace >door 2>err &
	reader=$!
	exec 9<door
	head -c 1000 <&9 >some         # it has begun, and waits for a reader
	: >long.gtrace
	cat <&9 >rest
	exec 9<&-
	status=0
	wait $reader || status=$?
	is 1 $status "exit status"
	one_line
	says "a file was truncated, or its disk failed, during reading" err
'
