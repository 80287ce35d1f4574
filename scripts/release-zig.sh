#!/bin/sh
# release-zig.sh TARGET (x86_64-linux-gnu.2.28): prints the path of a C compiler for the target.  zig has the symbol versions of every
# glibc, so its binaries run on the given glibc and all later ones.  zig is taken from $ZIG, from PATH, or from PyPI into $B-release/zig.
# Exit status 77: not available; the last line has the reason.  Remove $B-release/zig to try again.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
place=$B-release/zig
target=$1

mkdir -p "$place" || exit 1
exec 9>"$place/lock"
! command -v flock >/dev/null || flock 9

lacking() {
	echo "$*" >"$place/missing"
	cat "$place/missing"
	exit 77
}

from_pypi() {
	command -v python3 >/dev/null || lacking 'no zig here, and no python3 to install it (PyPI: ziglang); ZIG=PATH names one'
	python3 -m venv "$place/venv" >"$place/log" 2>&1 || lacking "no zig here, and python3 cannot make a virtual environment for it"
	timeout 240 "$place/venv/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 15 ziglang >>"$place/log" 2>&1 ||
		lacking "no zig here, and pip cannot install ziglang: $(grep -v -i '^warning' "$place/log" | tail -n 1)"
	"$place/venv/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))'
}

if [ ! -x "$place/zig" ]; then
	[ ! -s "$place/missing" ] || { cat "$place/missing"; exit 77; }
	zig=${ZIG:-$(command -v zig)} || zig=
	[ "$zig" ] || zig=$(from_pypi) || { echo "$zig"; exit 77; }
	"$zig" version >/dev/null 2>&1 || lacking "this zig does not run: $zig"
	ln -sf "$zig" "$place/zig"
fi
# Ignores warnings about unused link options, which make passes to every call of the compiler.
cat >"$place/cc-$target.new" <<END
#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR='$place/cache' ZIG_LOCAL_CACHE_DIR='$place/cache'
exec '$place/zig' cc -target $target "\$@"
END
chmod +x "$place/cc-$target.new" && mv "$place/cc-$target.new" "$place/cc-$target" && echo "$place/cc-$target"
