# not sanitized: shell scripts alone
. "$(dirname "$0")/lib.sh"

it 'ends with one line of counts, and fails when something failed' '
	mkdir -p tree/scripts tree/test/e2e tree/test/unit
	cp "$GPROF_TOP"/scripts/check.sh tree/scripts/
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
	exits 1 sh tree/scripts/check.sh unit >out 2>&1
	is "2 passed, 1 failed, 0 skipped" "$(tail -n 1 out)"
	says "FAIL unit-crashes: ended with status 1" out
	rm tree/build/test/unit-crashes
	sh tree/scripts/check.sh unit >out 2>&1
	is "1 passed, 0 failed, 0 skipped" "$(tail -n 1 out)"
'
