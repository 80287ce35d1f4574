#!/bin/sh
# `make dist`: $B/gprof-run-VERSION-linux-x86_64.tar.xz, from the binaries of release.sh.  Works in any folder.  Builds of the
# same source are identical.  Exit status 77: something is missing; the last line says what.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
export B
command -v xz >/dev/null || { echo "dist.sh: needs xz (Debian: xz-utils)"; exit 77; }

scripts/release.sh x86_64 || exit
version=$(sed -n 's/.*GPROF_VERSION "\(.*\)".*/\1/p' trace/version.h)
name=gprof-run-$version-linux-x86_64
work=$(mktemp -d "${TMPDIR:-/tmp}/gprof-dist.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
tree=$work/$name

scripts/install.sh "$B-release/x86_64" "$tree" >/dev/null || exit 1
doc=$tree/share/doc/gprof-run
mkdir -p "$doc/docs" && cp README.md LICENSE "$doc/" && cp -R docs/. "$doc/docs/" && cp LICENSE "$tree/" || exit 1

# zstd and zlib are linked statically; the licence of zstd requires its text in the tarball.
for text in /usr/share/doc/libzstd-dev/copyright /usr/share/licenses/libzstd*/LICENSE; do
	[ ! -e "$text" ] || cp "$text" "$doc/LICENSE.zstd" || exit 1
done
for text in /usr/share/doc/zlib1g-dev/copyright /usr/share/licenses/zlib*/LICENSE; do
	[ ! -e "$text" ] || cp "$text" "$doc/LICENSE.zlib" || exit 1
done
[ -e "$doc/LICENSE.zstd" ] && [ -e "$doc/LICENSE.zlib" ] || {
	echo "dist.sh: the licences of zstd and zlib are not where Debian and Fedora keep them"
	exit 77
}

cat >"$tree/README" <<-END
	gprof-run $version for Linux on x86-64, any distribution with glibc 2.28 or later.

	    bin/gprof-run -- python train.py      records; prints a page at the end
	    bin/gprof-trace report                the newest trace here, as tables
	    bin/gprof-ctl start                   records a program that runs, from now on

	Nothing to install: the programs find each other, so keep the folders together.
	They need neither root nor network, and write nothing but the trace and, while
	they run, a folder in XDG_RUNTIME_DIR, TMPDIR or /tmp.

	Containers and read-only systems: share/doc/gprof-run/docs/howto/containers.md
	Everything else: share/doc/gprof-run/README.md, man -l share/man/man1/gprof-run.1
END

when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y trace/version.h)}
find "$tree" -type d -exec chmod 755 {} +
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$when" --format=gnu -cf "$work/tar" "$name" &&
	xz -9e -T1 "$work/tar" && mv "$work/tar.xz" "$B/$name.tar.xz" || exit 1
echo "dist.sh: $B/$name.tar.xz ($(($(stat -c %s "$B/$name.tar.xz") / 1024)) KiB)"
