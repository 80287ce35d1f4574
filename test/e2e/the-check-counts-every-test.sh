. "$(dirname "$0")/lib.sh"

it 'ends with one line of counts, and fails when something failed' '
	mkdir -p tree/scripts tree/test/e2e tree/test/unit
	cp "$GPROF_TOP"/scripts/check.sh "$GPROF_TOP"/scripts/check-*.sh tree/scripts/
	cp "$GPROF_TOP"/test/e2e/lib.sh "$GPROF_TOP"/test/e2e/assert.sh tree/test/e2e/
	printf "%s\n" ". \"\$(dirname \"\$0\")/lib.sh\"" "it \"is so\" true" "it \"is not so\" false" "it \"is not here\" \"skip no reason\"" >tree/test/e2e/three.sh
	printf "%s\n" "exit 3" >tree/test/e2e/breaks.sh
	printf "%s\n" ":" >tree/test/e2e/silent.sh
	mkdir -p tree/build/test
	printf "#!/bin/sh\necho ok unit\nexit 1\n" >tree/build/test/unit-crashes
	printf "#!/bin/sh\necho ok unit\n" >tree/build/test/unit-works
	chmod +x tree/build/test/*
	export NO_BUILD=1 B=build
	exits 1 sh tree/scripts/check.sh e2e >out 2>&1
	is "1 passed, 3 failed, 1 skipped" "$(tail -n 1 out)"
	says "FAIL three: is not so" out
	says "FAIL breaks: ended with status 3" out
	says "FAIL silent: tested nothing" out
	says "skip three: is not here: no reason" out
	is "breaks silent three" "$(cut -d " " -f 3 tree/build/log/times | sort | xargs)" "what has its times recorded"
	exits 1 sh tree/scripts/check.sh e2e nothing-has-this-name >out 2>&1
	says "FAIL check: there is no such test" out
	# The longest first.
	printf "%s\n" three silent >tree/test/e2e/longest.txt
	TASKS=1 exits 1 sh tree/scripts/check.sh e2e >out 2>&1
	is "three silent breaks" "$(cut -d " " -f 3 tree/build/log/times | xargs)" "the order"
	# Only what the list names, with a reason, gets a second try.
	TIMES="echo FAIL first; echo \"  | only times differ: 9 ms, without us 1\""
	printf "%s\n" "[ -e ../tried ] || { : >../tried; $TIMES; exit 1; }" "echo ok second" >tree/test/e2e/breaks.sh
	exits 1 sh tree/scripts/check.sh e2e breaks >out 2>&1
	rm tried
	echo "breaks:" >tree/test/e2e/retried.txt
	exits 1 sh tree/scripts/check.sh e2e breaks >out 2>&1
	rm tried
	echo "breaks: it measures time" >tree/test/e2e/retried.txt
	exits 0 sh tree/scripts/check.sh e2e breaks >out 2>&1
	is "1 passed, 0 failed, 0 skipped" "$(tail -n 1 out)"
	says "failed beside another test, passed alone: breaks: first" out
	# Two more tries, no more.
	printf "%s\n" "echo x >>../tries" "[ \$(wc -l <../tries) -ge 3 ] || { $TIMES; exit 1; }" "echo ok third" >tree/test/e2e/breaks.sh
	exits 0 sh tree/scripts/check.sh e2e breaks >out 2>&1
	says "passed alone: breaks: first" out
	echo "echo x >>../tries; $TIMES; exit 1" >tree/test/e2e/breaks.sh
	rm tries
	exits 1 sh tree/scripts/check.sh e2e breaks >out 2>&1
	is 3 "$(wc -l <tries)" "tries"
	never_says "passed alone" out
	# A wrong status or output is not forgiven, nor beside a difference of times.
	for other in "echo FAIL second" "$TIMES; echo FAIL second; echo \"  | exit status 1, without us 0\"" "exit 3"; do
		rm tries
		printf "%s\n" "echo x >>../tries; [ \$(wc -l <../tries) -gt 1 ] && { echo ok; exit; }" "$other; exit 1" >tree/test/e2e/breaks.sh
		exits 1 sh tree/scripts/check.sh e2e breaks >out 2>&1
		is 1 "$(wc -l <tries)" "tries after $other"
	done
	exits 1 sh tree/scripts/check.sh unit >out 2>&1
	is "2 passed, 1 failed, 0 skipped" "$(tail -n 1 out)"
	says "FAIL unit-crashes: ended with status 1" out
	rm tree/build/test/unit-crashes
	sh tree/scripts/check.sh unit >out 2>&1
	is "1 passed, 0 failed, 0 skipped" "$(tail -n 1 out)"
'

it 'builds what the tests run before it runs them' '
	mkdir -p tree/scripts tree/test/e2e tree/build
	cp "$GPROF_TOP"/scripts/check.sh "$GPROF_TOP"/scripts/check-*.sh tree/scripts/
	echo "sh build/prog" >tree/test/e2e/one.sh
	printf "%s\n" "all unit sim:" "programs: build/prog" "build/prog: prog.c" "	@echo \"  CC    \$@\"; cp \$< \$@" >tree/Makefile
	unset NO_BUILD
	export B=build
	for now in old new; do
		echo "echo ok $now" >tree/prog.c
		touch -d "$([ $now = old ] && echo 2020-01-01 || echo 2030-01-01)" tree/prog.c
		exits 0 sh tree/scripts/check.sh e2e one >out 2>&1
		is "1 passed, 0 failed, 0 skipped" "$(tail -n 1 out)"
		is "ok $now" "$(cat tree/build/log/one.log)" "$now"
		never_says "  CC " out
	done
	# Without one the tests run what is there.
	echo "echo ok newest" >tree/prog.c
	touch -d 2031-01-01 tree/prog.c
	exits 0 env NO_BUILD=1 sh tree/scripts/check.sh e2e one >out 2>&1
	is "ok new" "$(cat tree/build/log/one.log)"
	# A failed build says what the compiler says, and nothing is tested.
	printf "%s\n" "all unit sim:" "programs:" "	@echo \"  CC    prog.c\"; echo \"prog.c:1: error: no such thing\"; false" >tree/Makefile
	exits 1 sh tree/scripts/check.sh e2e one >out 2>&1
	is "0 passed, 1 failed, 0 skipped" "$(tail -n 1 out)"
	says "prog.c:1: error: no such thing" out
	says "FAIL build: nothing was tested" out
	never_says "  CC " out
'

it 'a unit test that ends without any CHECK fails' '
	printf "%s\n" "#include \"test/unit/test.h\"" "TEST(checks_nothing) {}" "TEST(checks) { CHECK(true); }" \
		"TEST(is_not_here) { test_skip(\"no reason\"); }" "int main(int argc, char **argv) { return test_run_all(argc, argv); }" >a.c
	${CC:-cc} -std=gnu11 -iquote "$GPROF_TOP" -o unit a.c "$GPROF_TOP/test/unit/runner.c"
	exits 1 ./unit >out
	is "FAIL checks_nothing (a.c) ok checks skip is_not_here: no reason" "$(grep -v "^ " out | xargs)"
'
