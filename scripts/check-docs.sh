#!/bin/sh
# Checks links of all documents: each relative link names an existing file and, after '#', a heading of that file; each docs/...md that any
# file names exists; docs/README.md lists every document.
cd "$(dirname "$0")/.." || exit 1
bad=$(mktemp) || exit 1
trap 'rm -f "$bad"' EXIT

documents() { git ls-files '*.md' | grep -v '^test/data/'; }

# headings FILE: prints the anchors that GitHub generates from headings, and those of <a id="...">.
headings() {
	grep -oE '<a id="[^"]+"' "$1" | cut -d'"' -f2
	awk '/^```/ { code = !code } !code && /^#+ / {
		sub(/^#+ +/, ""); gsub(/`/, ""); $0 = tolower($0); gsub(/[^a-z0-9 _-]/, ""); gsub(/ /, "-"); print
	}' "$1"
}

[ -n "$(documents)" ] || { echo "no documents found"; exit 1; }

documents | while read -r page; do
	grep -oE '\]\([^) ]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^(https?|mailto):' | sort -u | while read -r link; do
		file=${link%%#*}
		[ -n "$file" ] && path=$(dirname "$page")/$file || path=$page
		if [ ! -e "$path" ]; then
			echo "$page: no file for the link $link"
		elif [ "$link" != "$file" ] && ! headings "$path" | grep -qxF -e "${link#*#}"; then
			echo "$page: no heading for the link $link"
		fi
	done
done >"$bad"

git grep -noE '\bdocs/[a-z/-]+\.md' -- . ':!test/data' | while IFS=: read -r file line path; do
	[ -e "$path" ] || echo "$file:$line: there is no $path"
done >>"$bad"

for page in docs/*/*.md; do
	grep -qF "](${page#docs/})" docs/README.md || echo "docs/README.md does not list ${page#docs/}"
done >>"$bad"

# Reports and options that documents name: options.md has them all (check-words.sh keeps it up to date).
options=docs/reference/options.md
git grep -nhoE 'gprof-trace report -r [a-z_,]+' -- README.md docs ':!'"$options" | sed 's/.* -r //' | tr , '\n' | sort -u | grep . | while read -r name; do
	grep -qE "^ +$name( |\$)" "$options" || echo "documents name the report $name, which $options does not have"
done >>"$bad"
# Options of gpu-check.sh are its own.
git grep -hE '\bgprof-(run|trace|ctl) ' -- README.md docs ':!'"$options" ':!docs/howto/check-a-gpu.md' | grep -v gpu-check |
	sed 's/ -- .*//' | grep -oE ' --[a-z][a-z-]+' | grep -vx ' --help-all' | sort -u | while read -r name; do
	grep -qF -e "$name" "$options" || echo "documents name the option $name, which $options does not have"
done >>"$bad"

cat "$bad"
[ ! -s "$bad" ]
