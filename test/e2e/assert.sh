# Assertions for the body of an `it`.  A failed assertion ends the test and writes the reason to a file: the programs under test must not
# inherit an extra descriptor, and the caller may have redirected stdout and stderr.

fail() {
	printf '%s\n' "$*" >>"$CASE_WHY"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# exits STATUS COMMAND...: the command's exit status; 128 + N: ended by signal N.
exits() {
	want=$1
	shift
	got=0
	"$@" || got=$?
	[ "$got" -eq "$want" ] || fail "exit status $got, not $want: $*"
}

# says TEXT FILE, never_says TEXT FILE: the file exists, and contains or does not contain the fixed string.
says() {
	grep -qF -e "$1" -- "$2" || fail "$2 does not say '$1':
$(head -n 40 -- "$2" 2>&1)"
}

never_says() {
	[ -r "$2" ] || fail "there is no file $2 to look in"
	! grep -F -e "$1" -- "$2" >>"$CASE_WHY" || fail "$2 says '$1'"
}

# same WANT GOT: the two files are equal.
same() {
	diff -u -- "$1" "$2" >>"$CASE_WHY" || fail "$2 is not as $1"
}

# is WANT GOT [WHAT]: the two texts are equal.
is() {
	[ "$1" = "$2" ] || fail "${3:-it} is '$2', not '$1'"
}

# need THING [WHY]: skips the test unless THING exists: a command, or a file given by its absolute path.
need() {
	case $1 in
	/*) [ -e "$1" ] || skip "${2:-needs $1}" ;;
	*) command -v "$1" >/dev/null || skip "${2:-needs $1}" ;;
	esac
}

# within SECONDS COMMAND...: repeats the command until it succeeds.
within() {
	limit=$(($(date +%s) + $1))
	seconds=$1
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -le "$limit" ] || fail "not true after $seconds s: $*"
		sleep 0.05
	done
}
