#!/bin/sh
# Samples in code without a symbol table: one row per function, with its name from .gnu_debugdata or else its start address.
. "$(dirname "$0")/lib.sh"

STRIPPED='
	for tool in cc nm readelf strip objcopy; do need $tool; done
	cat >spin.c <<-C
		#include <stdint.h>
		#include <time.h>
		#define SPIN(name, k) \
			static __attribute__((noinline)) void name(double s) { \
				struct timespec t; volatile uint64_t y = 1; double end = 0; \
				do { for (int i = 0; i < 100000; i++) { y = y * 3 + k; if (y & 1) y ^= 5; else y += 7; } \
					clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); \
					if (!end) end = t.tv_sec + t.tv_nsec / 1e9 + s; \
				} while (t.tv_sec + t.tv_nsec / 1e9 < end); \
			}
		SPIN(hidden_one, 1)
		SPIN(hidden_two, 2)
		void shown(double s) { hidden_one(s); hidden_two(s / 2); __asm__ volatile(""); }
	C
	printf "void shown(double s);\nint main(void) { shown(.6); return 0; }\n" >main.c
	cc -O1 -fPIC -shared -o whole.so spin.c
	cp whole.so libspin.so
	cc -O1 -o main main.c -L. -lspin -Wl,-rpath,"$PWD"
	hex() { nm whole.so | sed -n "s/^0*\([0-9a-f]*\) t $1\$/\1/p"; }
	one=$(hex hidden_one) two=$(hex hidden_two)
	[ "$one" ] && [ "$two" ] || fail "$(nm whole.so)"
	sample() {
		gprof-run -q -f -s cpu -o run "$@" -- ./main
		gprof-trace report -r cpu_sum -f csv run.gtrace 2>/dev/null | cut -d, -f1,4 >sums
	}
	of() { sed -n "s/^$1,//p" sums; }
'

it 'one row a function, called by its first address, as .eh_frame has it' "$STRIPPED"'
	strip libspin.so
	nm libspin.so 2>&1 | grep -q "no symbols" || fail "it is not stripped"
	readelf --debug-dump=frames libspin.so | grep -q "pc=0*$one\.\." || fail "no rules begin where hidden_one does"
	sample
	is "" "$(grep "^libspin.so+" sums | grep -vE "^libspin.so\+0x($one|$two)," || :)" "rows of other addresses"
	a=$(of "libspin.so+0x$one") b=$(of "libspin.so+0x$two")
	[ "${a:-0}" -gt 20 ] && [ "${b:-0}" -gt 10 ] || fail "$(cat sums)"
	# The trace says it where the library is not, too; again adds nothing, and a name takes its place.
	mv libspin.so away
	gprof-trace report -r cpu_sum -f csv run.gtrace 2>/dev/null | cut -d, -f1,4 | cmp - sums
	cp run.gtrace before
	gprof-trace resolve run.gtrace
	cmp before run.gtrace
	mkdir -p sym"$PWD"
	cp whole.so sym"$PWD/libspin.so"
	gprof-trace resolve --symfs sym run.gtrace >said
	gprof-trace report -r cpu_sum -f csv run.gtrace 2>/dev/null | cut -d, -f1,4 >sums
	is "$a $b" "$(of hidden_one) $(of hidden_two)" "samples of both, by name"
	gprof-trace export -t folded -m cpu_samples -o - run.gtrace >folded
	says ";hidden_one" folded
'

it 'the names in .gnu_debugdata, which distributions leave in stripped libraries' "$STRIPPED"'
	need xz
	find / -name "liblzma.so.5" -not -path "/proc/*" 2>/dev/null | grep -q . || skip "there is no liblzma.so.5"
	objcopy --strip-all --keep-symbol=hidden_one --keep-symbol=hidden_two --remove-section=.comment --only-keep-debug whole.so mini 2>/dev/null ||
		objcopy --only-keep-debug whole.so mini
	nm mini | grep -q hidden_two || fail "the small file has no names"
	xz -f mini
	strip libspin.so
	objcopy --add-section .gnu_debugdata=mini.xz libspin.so
	sample
	[ "$(of hidden_one)" -gt 20 ] && [ "$(of hidden_two)" -gt 10 ] || fail "$(cat sums)"
	is "" "$(grep "^libspin.so+" sums || :)" "rows without a name"
'
