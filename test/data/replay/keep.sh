#!/bin/sh
# keep.sh RAW-FOLDER TRACE NAME: makes a recording of what `gprof-run --record-raw RAW-FOLDER -o TRACE` left: NAME.gpraw.gz, the buffers,
# and NAME.rows, what they were decoded to where they were recorded.  Of several processes each has its number behind NAME.
set -eu
raw=$1 trace=$2 name=$3
here=$(dirname "$0")
say() { echo "keep.sh: $*" >&2; exit 1; }

set -- "$raw"/*.gpraw
[ -e "$1" ] || say "no *.gpraw in $raw; was it recorded with --record-raw $raw?"
[ -z "$(gprof-trace dump -k drop "$trace")" ] || say "$trace lost rows, so what the buffers were decoded to is not all there"
mkdir -p "$(dirname "$name")"
several=
[ $# -eq 1 ] || several=yes
i=0
for file do
	i=$((i + 1))
	pid=$(basename "$file" .gpraw)
	to=$name${several:+-$i}
	sh "$here/rows.sh" "$trace" "$pid" >"$to.rows"
	[ -s "$to.rows" ] || say "process $pid has no rows of the GPU in $trace"
	gzip -9c "$file" >"$to.gpraw.gz"
	echo "$to.gpraw.gz"
done
