#!/bin/sh
# -s cpu: shares of samples equal shares of CPU time, and the program behaves as without sampling.
. "$(dirname "$0")/lib.sh"

cat >"$E2E_ROOT/work.h" <<'C'
#include <stdint.h>
#include <time.h>
static double cpu(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return (double)t.tv_sec + (double)t.tv_nsec / 1e9; }
static void work(double s)
{
	volatile uint64_t y = 1;
	for (double end = cpu() + s; cpu() < end;)
		for (int i = 0; i < 100000; i++)
			y = y * 6364136223846793005ull + 1;
}
C
export E2E_ROOT

it 'gives each function the share of the time that it used, in threads, too' '
	need cc
	for f in small large; do
		printf "#include \"work.h\"\nvoid %s(double s);\nvoid %s(double s) { work(s); }\n" $f $f >$f.c
		cc -I"$E2E_ROOT" -O1 -g -shared -fPIC -o lib$f.so $f.c
	done
	cat >main.c <<-C
		#include <pthread.h>
		#include <stdio.h>
		#include <time.h>
		void small(double s), large(double s);
		static void *run(void *a) { small(.006); large(.018); return a; }
		int main(void)
		{
			pthread_t t[100];
			small(.3);
			large(.9);
			for (int i = 0; i < 100; i++)
				pthread_create(&t[i], 0, run, 0);
			for (int i = 0; i < 100; i++)
				pthread_join(t[i], 0);
			printf("%.3f\n", (double)clock() / CLOCKS_PER_SEC);
			return 0;
		}
	C
	cc -O1 -g -o main main.c -L. -lsmall -llarge -Wl,-rpath,"$PWD" -lpthread
	gprof-run -q -s cpu -o run -- ./main >seconds
	gprof-trace report run.gtrace | grep "sampled  *100 a second, by a timer of each thread.s CPU time"
	gprof-trace report -r cpu_sum -f csv run.gtrace >sums
	# 100 samples a second of CPU time, less what threads of 24 ms do not fill.  A quarter of them: 5 sigma of some 250 samples is 14 %.
	python3 - sums "$(cat seconds)" <<-PY
		import csv, sys
		rows = list(csv.DictReader(l for l in open(sys.argv[1]) if "," in l))
		total = lambda word: sum(int(r["total_samples"]) for r in rows if r["function"] == word)
		small, large = total("small"), total("large")
		most = float(sys.argv[2]) * 100
		assert most * .33 < small + large <= most + 2, (small, large, most)
		assert .11 < small / (small + large) < .39, (small, large)
		assert total("main") < total("run") * 3, "threads are missing"
		assert not [r for r in rows if "sample.c" in r["file"]], "a frame of ours"
	PY
'

it 'interrupts no call that waits' '
	need cc
	cat >waits.c <<-C
		#include "work.h"
		#include <errno.h>
		#include <linux/futex.h>
		#include <poll.h>
		#include <sys/select.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(void)
		{
			uint32_t word = 0;
			int n = 0;
			for (int i = 0; i < 100; i++) {
				struct timespec ms = { 0, 1000000 };
				struct timeval tv = { 0, 1000 };
				work(.003);
				n += nanosleep(&ms, 0) < 0;
				n += select(0, 0, 0, 0, &tv) < 0;
				n += poll(0, 0, 1) < 0;
				n += syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ms, 0, 0) < 0 && errno == EINTR;
			}
			return n;
		}
	C
	cc -D_GNU_SOURCE -I"$E2E_ROOT" -O1 -o waits waits.c
	gprof-run -q -s cpu --sampling-frequency 1000 -o run -- ./waits
	[ "$(gprof-trace dump -k sample run.gtrace | wc -l)" -gt 30 ]
'

it 'takes the words of nsys, and says what it makes of them' '
	need cc
	printf "#include \"work.h\"\nint main(void) { work(.6); return 0; }\n" >main.c
	cc -I"$E2E_ROOT" -O1 -o main main.c
	samples() { gprof-trace dump -k sample run.gtrace | wc -l; }
	for ask in "-s cpu" "--sample=process-tree" "-s system-wide" "--python-sampling=true" "-s cpu --sampling-trigger=timer --samples-per-backtrace=1"; do
		gprof-run -q -f $ask -o run -- ./main 2>err
		[ "$(samples)" -ge 10 ] || fail "$(samples) samples with $ask: $(cat err)"
		never_says "not recorded" err
	done
	for ask in "-s none" "--sample none" "--python-sampling=false" ""; do
		gprof-run -q -f $ask -o run -- ./main 2>err
		is 0 "$(samples)" "samples with $ask"
		is 1 "$(wc -l <err)" "lines said with $ask"
	done
	gprof-trace report -r cpu_sum,lines run.gtrace >tables
	says "gprof-run -s cpu records them" tables
	gprof-run -q -f -s system-wide -o run -- ./main 2>err
	says "only the program" err
	for wrong in "-s gpu" "--sampling-frequency=0" "--sampling-frequency=9000" "--python-sampling=often"; do
		exits 2 gprof-run -q -f $wrong -o run -- ./main 2>err
	done
'

it 'has the last name of each thread, also of one that names itself at its end' '
	need cc
	cat >names.c <<-C
		#include <pthread.h>
		#include <sys/prctl.h>
		static void *run(void *a) { pthread_setname_np(pthread_self(), "at its end"); return a; }
		int main(void)
		{
			pthread_t t;
			pthread_create(&t, 0, run, 0);
			pthread_join(t, 0);
			prctl(PR_SET_NAME, "main at its end");
			return 0;
		}
	C
	cc -D_GNU_SOURCE -O1 -o names names.c -lpthread
	gprof-run -q -s cpu -o run -- ./names
	gprof-trace dump --raw run.gtrace | sed -n "s/^thread .* id=\([0-9]*\) .*text=/\1 /p" >names
	is "1 \"main at its end\"" "$(grep "^1 " names | tail -n 1)" "name of the first thread"
	is "2 \"at its end\"" "$(grep "^2 " names | tail -n 1)" "name of the second thread"
	is 1 "$(gprof-trace dump --raw run.gtrace | sed -n "s/^thread .*start=\([0-9]*\) id=2 .*/\1/p" | sort -u | wc -l)" "starts of the second thread"
'
