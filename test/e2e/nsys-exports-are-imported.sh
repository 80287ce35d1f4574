#!/bin/sh
. "$(dirname "$0")/lib.sh"
TOOLS='
need python3
export_of() { python3 "$GPROF_TOP/test/e2e/nsys_export.py" "$@" || skip "python3 has no sqlite3"; }
'

it 'the processes of an export of nsys are those of the trace' "$TOOLS"'
	export_of t.sqlite
	gprof-trace import -q t.sqlite 2>err || { grep -q "is not installed" err && skip "$(cat err)"; fail "$(cat err)"; }
	gprof-trace dump t.gtrace >out
	is 2 "$(grep -c "^process " out)" "processes"
	is 6 "$(grep -c "^kernel .*name=\"_Z1kIiEvPi\" .*stream=7" out)" "kernels"
	is 8 "$(grep -c "^api " out)" "calls"
	says "kernel process=2 start=1700000000000007000 duration=701 " out
	says "grid_x=10 grid_y=2 grid_z=1 block_x=128 block_y=1 block_z=1 static_shared=48 dynamic_shared=16 registers=32" out
	says "bytes=4096 graph_node=0 corr=9 device=0 context=1 stream=7 kind=1 src_kind=2 dst_kind=3" out
	grep -q "^thread .*tid=4001.*name=\"trainer\"\|^thread .*tid=4001 .*trainer" out || fail "$(grep ^thread out)"
	gprof-trace report -r cuda_gpu_kern_sum,cuda_api_sum --format csv t.gtrace >got
	gprof-trace report -r cuda_gpu_kern_sum,cuda_api_sum --format csv t.sqlite | cmp - got
	says ",4203,6," got || grep -q "4203" got || fail "$(cat got)"
'

it 'ranges of nsys lie in each other as in the program' "$TOOLS"'
	export_of t.sqlite
	gprof-trace import -q t.sqlite 2>err || { grep -q "is not installed" err && skip "$(cat err)"; fail "$(cat err)"; }
	gprof-trace dump --process 1 t.gtrace >out
	inner=$(sed -n "s/^range .* id=\([0-9]*\) .*name=\"registered\".*/\1/p" out)
	is 3 "$(grep -c "^api .*range=$inner " out)" "calls in the inner range"
	grep -q "^range .*name=\"request\" .*flags=0x1" out || fail "$(grep ^range out)"
	grep -q "^mark .*range=$inner .*name=\"here\"" out || fail "$(grep ^mark out)"
	gprof-trace report -r nvtx_pushpop_sum --format csv t.gtrace >got
	says "library:registered" got
	says ":step" got
'

it 'graphs, memory, unified memory, libraries, OS calls, stacks and samples of nsys are rows' "$TOOLS"'
	export_of t.sqlite all
	gprof-trace import -q t.sqlite 2>err || { grep -q "is not installed" err && skip "$(cat err)"; fail "$(cat err)"; }
	gprof-trace dump --process 1 t.gtrace >out
	step=$(sed -n "s/^range .* id=\([0-9]*\) .*name=\"registered\".*/\1/p" out)
	grep -q "^graph .* duration=1000 corr=30 .* graph=5 " out || fail "$(grep ^graph out)"
	grep -q "^graph_node .* node=100 original=0 range=$step " out || fail "$(grep ^graph_node out)"
	grep -q "^graph_node .* node=200 original=100 " out || fail "$(grep ^graph_node out)"
	is 2 "$(grep -c "^memory .* address=0x1000 bytes=1000 " out)" "memory"
	is 1 "$(grep -c "^memory .* operation=2 mem_kind=3 " out)" "releases"
	is "3 4 1" "$(sed -n "s/^unified .* kind=\([0-9]*\) .*/\1/p" out | tr "\n" " " | sed "s/ $//")" "unified memory"
	is 1 "$(grep -c "^memcpy" out)" "copies: a migration is none"
	says "stream process=1 id=7 context=1 priority=-2 flags=2" out
	says "category process=1 domain=1 id=3 name=\"loading\"" out
	grep -q "^range .* payload=42 .* name=\"with a number\" color=0xff00ff00 payload_type=1 " out || fail "$(grep number out)"
	says "rank=3" out
	for report in stacks cpu_sum lib_api_sum nvtx_startend_sum um_total_sum; do
		gprof-trace report -r $report --format csv t.gtrace >got.$report 2>said.$report
		gprof-trace report -r $report --format csv t.sqlite 2>said | cmp - got.$report
	done
	says "700,300,1,1,0,2,,,leaf (libx.so) <- main (prog)" got.stacks
	says "leaf,/lib/libx.so,,2,2,66.7,66.7" got.cpu_sum
	gprof-trace report --process 1 t.gtrace >page
	says "unexpected values: a payload with" page
	never_says "next: nothing" page
	gprof-trace report --process 2 t.gtrace >page
	grep -q "sampled  *recorded by nsys (rate unknown)" page || fail "$(cat page)"
	says "cuBLAS:cublasSgemm" got.lib_api_sum
	says "OS runtime:poll" got.nvtx_startend_sum
	never_says "not recorded" said.um_total_sum
	gprof-trace report -r health --format csv t.gtrace >got
	says "GPU_METRICS, SCHED_EVENTS" got
	says ",import_tables,3," got
