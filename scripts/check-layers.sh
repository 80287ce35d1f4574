#!/bin/sh
# Rooms of the source (scripts/layers.txt): prints each include that the room of its file does not allow, and fails.  Also fails if a folder is not in
# the table or has no README.md of 15 lines or fewer, if an exception is not needed, and if the architecture page shows other rooms than the table.
#	check-layers.sh [FOLDER]   FOLDER: checks only the includes, of another tree; used by the test of this script
#	check-layers.sh --docs     writes the rooms of the table to docs/explanation/architecture.md
here=$(cd "$(dirname "$0")" && pwd) || exit 1
table=$here/layers.txt
page=docs/explanation/architecture.md
whole=yes
case ${1-} in
'' | --docs) cd "$here/.." || exit 1 ;;
*) cd "$1" && whole= || exit 1 ;;
esac

# Lines "FILE HEADER" of all includes.
includes() {
	grep -rHoE '^#[[:space:]]*include "[^"]+' --include='*.[ch]' --include='*.def' trace inject collector cli | sed 's/:#[[:space:]]*include "/ /' | sort
}

# Prints the includes that the table does not allow, and what is wrong in the table.
judge() {
	awk -v whole="$whole" '
	function folder(path) { sub("/[^/]*$", "", path); return path }
	# Whether the word allows the header: a header, a room, or a room with all rooms inside it.
	function allows(word, header, room) {
		if (sub("/[*]$", "", word))
			return room == word || index(room, word "/") == 1
		return word == header || word == room
	}
	function above(word, n,   room) {
		sub("/[*]$", "", word)
		for (room in floor)
			if (floor[room] < n && (room == word || room == folder(word) || index(room, word "/") == 1))
				return 1
		return 0
	}
	function room_line(line,   part, word, n, i, k, set) {
		split(line, part, / *\| */)
		if (part[1] in floor)
			print "layers.txt: " part[1] " stands twice"
		floor[part[1]] = ++rooms
		n = split(part[3], word, " ")
		for (i = 1; i <= n; i++) {
			set = word[i] in sets ? sets[word[i]] : word[i]
			uses[part[1]] = uses[part[1]] " " set
		}
		n = split(uses[part[1]], word, " ")
		for (i = 1; i <= n; i++)
			if (!above(word[i], rooms))
				print "layers.txt: " part[1] " may not include " word[i] ", which no line above it has"
	}
	function allowed(file, header,   from, to, word, n, i) {
		from = folder(file)
		to = folder(header)
		if (from == to)
			return 1
		if (!(from in floor) || !(to in floor) || floor[to] >= floor[from])
			return 0
		n = split(uses[from], word, " ")
		for (i = 1; i <= n; i++)
			if (allows(word[i], header, to))
				return 1
		return 0
	}
	NR == FNR && /^@/ { name = $1; sub(/^[^=]*= */, ""); sets[name] = sets[name] " " $0; next }
	NR == FNR && /^!/ { exception[$2 " " $3] = 1; next }
	NR == FNR { if ($0 != "" && !/^#/) room_line($0); next }
	($1 " " $2) in exception {
		if (allowed($1, $2))
			print "layers.txt: the exception for " $1 " and " $2 " is not needed: it is allowed"
		delete exception[$1 " " $2]
		next
	}
	!allowed($1, $2) { print $1 ": may not include \"" $2 "\"" }
	END {
		for (pair in exception)
			if (whole)
				print "layers.txt: the exception for " pair " is not needed: there is no such include"
	}' "$table" -
}

# Each folder with sources is a room, each room is a folder, and has a short README.md.
folders() {
	find trace inject collector cli -type f ! -name README.md | sed 's|/[^/]*$||' | sort -u | while read -r room; do
		grep -q "^$room |" "$table" || echo "$room: is not in layers.txt"
	done
	grep -E '^[a-z]' "$table" | sed 's/ .*//' | while read -r room; do
		if [ ! -e "$room/README.md" ]; then
			echo "$room: has no README.md"
		elif [ "$(wc -l <"$room/README.md")" -gt 15 ]; then
			echo "$room/README.md: more than 15 lines"
		fi
	done
}

# The page with the rooms of the table between its two marks.
page_with_rooms() {
	grep -E '^[a-z]' "$table" | awk -F ' *[|] *' '{ printf "    %-18s %s\n", $1, $2 }' >"$rooms"
	awk -v rooms="$rooms" '
	/^<!-- end of the rooms -->/ { inside = 0 }
	!inside
	/^<!-- rooms: / { inside = 1; print ""; while ((getline line <rooms) > 0) print line; print "" }' "$page"
}

rooms=$(mktemp) || exit 1
trap 'rm -f "$rooms" "$rooms.page"' EXIT
if [ "${1-}" = --docs ]; then
	page_with_rooms >"$rooms.page" && cat "$rooms.page" >"$page"
	exit
fi
found=$(
	includes | judge
	# NVIDIA's headers are not used; zstd only in trace/, zlib only in two files of cli/.
	grep -rHE '^#[[:space:]]*include <(cuda|cupti|nvtx|nvToolsExt|generated_)' --include='*.[ch]' trace inject collector cli
	grep -rHE '^#[[:space:]]*include <zstd' --include='*.[ch]' inject collector cli
	grep -rHE '^#[[:space:]]*include <zlib' --include='*.[ch]' trace inject collector cli | grep -vE '^cli/(import/bytes/inflate|export/gzip)\.c:'
	if [ -n "$whole" ]; then
		folders
		grep -q '^<!-- rooms: ' "$page" && page_with_rooms | cmp -s - "$page" || echo "$page: does not show the rooms of layers.txt: run scripts/check-layers.sh --docs"
	fi
)
[ -z "$found" ] && exit 0
printf '%s\n' "$found"
exit 1
