#!/bin/sh
# release-foreign.sh aarch64: gets libraries and an emulator for another architecture from Debian's archive and unpacks them in $B-release.
# Installs nothing; needs no root rights.
#	$B-release/libs-ARCH           include/ and lib/ of zstd and zlib
#	$B-release/run-ARCH PROGRAM    runs a program for ARCH: qemu-user with a libc for ARCH
# Exit status 77: not available; the last line has the reason.  Remove $B-release/foreign-ARCH to try again.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
arch=$1
case $arch in
aarch64) deb=arm64 ;;
*) echo "release-foreign.sh: no such machine: $arch"; exit 2 ;;
esac
place=$B-release/foreign-$arch

mkdir -p "$place" || exit 1
exec 7>"$place/lock"
! command -v flock >/dev/null || flock 7
[ ! -e "$B-release/run-$arch" ] || exit 0

lacking() {
	echo "$*" >"$place/missing"
	cat "$place/missing"
	exit 77
}
[ ! -s "$place/missing" ] || { cat "$place/missing"; exit 77; }
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
	lacking "for $arch: libc, libzstd.a and libz.a come from Debian's archive, and there is no apt-get here"

# Uses separate package lists: those of this machine are for its own architecture and are not changed.
apt() {
	timeout 60 apt-get -qq -o APT::Architecture="$deb" -o APT::Architectures="$deb" -o Dir::State="$place/state" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$place/cache" -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Retries=0 -o Acquire::http::Timeout=15 "$@" </dev/null >>"$place/log" 2>&1
}

# unpack PATTERN FOLDER [MEMBER...]: unpacks a downloaded package, or some files of it
unpack() {
	file=$(find "$place/get" -name "$1" | head -n 1)
	folder=$2
	shift 2
	mkdir -p "$folder" && dpkg-deb --fsys-tarfile "$file" | tar -x -C "$folder" "$@"
}

mkdir -p "$place/state/lists/partial" "$place/cache/archives/partial" "$place/get"
: >"$place/log"
apt update || lacking "for $arch: Debian's package list cannot be read: $(grep '^[EW]:' "$place/log" | tail -n 1)"
(cd "$place/get" && apt download libc6 libzstd-dev zlib1g-dev) ||
	lacking "for $arch: libc6, libzstd-dev and zlib1g-dev cannot be downloaded: $(grep '^E:' "$place/log" | tail -n 1)"
unpack 'libc6_*.deb' "$place/root" && unpack 'libzstd-dev_*.deb' "$place/root" &&
	unpack 'zlib1g-dev_*.deb' "$place/root" || lacking "for $arch: packages cannot be unpacked"
libs=$B-release/libs-$arch
mkdir -p "$libs/include" "$libs/lib"
cp "$place/root/usr/include/zstd.h" "$place/root/usr/include/zlib.h" "$libs/include/" &&
	find "$place/root/usr/include" -name zconf.h -exec cp {} "$libs/include/" \; && [ -e "$libs/include/zconf.h" ] &&
	cp "$place"/root/usr/lib/*/libzstd.a "$place"/root/usr/lib/*/libz.a "$libs/lib/" ||
	lacking "for $arch: libzstd-dev or zlib1g-dev is not as expected"

# Unpacks one emulator; all of them take 60 MB.
emulator=$(command -v "qemu-$arch-static" || command -v "qemu-$arch") || {
	(cd "$place/get" && timeout 60 apt-get -qq -o Acquire::Retries=0 download qemu-user-static </dev/null >>"$place/log" 2>&1) ||
		lacking "for $arch: qemu-user-static cannot be downloaded: $(grep '^E:' "$place/log" | tail -n 1)"
	unpack 'qemu-user-static_*.deb' "$place" "./usr/bin/qemu-$arch-static" || lacking "for $arch: qemu-user-static cannot be unpacked"
	emulator=$place/usr/bin/qemu-$arch-static
}
rm -rf "$place/get" "$place/state" "$place/cache"
cat >"$B-release/run-$arch.new" <<END
#!/bin/sh
exec '$emulator' -L '$place/root' "\$@"
END
chmod +x "$B-release/run-$arch.new" && mv "$B-release/run-$arch.new" "$B-release/run-$arch"
