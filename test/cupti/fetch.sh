#!/bin/sh
# fetch.sh FOLDER: gets the packages of wheels.txt with pip and unpacks each into FOLDER/RELEASE.  What is there is not fetched again.
# Ends with 1, and one line that says why, where one cannot be had or is not the one that is pinned.
set -u
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
mkdir -p "$1" && cd "$1" || exit 1
sed '/^#/d' "$here/wheels.txt" | while read -r release package version hash; do
	[ ! -e "$release/complete" ] || continue
	rm -rf "$release" wheel && mkdir wheel || exit 1
	echo "$package==$version --hash=sha256:$hash" >wheel/requirement
	timeout 120 "$python" -m pip download -q --no-deps --require-hashes --only-binary=:all: --no-cache-dir --disable-pip-version-check --retries 1 \
		--timeout 15 -d wheel -r wheel/requirement >wheel/log 2>&1 </dev/null || {
		echo "$package $version cannot be had: $(grep -v '^WARNING' wheel/log | tail -n 1)"
		exit 1
	}
	"$python" -m zipfile -e wheel/*.whl "$release" || exit 1
	find "$release" -name "*.so*" ! -name "libcupti.so*" -delete
	find "$release" -name "*.a" -delete
	: >"$release/complete"
	rm -r wheel
done
