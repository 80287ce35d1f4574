. "$(dirname "$0")/lib.sh"

# scripts/setup.sh on a machine with little more than a shell, without root rights and without access to PyPI.
bare='
	mkdir -p bin build/judges
	touch build/judges/tried
	for tool in sh bash cat cut dirname find grep head id ls mkdir mktemp printf rm sed sort tail timeout touch; do
		! command -v "$tool" >/dev/null || ln -sf "$(command -v "$tool")" "bin/$tool"
	done
	printf "#!/bin/sh\necho 1000\n" >user-id
	rm bin/id
	cp user-id bin/id
	chmod +x bin/id
'

it 'names the packages to install where it may not install them, and fails when one must be had' "$bare"'
	exits 1 env PATH="$PWD/bin" B="$PWD/build" "$PWD/bin/sh" "$GPROF_TOP/scripts/setup.sh" >out 2>&1
	says "missing: a C compiler (must)" out
	says "missing: make (must)" out
	says "as root, run: apt-get install gcc" out
'

it 'goes on when only something for the tests is missing' "$bare"'
	need cc
	printf "#!/bin/sh\nexec %s \"\$@\"\n" "$(command -v cc)" >bin/cc
	chmod +x bin/cc
	for tool in make as ld; do ln -s "$(command -v $tool)" bin/$tool; done
	PATH="$PWD/bin" B="$PWD/build" sh "$GPROF_TOP/scripts/setup.sh" >out 2>&1
	says "missing: the second compiler of the checks (test)" out
	never_says "(must)" out
'

it 'does nothing the second time' '
	mkdir -p build/judges
	touch build/judges/tried
	B=$PWD/build sh "$GPROF_TOP/scripts/setup.sh" >first 2>&1
	B=$PWD/build sh "$GPROF_TOP/scripts/setup.sh" >second 2>&1
	never_says installing second
	is tried "$(ls build/judges)"
'

it 'names a judge that is not to be had' '
	mkdir -p build/judges
	echo "nvtx: no matching distribution" >build/judges/missing
	touch build/judges/tried
	B=$PWD/build sh "$GPROF_TOP/scripts/setup.sh" >out 2>&1
	says "judge not to be had, its tests are skipped: nvtx" out
'
