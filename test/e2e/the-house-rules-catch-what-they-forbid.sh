# The checks of scripts/ find violations that are planted for this test.
. "$(dirname "$0")/lib.sh"

it 'finds no include that a floor forbids' '
	sh "$GPROF_TOP/scripts/check-layers.sh"
'

it 'names each include that a floor forbids' '
	mkdir -p trace inject/core inject/nvtx collector cli/report/cuda cli/export/kineto cli/model/steps cli/symbols cli/new
	echo "#include \"cli/model/model.h\"" >cli/symbols/s.c
	echo "#include \"collector/drain.h\"" >inject/core/a.c
	echo "#include \"trace/file.h\"" >inject/core/b.c
	echo "#include \"inject/core/stream.h\"" >collector/c.c
	echo "#include \"trace/reader.h\"" >cli/report/cuda/d.c
	echo "#include \"cli/report/cuda/unified.h\"" >cli/export/kineto/e.c
	echo "#include \"cli/compat/hta/hta.h\"" >cli/report/cuda/e.c
	echo "#include \"cli/ui/table.h\"" >cli/model/steps/f.c
	echo "#include \"cli/ui/fail.h\"" >trace/g.c
	echo "#include <cupti.h>" >inject/core/h.h
	echo "# include \"cli/ui/options.h\"" >inject/core/i.c
	echo "#include \"inject/nvtx/nvtx.h\"" >inject/core/j.c
	echo "#include \"trace/wire.h\"" >cli/new/k.c
	exits 1 sh "$GPROF_TOP/scripts/check-layers.sh" . >found
	for file in inject/core/a.c inject/core/b.c collector/c.c cli/report/cuda/d.c cli/export/kineto/e.c cli/report/cuda/e.c cli/model/steps/f.c cli/symbols/s.c \
		trace/g.c inject/core/h.h inject/core/i.c inject/core/j.c cli/new/k.c; do
		says "$file" found
	done
	is 13 "$(wc -l <found)" "number of finds"
'

it 'allows what the floors are for' '
	mkdir -p trace inject/core inject/nvtx collector cli/report/cuda cli/model/steps
	printf "%s\n" "#include \"inject/core/stream.h\"" "#include \"trace/wire.h\"" "#include <stdio.h>" >inject/nvtx/a.c
	printf "%s\n" "#include \"trace/file.h\"" "#include \"collector/drain.h\"" >collector/c.c
	printf "%s\n" "#include \"cli/model/model.h\"" "#include \"cli/ui/table.h\"" "#include \"trace/records.h\"" >cli/report/cuda/d.c
	printf "%s\n" "#include \"trace/reader.h\"" "#include \"trace/rules/period.h\"" >cli/model/steps/m.c
	sh "$GPROF_TOP/scripts/check-layers.sh" .
'

it 'names an exception that is not needed, a room that may include one above it, and a folder that is no room' '
	mkdir -p scripts trace inject/core collector cli/ui docs/explanation
	cp "$GPROF_TOP/scripts/check-layers.sh" scripts/
	printf "%s\n" "trace | bytes |" "inject/core | rows | trace" "collector | file | trace cli/ui" "cli/ui | words | trace" >scripts/layers.txt
	printf "%s\n" "! inject/core/a.c cli/ui/gone.h | cut" "! inject/core/a.c trace/wire.h | cut" >>scripts/layers.txt
	printf "%s\n" "<!-- rooms: " "<!-- end of the rooms -->" >docs/explanation/architecture.md
	for room in trace inject/core collector cli/ui; do
		echo "# $room" | tee $room/README.md >$room/a.h
	done
	echo "#include \"trace/wire.h\"" >inject/core/a.c
	exits 1 sh scripts/check-layers.sh >found
	says "collector may not include cli/ui" found
	says "inject/core/a.c and trace/wire.h is not needed: it is allowed" found
	says "inject/core/a.c cli/ui/gone.h is not needed" found
	says "architecture.md: does not show the rooms" found
	is 4 "$(wc -l <found)" "number of finds"
	printf "%s\n" "trace | bytes |" "inject/core | rows | trace" "collector | file | trace" "cli/ui | words | trace" >scripts/layers.txt
	sh scripts/check-layers.sh --docs
	sh scripts/check-layers.sh
	mkdir cli/new
	echo "int x;" >cli/new/b.c
	rm collector/README.md
	yes | head -n 16 >trace/README.md
	exits 1 sh scripts/check-layers.sh >found
	says "cli/new: is not in layers.txt" found
	says "collector: has no README.md" found
	says "trace/README.md: more than 15 lines" found
	is 3 "$(wc -l <found)" "number of finds"
