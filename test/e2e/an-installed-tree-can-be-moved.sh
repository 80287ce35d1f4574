# `make install PREFIX=DIR`: programs in bin/, the rest in lib/gprof/, man pages and completion; no file contains the path DIR.
. "$(dirname "$0")/lib.sh"

it 'installs exactly these files' '
	sh "$GPROF_TOP/scripts/install.sh" "$GPROF_BUILD" "$PWD/a b"
	(cd "a b" && find . -type f | LC_ALL=C sort) >got
	cat >want <<-END
	./bin/gprof-ctl
	./bin/gprof-run
	./bin/gprof-trace
	./lib/gprof/gprof-collector
	./lib/gprof/libgprof_inject.so
	./share/bash-completion/completions/gprof-ctl
	./share/bash-completion/completions/gprof-run
	./share/bash-completion/completions/gprof-trace
	./share/man/man1/gprof-ctl.1
	./share/man/man1/gprof-run.1
	./share/man/man1/gprof-trace.1
	END
	same want got
'

it 'records and reports from wherever it was moved to' '
	sh "$GPROF_TOP/scripts/install.sh" "$GPROF_BUILD" "$PWD/first"
	mkdir "else where"
	mv first "else where/second"
	PATH=/usr/bin:/bin
	"else where/second/bin/gprof-run" -o run -- /bin/echo hello >out 2>err
	is hello "$(cat out)"
	test -s run.gtrace
	"else where/second/bin/gprof-trace" info run.gtrace >info
	says echo info
	"else where/second/bin/gprof-trace" check run.gtrace
'

it 'runs through a symbolic link' '
	sh "$GPROF_TOP/scripts/install.sh" "$GPROF_BUILD" "$PWD/tree"
	mkdir links
	ln -s ../tree/bin/gprof-run links/gprof-run
	links/gprof-run -o run -- /bin/true
	test -s run.gtrace
'

it 'has man pages that a formatter accepts and that name every option of --help' '
	sh "$GPROF_TOP/scripts/install.sh" "$GPROF_BUILD" "$PWD/tree"
	need groff
	for page in tree/share/man/man1/*.1; do
		groff -man -Tutf8 -ww -z "$page" 2>warnings
		is "" "$(cat warnings)" "what groff says about $page"
		name=$(basename "$page" .1)
		tree/bin/$name --help >help
		groff -man -Tascii -P-bcou "$page" >text
		grep -oE -e "--[a-z][a-z-]+" help | grep -v -x -e --help | sort -u | while read -r option; do
			says "$option" text
		done
	done
'

# An example is a sentence that ends with a colon, and its command lines.
it 'has ten examples in each man page' '
	for name in gprof-run gprof-trace gprof-ctl; do
		"$GPROF_BUILD/bin/$name" --man | sed -n "/^.SH EXAMPLES/,/^.SH SEE/p" >examples
		test "$(grep -c ":\$" examples)" -ge 10
		is "" "$(grep -oE "^ +gprof-[a-z]+" examples | tr -d " " | sort -u | grep -vxE "gprof-(run|trace|ctl)")" "programs in examples"
	done
'

it 'has completions that bash accepts' '
	need bash
	for file in "$GPROF_BUILD"/bin/gprof-run "$GPROF_BUILD"/bin/gprof-trace "$GPROF_BUILD"/bin/gprof-ctl; do
		"$file" --completion >completion
		bash -n completion
		says complete completion
	done
	is "start stop status" "$(bash -c "eval \"\$(\"$GPROF_BUILD/bin/gprof-ctl\" --completion)\"
		COMP_WORDS=(gprof-ctl st) COMP_CWORD=1; _gprof_ctl; echo \${COMPREPLY[@]}")" "verbs of gprof-ctl"
'
