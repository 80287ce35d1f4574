# Unit tests of inject/ and trace/, built for aarch64 and run under qemu-user.  Without a time stamp counter, times are CLOCK_MONOTONIC.
. "$(dirname "$0")/lib.sh"

# The first time it downloads 65 MB; the scripts have limits of their own.
LIMIT=600
it 'the unit tests of inject/ and trace/ pass on aarch64' '
	B=$GPROF_BUILD sh "$GPROF_TOP/scripts/release-check.sh" aarch64 >said 2>&1 || {
		status=$?
		grep -vE "^(ok|  CC|  LINK) " said
		exit $status
	}
	[ "$(grep -c "^ok " said)" -ge 100 ] || fail "only $(grep -c "^ok " said) unit tests passed"
'

it 'the injected object for aarch64 needs no symbol of a glibc later than 2.28, and no library but those of glibc' '
	need readelf
	need "$GPROF_BUILD-release/aarch64/lib/gprof/libgprof_inject.so" "it could not be built"
	sh "$GPROF_TOP/scripts/release-glibc.sh" "$GPROF_BUILD-release/aarch64/lib"
	readelf -hW "$GPROF_BUILD-release/aarch64/lib/gprof/libgprof_inject.so" >header
	says AArch64 header
	readelf -dW "$GPROF_BUILD-release/aarch64/lib/gprof/libgprof_inject.so" | sed -n "s/.*(NEEDED).*\[\(.*\)\]/\1/p" >needed
	exits 1 grep -vE "^(libc|libdl|libpthread|ld-linux[a-z0-9-]*)\.so\.[0-9]+$" needed
'