'

it 'names folders that use each other in a circle, and a circle of four files, and passes a circle of three' '
	need python3
	need nm
	need cc
	mkdir -p scripts cli/a cli/b collector trace
	cp "$GPROF_TOP/scripts/cycles.py" scripts/
	# file USED PATH: defines the function NAME of PATH/NAME.c, which calls the function USED.
	file() {
		mkdir -p "build/obj/${2%/*}"
		name=${2##*/}
		echo "void $1(void); void ${name%.c}(void); void ${name%.c}(void) { $1(); }" >"$2"
		cc -c -o "build/obj/${2%.c}.o" "$2"
	}
	file cli_2 cli/a/cli_1.c
	file cli_3 cli/a/cli_2.c
	file cli_1 cli/a/cli_3.c
	file cli_1 cli/b/above.c
	file wire collector/drain.c
	file abort trace/wire.c
	python3 scripts/cycles.py build --fail cli collector trace >found
	is 0 "$(wc -l <found)" "number of finds"
	file cli_4 cli/a/cli_3.c
	file cli_1 cli/a/cli_4.c
	exits 1 python3 scripts/cycles.py build --fail cli collector trace >found
	says "cycle of 4 files in cli/a: cli_1.c cli_2.c cli_3.c cli_4.c" found
	is 1 "$(wc -l <found)" "number of finds"
	file above cli/a/cli_4.c
	exits 1 python3 scripts/cycles.py build --fail cli collector trace >found
	says "cycle between 2 folders: cli/a cli/b" found
	says "cli_4.c uses above of above.c" found
	python3 scripts/cycles.py build --fail collector
	rm build/obj/collector/drain.o build/obj/trace/wire.o
	exits 77 python3 scripts/cycles.py build --fail collector >found
	echo "int x;" >cli/b/new.c
	exits 1 python3 scripts/cycles.py build --fail cli >found
	says "build has no object of cli/b/new.c" found
'

it 'names a phrase that no user should read, in a text of a program and in a document' '
	printf "%s\n" "/* the dearest of ours */" "const char *a = \"a plain text: one, two\";" >good.c
	printf "%s\n" "A share of the step." "" "| column | of it |" >good.md
	exits 0 sh "$GPROF_TOP/scripts/check-words.sh" "$PWD/good.c" "$PWD/good.md"
	printf "%s\n" "char x = 34;" "f(\"two literals of\"" "  \" us, joined\");" "g(\"the dearest report\"); /* fine */" >bad.c
	printf "%s\n" "Rows are kept from" "then on." "" "- Meanwhile, nothing." >bad.md
	exits 1 sh "$GPROF_TOP/scripts/check-words.sh" "$PWD/bad.c" "$PWD/bad.md" >found
	for place in bad.c:2: bad.c:4: bad.md:1: bad.md:4:; do
		says "$place not plain" found
	done
	is 4 "$(wc -l <found)" "number of finds"
'

# A repository with this script of scripts/ and no other.
OWN_TREE='own_tree() {
	need git
	git init -q .
	mkdir -p scripts docs/howto docs/reference
	cp "$GPROF_TOP/scripts/$1" scripts
}
'

