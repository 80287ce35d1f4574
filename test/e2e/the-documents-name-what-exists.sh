#!/bin/sh
# Files and tests that the documents for developers name exist (except files that a howto tells the reader to create), and so do the texts
# that readers are asked about.
. "$(dirname "$0")/lib.sh"

it 'each test that the list of traps names is there' '
	page=$GPROF_TOP/docs/explanation/cupti-traps.md
	grep -oE "[a-z0-9-]+\.sh" "$page" | sort -u | grep -v gpu-check >scripts
	[ "$(wc -l <scripts)" -ge 20 ] || fail "only $(wc -l <scripts) scripts are named"
	while read -r name; do
		[ -e "$GPROF_TOP/test/e2e/$name" ] || echo "$name" >>missing
	done <scripts
	# Names of unit tests: at least four words.
	grep -oE "[a-z]+(_[a-z0-9]+){4,}" "$page" | sort -u >units
	[ "$(wc -l <units)" -ge 15 ] || fail "only $(wc -l <units) unit tests are named"
	grep -rhoE "^TEST\([a-z0-9_]+\)" "$GPROF_TOP/test/unit" | sed "s/TEST(//; s/)//" | sort -u >tests
	comm -23 units tests >>missing
	[ ! -s missing ] || fail "not there: $(cat missing)"
'

it 'the list of traps has each number of a version that the simulated CUPTI has' '
	sed -n "s/^.{ RELEASE(.*), \([0-9]*\) },.*/\1/p" "$GPROF_TOP/test/sim/release.c" >simulated
	[ "$(wc -l <simulated)" -ge 20 ] || fail "only $(wc -l <simulated) versions are simulated"
	sed -n "/id=\"versions\"/,/^## /p" "$GPROF_TOP/docs/explanation/cupti-traps.md" | grep "^| " |
		awk -F"|" "{ print \$2, \$4 }" | grep -oE "[0-9]+" | sort -n >listed
	while read -r version; do
		grep -qx "$version" listed || echo "$version" >>missing
	done <simulated
	[ ! -s missing ] || fail "not in the table: $(cat missing)"
'

it 'each file of the repository that a page names is there' '
	cd "$GPROF_TOP"
	grep -ohE "\`(inject|collector|trace|cli|test|scripts|docs)/[A-Za-z0-9_./-]+\`" README.md docs/*.md docs/*/[!a]*.md docs/*/architecture.md | tr -d "\`" | grep -v "/[A-Z]*/" | sort -u >"$OLDPWD/named"
	cd "$OLDPWD"
	[ "$(wc -l <named)" -ge 20 ] || fail "only $(wc -l <named) files are named"
	while read -r name; do
		[ -e "$GPROF_TOP/${name%/}" ] || ls -d "$GPROF_TOP/$name"* >/dev/null 2>&1 || echo "$name" >>missing
	done <named
	[ ! -s missing ] || fail "not there: $(cat missing)"
'

it 'each text that readers are asked about is made, and no other' '
	need "$GPROF_BUILD/sim/libcuda.so.1"
	sh "$GPROF_TOP/test/readers/texts.sh" texts "$GPROF_BUILD" >out 2>&1 || fail "$(cat out)"
	grep -ohE "\`[A-Za-z0-9_-]+\.txt\`" "$GPROF_TOP/test/readers/questions.md" | tr -d "\`" | sort -u >named
	(cd texts && ls | grep "\.txt$" | sort) >made
	[ "$(wc -l <named)" -ge 20 ] || fail "only $(wc -l <named) texts are named"
	same named made
	for text in texts/*.txt; do
		[ "$(wc -l <"$text")" -ge 2 ] || fail "$text: $(cat "$text")"
		case $text in
		*/error-*) says "(exit status" "$text" ;;
		*/README.txt) ;;
		*) never_says "(exit status" "$text" ;;
		esac
	done
'