'

it 'columns and tables that an export has not are not known' "$TOOLS"'
	export_of t.sqlite old
	gprof-trace import -q t.sqlite 2>err || { grep -q "is not installed" err && skip "$(cat err)"; fail "$(cat err)"; }
	gprof-trace dump --kind kernel t.gtrace >out
	is 6 "$(grep -c "name=\"k<int>(int\*)\"" out)" "kernels"
'

it 'other databases are refused with one line' "$TOOLS"'
	python3 -c "import sqlite3; d = sqlite3.connect(\"x.sqlite\"); d.execute(\"CREATE TABLE t (a)\"); d.commit()" || skip "python3 has no sqlite3"
	exits 1 gprof-trace report x.sqlite 2>err
	is 1 "$(wc -l <err)" "lines"
	grep -q "is not installed" err && skip "$(cat err)"
	says "not an nsys export" err
	head -c 5000 x.sqlite >cut.sqlite
	export_of t.sqlite
	head -c 9000 t.sqlite >cut.sqlite
	exits 1 gprof-trace report cut.sqlite 2>err
	is 1 "$(wc -l <err)" "lines"
	says "malformed" err
'

it 'an export of hardly anything, and one that is a trap, end with what is there' "$TOOLS"'
	python3 - <<-END || skip "python3 has no sqlite3"
		import sqlite3
		columns = "start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER"
		bare, trap = sqlite3.connect("bare.sqlite"), sqlite3.connect("trap.sqlite")
		bare.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (" + columns + ")")
		bare.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 2000, 281542086098848, 1)")
		bare.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 281542086098848, 1)", (-2**63, 2**63 - 1))
		bare.commit()
		trap.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
		trap.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL "
		             "SELECT start + 1 FROM n) SELECT start, start + 1 AS end, 281542086098848 AS globalTid FROM n")
		trap.commit()
	END
	exits 1 gprof-trace report bare.sqlite 2>err
	is 1 "$(wc -l <err)" "lines"
	grep -q "is not installed" err && skip "$(cat err)"
	says "before 1970" err
	python3 -c "import sqlite3; d = sqlite3.connect(\"bare.sqlite\"); d.execute(\"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE start < 0\"); d.commit()"
	gprof-trace import -q bare.sqlite
	gprof-trace dump --kind api bare.gtrace >out
	is 1 "$(grep -c "duration=1000 .*corr=1" out)" "calls"
	exits 1 timeout 20 gprof-trace report trap.sqlite 2>err
	says "an nsys export without CUDA calls" err
'

it 'a database that computes its values, or whose pages hang below themselves, is refused and costs little' "$TOOLS"'
	python3 - <<-END || skip "python3 has no sqlite3"
		import os, sqlite3, struct, sys
		columns = "start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER"
		if sqlite3.sqlite_version_info < (3, 31):
		    sys.exit(1)
		made = sqlite3.connect("made.sqlite")
		made.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (" + columns + ", nameId AS (length(hex(zeroblob(200000000)))))")
		made.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 281542086098848, 1)", [(i, i + 1) for i in range(9)])
		made.commit()
		deep = sqlite3.connect("deep.sqlite")
		deep.execute("PRAGMA page_size = 512")
		tables = ["CUPTI_ACTIVITY_KIND_RUNTIME"] + ["T%d" % i for i in range(9)]
		for table in tables:
		    deep.execute("CREATE TABLE " + table + " (" + columns + ")")
		    deep.executemany("INSERT INTO " + table + " VALUES (?, ?, 281542086098848, 1)", [(i, i + 1) for i in range(500)])
		deep.commit()
		roots = [deep.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0] for table in tables]
		deep.close()
		file = bytearray(open("deep.sqlite", "rb").read())
		for page, below in zip(roots, roots[1:]):
		    at = (page - 1) * 512
		    cells = struct.unpack_from(">H", file, at + 3)[0]
		    assert file[at] == 5 and cells > 5
		    for place in [at + 8] + [at + struct.unpack_from(">H", file, at + 12 + 2 * i)[0] for i in range(cells)]:
		        struct.pack_into(">I", file, place, below)
		open("deep.sqlite", "wb").write(file)
	END
	cat >cost.py <<-END
		import os, resource, subprocess, sys
		p = subprocess.Popen(["gprof-trace", "report", sys.argv[1]], stdout=subprocess.DEVNULL,
		                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)))
		_, status, used = os.wait4(p.pid, 0)
		if used.ru_maxrss >> 10 > 300 or not os.WIFEXITED(status):
		    print(sys.argv[1], "status", status, used.ru_maxrss >> 10, "MiB")
		sys.exit(os.WEXITSTATUS(status))
	END
	for file in made deep; do
		exits 1 python3 cost.py $file.sqlite 2>err >bad
		[ ! -s bad ] || fail "$(cat bad)"
		grep -q "is not installed" err && skip "$(cat err)"
		is 1 "$(wc -l <err)" "lines"
		case $file in
		made) says "table CUPTI_ACTIVITY_KIND_RUNTIME has generated columns, so nsys did not write it" err ;;
		deep) says "CUPTI_ACTIVITY_KIND_RUNTIME: its tables are larger than the file" err ;;
		esac
	done
'