it 'lets a text keep a phrase if the list of allowed texts has it for this file' "$OWN_TREE"'
	own_tree check-words.sh
	mkdir cli trace
	echo "of it" >scripts/words.txt
	echo "cli/a.c: the rest of it" >scripts/words-allowed.txt
	echo "const char *a = \"the rest of it is kept\";" >cli/a.c
	git add .
	sh scripts/check-words.sh
	cp cli/a.c trace/b.c
	echo "const char *c = \"the begin of it\";" >>cli/a.c
	git add .
	exits 1 sh scripts/check-words.sh >found
	says "cli/a.c:2: not plain" found
	says "trace/b.c:1: not plain" found
	is 2 "$(wc -l <found)" "number of finds"
'

it 'names a page of options that the programs have changed, and an option without a text' "$OWN_TREE"'
	own_tree check-words.sh
	cp "$GPROF_TOP/scripts/gen-options.sh" scripts
	mkdir -p cli build/bin
	: >scripts/words-allowed.txt
	echo "of it" >scripts/words.txt
	echo "const char *a = \"text\";" >cli/a.c
	for program in gprof-run gprof-trace gprof-ctl; do
		printf "%s\n" "#!/bin/sh" "echo \"  -o, --output NAME     write it\"" >build/bin/$program
		chmod +x build/bin/$program
	done
	git add cli
	B=build sh scripts/gen-options.sh build >docs/reference/options.md
	B=build sh scripts/check-words.sh
	echo "echo \"  -q, --quiet\"" >>build/bin/gprof-ctl
	B=build exits 1 sh scripts/check-words.sh >found
	says "docs/reference/options.md is out of date: make docs" found
	sh scripts/gen-options.sh build >docs/reference/options.md
	B=build exits 1 sh scripts/check-words.sh >found
	says "no text for   -q, --quiet" found
	is 1 "$(wc -l <found)" "number of finds"
'

it 'names a link, a document, a report and an option that are not there, and a document that the index lacks' "$OWN_TREE"'
	own_tree check-docs.sh
	howto=docs/howto        # no name of this test looks like a document of ours
	printf "%s\n" "# Options" "  steps       a report" "      --wide  an option" >docs/reference/options.md
	printf "%s\n" "[options](reference/options.md), [how](howto/how.md)" >docs/README.md
	printf "%s\n" "# How to" "See [options](../reference/options.md#options) and [this](#how-to)." "    gprof-trace report -r steps --wide" >$howto/how.md
	echo "See $howto/how.md." >README.md
	git add README.md docs
	sh scripts/check-docs.sh
	printf "%s\n" "[gone](gone.md), [part](../reference/options.md#reports)" "    gprof-trace report -r stairs --narrow" >>$howto/how.md
	echo "See $howto/where.md." >>README.md
	cp README.md $howto/new.md
	git add README.md docs
	exits 1 sh scripts/check-docs.sh >found
	says "$howto/how.md: no file for the link gone.md" found
	says "$howto/how.md: no heading for the link ../reference/options.md#reports" found
	says "README.md:2: there is no $howto/where.md" found
	says "$howto/new.md:2: there is no $howto/where.md" found
	says "docs/README.md does not list howto/new.md" found
	says "documents name the report stairs" found
	says "documents name the option --narrow" found
	is 7 "$(wc -l <found)" "number of finds"
'

it 'names a word that a guest must not say, and no comment or string' '
	mkdir -p inject/core inject/process
	export B=build
	printf "%s\n" "/* never exit(1) here */" "void a(void);" "void a(void) { const char *s = \"abort()\"; (void)s; } // printf(x)" >inject/core/good.c
	printf "%s\n" "void module_exit(void);" "void b(void) { snprintf(0, 0, 0); module_exit(); }" >>inject/core/good.c
	mkdir -p build/pic/inject/core build/pic/inject/process
	printf "inject/core/good.c:3:6:a\t16\tstatic\n" | tee build/pic/inject/core/good.su build/pic/inject/core/bad.su >build/pic/inject/process/lifecycle.su
	sh "$GPROF_TOP/scripts/check-guest.sh" .
	echo "void c(void) { fprintf(stderr, \"no\"); }" >inject/core/bad.c
	echo "void d(void) { _exit(1); }" >inject/process/lifecycle.c
	exits 1 sh "$GPROF_TOP/scripts/check-guest.sh" . >found
	says inject/core/bad.c found
	is 1 "$(wc -l <found)" "number of finds"
	CC=false exits 1 sh "$GPROF_TOP/scripts/check-guest.sh" . >found
	says "inject/core/good.c: false cannot read it" found
