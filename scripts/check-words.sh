#!/bin/sh
# Checks the wording of texts for users: README, docs, help, man pages, messages, health reasons, titles and notes of tables.
# scripts/words.txt has phrases that are errors, one extended regular expression per line.  Exceptions are in scripts/words-allowed.txt,
# lines "FILE: FRAGMENT" (the text of FILE that contains FRAGMENT).  Also checks that docs/reference/options.md has every option and report
# with a text.
#	scripts/check-words.sh          all texts of the repository
#	scripts/check-words.sh FILE...  only these files
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Prints "FILE:LINE: TEXT" for each string literal of C and .def files; adjacent literals are one text; comments are ignored.
literals() {
	awk '
	function flush() { if (text ~ /[A-Za-z][A-Za-z][A-Za-z]/) print file ":" at ": " text; text = ""; open = 0 }
	FNR == 1 { flush(); state = "code"; file = FILENAME }
	state == "code" && /^[ \t]*#[ \t]*include/ { next }
	{
		n = length($0)
		for (i = 1; i <= n; i++) {
			c = substr($0, i, 1)
			if (state == "comment") {
				if (c == "*" && substr($0, i + 1, 1) == "/") { state = "code"; i++ }
			} else if (state == "string") {
				if (c == "\\") { d = substr($0, ++i, 1); text = text (d == "n" || d == "t" ? " " : d) }
				else if (c == "\"") state = "code"
				else text = text c
			} else if (c == "\"") {
				if (!open) { at = FNR; open = 1 }
				state = "string"
			} else if (c == "/" && substr($0, i + 1, 1) == "*") { state = "comment"; i++ }
			else if (c == "/" && substr($0, i + 1, 1) == "/") break
			else if (c == "\047") { i += substr($0, i + 1, 1) == "\\" ? 3 : 2; if (open) flush() }
			else if (c != " " && c != "\t" && c != "\\" && open) flush()
		}
	}
	END { flush() }' "$@" /dev/null
}

# Prints each paragraph of a document as one line.
paragraphs() {
	awk '
	function flush() { if (text != "") print file ":" at ": " text; text = "" }
	FNR == 1 { flush(); file = FILENAME }
	/^[ \t]*$/ || /^\|/ || /^#/ || /^[ \t]*([-*]|[0-9]+\.) / { flush() }
	!/^[ \t]*$/ { if (text == "") at = FNR; sub(/^[ \t]+/, ""); text = text (text == "" ? "" : " ") $0 }
	END { flush() }' "$@" /dev/null
}

# Sources whose literals are texts for users; those of inject/ are details of health.
sources() { git ls-files 'inject/*.c' 'cli/*.c' 'cli/*.h' 'cli/*.def' 'collector/*.[ch]' 'trace/*.c' 'trace/*.def'; }
documents() { git ls-files 'README.md' 'CHANGELOG.md' 'docs/*.md' 'test/readers/*.md' | grep -v '^docs/reference/options.md'; }

if [ $# -gt 0 ]; then
	for file; do
		case $file in *.md) paragraphs "$file" ;; *) literals "$file" ;; esac
	done >"$work/texts"
else
	{
		# shellcheck disable=SC2046
		literals $(sources)
		# shellcheck disable=SC2046
		paragraphs $(documents)
	} >"$work/texts"
fi
[ -s "$work/texts" ] || { echo "no texts found"; exit 1; }

grep -vE '^(#|$)' scripts/words.txt >"$work/phrases"
grep -vE '^(#|$)' scripts/words-allowed.txt >"$work/allowed"
grep -iE -f "$work/phrases" "$work/texts" >"$work/hits"
while IFS= read -r hit; do
	ok=
	while IFS= read -r allowed; do
		case $hit in "${allowed%%: *}":*"${allowed#*: }"*) ok=1 ;; esac
	done <"$work/allowed"
	[ -n "$ok" ] || {
		place=$(echo "$hit" | cut -d: -f1,2)
		echo "$place: not plain: '$(echo "$hit" | grep -oiE -f "$work/phrases" | head -n 1)' in: $(echo "$hit" | cut -d: -f3- | cut -c2-200)"
	}
done <"$work/hits" >"$work/bad"

# docs/reference/options.md must equal the current output of the programs.
if [ $# -eq 0 ] && [ -x "$B/bin/gprof-trace" ]; then
	scripts/gen-options.sh "$B" >"$work/options"
	cmp -s "$work/options" docs/reference/options.md || {
		echo "docs/reference/options.md is out of date: make docs"
		diff docs/reference/options.md "$work/options" | head -n 8
	}
	# Finds options and reports without a text.
	grep -nE '^(  -.|      -)[^ ]*( [^ ]+)?$' docs/reference/options.md | while IFS=: read -r line row; do
		sed -n "$((line + 1))p" docs/reference/options.md | grep -q '^ \{20\}' || echo "docs/reference/options.md:$line: no text for $row"
	done
fi >>"$work/bad"

cat "$work/bad"
[ ! -s "$work/bad" ]
