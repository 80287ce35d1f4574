#!/bin/sh
# -s cpu in Python programs: samples have Python and native frames, belong to recorded windows, and are in reports and exports.
. "$(dirname "$0")/lib.sh"

ready='
	. "$GPROF_TOP/test/e2e/pythons.sh"
	[ "$(pythons 8)" ] || { echo "no CPython 3.8 to 3.14 here"; exit 77; }
	programs=$GPROF_BUILD/test/programs
	need "$programs/libpester.so" "test programs are not built (make host-programs)"
	cat >work.py <<-PY
		import ctypes, sys, time
		def one(n):
		    return [i * i for i in range(n)]
		def three(n):
		    return one(n), one(n), one(n)
		def until(f, seconds):
		    begin = time.thread_time()
		    while time.thread_time() < begin + seconds:
		        f(3000)
		    print(sys._getframe(1).f_code.co_name, time.thread_time() - begin)
		def before(seconds): until(one, seconds)
		def inside(seconds): until(three, seconds)
		def after(seconds): until(one, seconds)
		if __name__ == "__main__":
		    nvtx = ctypes.CDLL(sys.argv[2]) if len(sys.argv) > 2 else None
		    before(float(sys.argv[1]))
		    if nvtx: nvtx.nvtx_push(b"work")
		    inside(float(sys.argv[1]))
		    if nvtx: nvtx.nvtx_pop()
		    after(float(sys.argv[1]))
	PY
	total() { gprof-trace report -r cpu_sum -f csv "$@" t.gtrace | python3 -c "
import csv, sys
rows = csv.DictReader(l for l in sys.stdin if \",\" in l)
print(sum(int(r[\"total_samples\"]) for r in rows if r[\"function\"] == \"$function\" and r[\"file\"].endswith(\"work.py\")))"; }
'

# CPython up to 3.10 crashes now and then by itself when a daemon thread outlives the interpreter (2 of 400 ends of sampled.py without us).
# Such an end is Python's own when the program had come to it, and neither the instruction nor a return address of the crash is ours.
ready=$ready'
	python_crashed_itself() {
		"$python" -c "import sys; sys.exit(sys.version_info > (3, 10, 999))" && grep -q "^the end begins" out &&
			grep -qE "^crash outside the profiler|^Fatal Python error" out && ! grep -q "^crash inside the profiler" out
	}
'

it 'excuses a crash of CPython up to 3.10 at its end, outside the profiler, and no other' "$ready"'
	printf "%s\n" "#!/bin/sh" "exit 0" >old
	printf "%s\n" "#!/bin/sh" "exit 1" >new
	chmod +x old new
	for crash in "crash outside the profiler" "Fatal Python error: take_gil"; do
		printf "%s\n" "the end begins" "$crash" >out
		python=./old exits 0 python_crashed_itself
		python=./new exits 1 python_crashed_itself
		echo "crash inside the profiler" >>out
		python=./old exits 1 python_crashed_itself
		echo "$crash" >out
		python=./old exits 1 python_crashed_itself
	done
	echo "the end begins" >out
	python=./old exits 1 python_crashed_itself
'

it 'gives Python functions, their files and lines, in each CPython' "$ready"'
	for python in $(pythons 8); do
		gprof-run -q -f -s process-tree -o t -- "$python" work.py 0.2 >seconds
		for function in before inside after; do
			n=$(total)
			# 100 a second of the thread CPU time that the function measured; the kernel looks at the timer some ticks late on a busy core.
			awk -v n="$n" -v f=$function "\$1 == f { most = \$2 * 100 } END { exit !(n >= most * .45 && n <= most * 1.4 + 2) }" seconds ||
				fail "$python: $n samples of $function: $(cat seconds; gprof-trace report -r cpu_sum,health t.gtrace)"
		done
		gprof-trace report -r lines --file work.py -f csv t.gtrace | grep -q "^work.py,3,.*return \[i \* i" || fail "$python: no line 3"
		function=three
		n=$(total)
		awk -v n="$n" "\$1 == \"inside\" { most = \$2 * 100 } END { exit !(n >= most * .4) }" seconds || fail "$python: $n samples of three: $(cat seconds)"
	done
'

it 'shows no frame that could not have been there, at any moment of a program that does everything, and crashes none' "$ready"'
	[ -r /proc/self/timers ] || skip "the kernel does not list timers"
	for python in $(pythons 8); do
		gprof-run -q -f -s cpu --backtrace-depth=128 --resolve-symbols=false -o t -- "$python" -W ignore \
			"$GPROF_TOP/test/programs/sampled.py" "$programs/libpester.so" 1000 60 >out 2>&1 || python_crashed_itself || fail "$python: $(cat out)"
		gprof-trace export -f --format folded --metric cpu_samples -o folded t.gtrace
		python3 "$GPROF_TOP/test/e2e/samples_check.py" folded 400 >said 2>&1 || fail "$python: $(cut -c 1-2000 said)"
	done
'

it 'keeps samples of the recorded window alone' "$ready"'
	need "$programs/libnvtx_shim.so" "the NVTX shim is not built"
	python=$(pythons 8 | tail -n 1)
	gprof-run -q -f -s cpu -c nvtx -p work -o t -- "$python" work.py 0.3 "$programs/libnvtx_shim.so"
	function=inside
	[ "$(total)" -ge 12 ] || fail "$(total) samples of what was inside"
	for function in before after; do
		[ "$(total)" -le 1 ] || fail "$(total) samples of $function"
	done
'

it 'restricts samples to a step, and says where a step has none' "$ready"'
	need "$programs/libnvtx_shim.so" "the NVTX shim is not built"
	python=$(pythons 8 | tail -n 1)
	gprof-run -q -f -s cpu --step nvtx:work -o t -- "$python" work.py 0.3 "$programs/libnvtx_shim.so"
	function=inside
	[ "$(total --step 0)" -ge 12 ] || fail "$(total --step 0) samples in the step"
	function=before
	[ "$(total)" -ge 12 ] || fail "$(total) samples before the step"
	[ "$(total --step 0)" -le 1 ] || fail "$(total --step 0) samples of what was before the step"
'

it 'sums real samples as anyone can check' "$ready"'
	python=$(pythons 8 | tail -n 1)
	gprof-run -q -f -s cpu -o t -- "$python" work.py 0.2
	# It looks at steps, too, which there are none of.
	python3 "$GPROF_TOP/test/e2e/stacks_check.py" t.gtrace >out 2>&1 || :
	[ "$(grep -cE "^(stacks|lines|cpu_sum) .* [1-9][0-9]* rows equal" out)" -ge 14 ] || fail "$(cat out)"
	never_says "expected" out
	is "$(gprof-trace dump -k sample t.gtrace | wc -l)" "$(gprof-trace export -f --format folded --metric cpu_samples -o - t.gtrace | awk "{ n += \$NF } END { print n }")" "samples in the folded file"
	gprof-trace export -f -o t.json t.gtrace
	grep -q "\"cat\": \"python_function\", \"name\": \"[^\"]*work.py(2): one\"" t.json || fail "no slice of one()"
'

it 'has Python frames alone with --backtrace=none, and none with --python-backtrace=none' "$ready"'
	python=$(pythons 8 | tail -n 1)
	gprof-run -q -f -s cpu --backtrace=none -o t -- "$python" work.py 0.2
	gprof-trace export -f --format folded --metric cpu_samples -o - t.gtrace | grep "inside (" | grep -v "<module> (work.py:[0-9]*);inside (work.py:[0-9]*);until" >wrong && fail "$(cat wrong)"
	gprof-run -q -f -s cpu --python-backtrace=none -o t -- "$python" work.py 0.2
	is 0 "$(gprof-trace dump -k code t.gtrace | wc -l)" "code objects"
'

it 'finds an interpreter that a program loads by itself' "$ready"'
	need cc
	for python in $(pythons 8); do
		library=$("$python" -c "import sysconfig; print(sysconfig.get_config_var(\"LIBDIR\") + \"/\" + (sysconfig.get_config_var(\"INSTSONAME\") or \"none\"))")
		case $library in *.so*) [ -e "$library" ] && break ;; esac
		library=
	done
	[ "$library" ] || skip "no shared libpython"
	home=$("$python" -c "import sys; print(sys.prefix)")
	cat >embeds.c <<-C
		#include <dlfcn.h>
		int main(int c, char **v)
		{
			void *p = dlopen(v[1], RTLD_NOW | RTLD_GLOBAL);
			void (*begin)(void) = p ? (void (*)(void))dlsym(p, "Py_Initialize") : 0;
			int (*run)(const char *) = p ? (int (*)(const char *))dlsym(p, "PyRun_SimpleString") : 0;
			if (c < 2 || !begin || !run)
				return 1;
			begin();
			return run("import sys\nsys.path.insert(0, \".\")\nimport work\nwork.inside(0.4)\n");
		}
	C
	cc -O1 -o embeds embeds.c -ldl
	PYTHONHOME=$home gprof-run -q -f -s cpu -o t -- ./embeds "$library" >out 2>&1 || fail "$(cat out)"
	function=inside
	[ "$(total)" -ge 12 ] || fail "$(total) samples of Python: $(gprof-trace report -r cpu_sum,health t.gtrace)"
'