'

it 'names a function that takes much of the stack of the program, and one that was not measured' '
	export B=build
	mkdir -p inject/core trace build/pic/inject/core build/pic/trace
	printf "%s\n" "void a(void)" "{" "}" | tee inject/core/good.c >inject/core/carrier.c
	printf "%s\n" "inject/core/good.c:1:6:a	1024	static" "inject/core/good.c:5:6:b	1000	dynamic,bounded" >build/pic/inject/core/good.su
	printf "%s\n" "inject/core/carrier.c:9:6:is_last	1280	static" >build/pic/inject/core/carrier.su
	sh "$GPROF_TOP/scripts/check-guest.sh" .
	printf "%s\n" "trace/far.c:7:6:c	1040	static" "/usr/include/x.h:8:6:d	16	dynamic" >build/pic/trace/far.su
	printf "%s\n" "inject/core/carrier.c:9:6:is_first	1280	static" >>build/pic/inject/core/carrier.su
	cp inject/core/good.c inject/core/new.c
	: >trace/far.c
	echo "inject/gone.c:1:6:a	2000	static" >build/pic/inject/core/gone.su
	exits 1 sh "$GPROF_TOP/scripts/check-guest.sh" . >found
	says "trace/far.c:7: c() takes 1040 bytes" found
	says "trace/far.c:8: d() takes as much of the stack as its caller says" found
	says "inject/core/carrier.c:9: is_first() takes 1280 bytes" found
	says "inject/core/new.c: there is no build/pic/inject/core/new.su" found
	is 4 "$(wc -l <found)" "number of finds"
'

it 'names a line of a test that cannot fail' '
	mkdir -p test/e2e
	printf "%s\n" "	! grep wrong found || fail wrong" "	if ! true; then :; fi" >test/e2e/good.sh
	sh "$GPROF_TOP/scripts/check-tests.sh" .
	printf "%s\n" "	! grep wrong found" "	true" >test/e2e/bad.sh
	exits 1 sh "$GPROF_TOP/scripts/check-tests.sh" . >found
	says "test/e2e/bad.sh:1:" found
	is 1 "$(wc -l <found)" "number of finds"
'

it 'has assertions that fail without the file they look in' '
	asserts() { env CASE_WHY=why sh -euc ". \"\$GPROF_TOP/test/e2e/assert.sh\"; $1"; }
	echo text >there
	for assertion in "says text" "never_says other" "same there"; do
		exits 0 asserts "$assertion there"
		exits 1 asserts "$assertion missing"
	done
'

it 'names a script that a list of tests has and nobody else, and a command that no sanitized script runs' '
	mkdir -p test/e2e cli/cmd
	: >cli/cmd/cmd_import.c
	: >cli/cmd/cmd_recover.c
	echo "gprof-run; gprof-ctl; gprof-trace report list; gprof-trace import; gprof-trace export -t kineto; folded; pprof" >test/e2e/some.sh
	echo "some: bytes" >test/e2e/sanitized.txt
	printf "%s\n" "# a list" some renamed >test/e2e/quick.txt
	exits 1 sh "$GPROF_TOP/scripts/check-tests.sh" . >found
	says "test/e2e/quick.txt: there is no test/e2e/renamed.sh" found
	says "no script has gprof-trace recover" found
	is 2 "$(wc -l <found)" "number of finds"
	rm cli/cmd/cmd_recover.c
	echo some >test/e2e/quick.txt
	sh "$GPROF_TOP/scripts/check-tests.sh" .
'
