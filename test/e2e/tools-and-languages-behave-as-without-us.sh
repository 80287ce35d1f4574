#!/bin/sh
# Debuggers, tracers and interpreters behave the same under gprof-run: exit status, standard output, standard error, time.
#
# Exceptions: process ids that gdb prints differ.  The time of strace -f, gdb and valgrind is not compared: they slow down the start of the
# injected object.
. "$(dirname "$0")/lib.sh"

row() {
	name=$1
	shift
	it "$name" ". \"\$GPROF_TOP/test/e2e/alike.sh\"
PROGRAM=\$GPROF_BUILD/test/programs/scenarios
$*"
}

row 'valgrind' 'need valgrind; need "$PROGRAM" "NVTX programs are not built"; UNTIMED=1 alike valgrind -q --error-exitcode=9 "$PROGRAM" hello'
row 'strace -f' 'need strace; need "$PROGRAM" "NVTX programs are not built"; UNTIMED=1 alike strace -f -o trace -e trace=none "$PROGRAM" forks'
row 'gdb' 'need gdb; need "$PROGRAM" "NVTX programs are not built"
	EXCEPT="s/(process [0-9]*)/(process N)/" UNTIMED=1 alike gdb -q -nx -batch -ex run -ex "print 6 * 7" --args "$PROGRAM" hello'
row 'perl, with a child' 'need perl; alike perl -e "my \$p = fork; exit 4 unless \$p; waitpid \$p, 0; print \$? >> 8, qq{\\n}; system qq{echo from a shell}; exit 6"'
row 'node, with a worker, and with samples' 'need node
	cat >w.js <<-JS
		const { Worker, isMainThread, parentPort } = require("worker_threads");
		if (isMainThread) {
			const w = new Worker(__filename);
			w.on("message", m => { console.log(m); process.exitCode = 5; });
		} else parentPort.postMessage(require("child_process").execSync("echo from a child").toString().trim());
	JS
	alike node w.js; OPTIONS="-s cpu" alike node w.js'
row 'java, with threads and a child, and with samples' 'need java; need javac "needs javac"
	cat >T.java <<-JAVA
		public class T {
			public static void main(String[] a) throws Exception {
				Thread[] t = new Thread[50];
				long[] n = new long[50];
				for (int i = 0; i < 50; i++) { int k = i; t[i] = new Thread(() -> { for (int j = 0; j < 100000; j++) n[k] += j; }); t[i].start(); }
				long sum = 0;
				for (int i = 0; i < 50; i++) { t[i].join(); sum += n[i]; }
				System.out.println(sum);
				System.out.println(new String(new ProcessBuilder("echo", "from a child").start().getInputStream().readAllBytes()).trim());
				System.exit(6);
			}
		}
	JAVA
	javac T.java
	alike java T; OPTIONS="-s cpu" alike java T'
for method in fork spawn forkserver; do
	row "python: a pool by $method, and with samples" 'need python3
	PYTHON=$(python3 -c "import sys; print(sys.executable)")
	cat >pool.py <<-PY
		import multiprocessing as m
		def square(n): return n * n
		if __name__ == "__main__":
		    with m.get_context("'$method'").Pool(2) as p: print(p.map(square, range(10)))
		    raise SystemExit(3)
	PY
	alike "$PYTHON" pool.py; OPTIONS="-s cpu" alike "$PYTHON" pool.py'
done
row 'python: subinterpreters' 'need python3
	python3 -c "import _xxsubinterpreters" 2>/dev/null || skip "this Python has no subinterpreters"
	PYTHON=$(python3 -c "import sys; print(sys.executable)")
	alike "$PYTHON" -c "
import _xxsubinterpreters as s
for n in range(3):
    i = s.create()
    s.run_string(i, \"print(6 * 7, flush=True)\")
    s.destroy(i)"'
row 'python below an auditor of the loader' 'need python3; need cc
	PYTHON=$(python3 -c "import sys; print(sys.executable)")
	echo "unsigned la_version(unsigned v) { return v; }" | cc -shared -fPIC -o libaudit.so -x c -
	alike env LD_AUDIT="$PWD/libaudit.so" "$PYTHON" -c "import os, sys; print(os.fork() and os.wait()[1]); sys.exit(4)"'
for library in jemalloc.so.2 tcmalloc.so.4 tcmalloc_minimal.so.4; do
	row "python with $library preloaded" 'need python3
	PYTHON=$(python3 -c "import sys; print(sys.executable)")
	library=$(ldconfig -p 2>/dev/null | sed -n "s/.*lib'$library' .*=> //p" | head -n 1)
	[ "$library" ] || skip "no lib'$library' here"
	alike sh -c "LD_PRELOAD=\$0\${LD_PRELOAD:+:\$LD_PRELOAD} exec \"\$@\"" "$library" "$PYTHON" -c "import os, sys; print(len([bytes(n) for n in range(10000)])); print(os.fork() and os.wait()[1]); sys.exit(4)"'
done
