# What the body of an `it` may say.  Each ends the test when it is not true, and writes why to a file, not to a descriptor: the
# programs under test must see none of ours, and the caller may have redirected both streams.

fail() {
	printf '%s\n' "$*" >>"$CASE_WHY"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# exits STATUS COMMAND...: 128 + N is death by signal N.
exits() {
	want=$1
	shift
	got=0
	"$@" || got=$?
	[ "$got" -eq "$want" ] || fail "exit status $got, not $want: $*"
}

# says TEXT FILE, never_says TEXT FILE: a fixed string.
says() {
	grep -qF -e "$1" -- "$2" || fail "$2 does not say '$1':
$(head -n 40 -- "$2" 2>&1)"
}

never_says() {
	! grep -F -e "$1" -- "$2" >>"$CASE_WHY" || fail "$2 says '$1'"
}

# same WANT GOT: two files.
same() {
	diff -u -- "$1" "$2" >>"$CASE_WHY" || fail "$2 is not as $1"
}

# is WANT GOT [WHAT]: two texts.
is() {
	[ "$1" = "$2" ] || fail "${3:-it} is '$2', not '$1'"
}

# need THING [WHY]: a command, or a file by its absolute path; the test is skipped without it.
need() {
	case $1 in
	/*) [ -e "$1" ] || skip "${2:-needs $1}" ;;
	*) command -v "$1" >/dev/null || skip "${2:-needs $1}" ;;
	esac
}

# within SECONDS COMMAND...: tries until the command is true.
within() {
	limit=$(($(date +%s) + $1))
	seconds=$1
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -le "$limit" ] || fail "not true after $seconds s: $*"
		sleep 0.05
	done
}
