# docs/reference/system-calls.md lists every system call that the injected object makes after main() has started.
. "$(dirname "$0")/lib.sh"

cat >"$E2E_ROOT/ours.awk" <<'END'
# Calls of our object after main() has started, from strace -f -k: the first frame outside of libc and the loader is in our object, and the
# outermost one not in the loader, which runs constructors.  What a hook passes on is the program's.
function last_call() {
	if (name != "" && mine && last !~ /\/ld-/) {
		print name
		if (name == "futex")
			print name ":" operation
	}
	name = ""
}
/^ > / {
	if (!seen && $2 !~ /\/libc[.-]|\/ld-|\/libpthread[.-]/) {
		seen = 1
		mine = $2 ~ /libgprof_inject/ && $2 !~ /\((pthread_create|thrd_create|posix_spawn|posix_spawnp|prctl|clone|pthread_exit)\+/
	}
	last = $2
	next
}
{
	last_call()
	mine = seen = 0
	last = ""
	pid = $1
	sub(/^[0-9]+ +/, "")
	if (/^futex\(/) {
		of[pid] = $2
		sub(/,$/, "", of[pid])
	}
	operation = of[pid]
	if (/^<\.\.\. /)
		name = $2
	else if (/^[a-z_0-9]+\(/ && !/unfinished \.\.\.>$/)
		name = substr($0, 1, index($0, "(") - 1)
}
END { last_call() }
END
cat >"$E2E_ROOT/calls.sh" <<'END'
need strace
P=$GPROF_BUILD/test/programs
need "$P/filters" "NVTX programs are not built"
strace -f -k -o probe true 2>/dev/null && grep -q "^ > .*libc" probe || skip "this strace shows no call stacks, or may not trace"
sed -n "s/^SYSTEM_CALL([A-Z]*, \([a-z_0-9]*\),.*/\1/p" "$GPROF_TOP/inject/core/system_calls.def" >listed
sed -n "s/^SYSTEM_CALL([A-Z]*, futex, 0, \([A-Z_ |]*\),.*/futex:\1/p" "$GPROF_TOP/inject/core/system_calls.def" | tr -d " " >>listed
printf "%s\n" execve execveat exit_group seccomp >>listed         # what hooks pass on
sort -u -o listed listed
# calls OPTIONS -- PROGRAM...: none that is not in the list, and LEAST of those that are.
calls() {
	rm -f log run.gtrace
	# Its status is that of strace, which may fail to walk a thread that has just ended.
	gprof-run -q -f -o run ${1-} -- strace -f -k -o log "$P/$2" $3 >out 2>err || :
	[ -s log ] || fail "$(cat err)"
	awk -f "$E2E_ROOT/ours.awk" log | sort -u >made
	comm -23 made listed >new
	[ ! -s new ] || fail "not in inject/core/system_calls.def: $(tr '\n' ' ' <new)"
	for call in $4; do
		grep -qx "$call" made || fail "$call was not made: $(tr '\n' ' ' <made)"
	done
}
END
export E2E_ROOT

it "a process without rows makes none" '
	. "$E2E_ROOT/calls.sh"
	for end in _exit return quick_exit; do
		calls "" filters "errno files $end 0 0" ""
		# The filter is looked at, and the program'"'"'s calls are passed on; nothing else is made.
		printf "%s\n" prctl rt_sigprocmask seccomp >told
		comm -23 made told >new
		[ ! -s new ] || fail "made: $(cat new)"
	done
	for end in 0 1; do
		rm -f log
		exits $end gprof-run -q -f -o run -- strace -f -k -o log sh -c "exit $end"
		is "" "$(awk -f "$E2E_ROOT/ours.awk" log)" calls
	done
'

it "NVTX, threads, ends and children make those that are listed" '
	. "$E2E_ROOT/calls.sh"
	calls "" nvtx_kinds "" "socket recvmsg gettid"
	calls "" filters "errno files return 6000 0" "socket"
	calls "" filters "errno files fork 1 1" "socket"
	calls "--nvtx-backtrace=*" filters "errno files thread 1 1" "socket"
'

it "CPU samples make those that are listed" '
	. "$E2E_ROOT/calls.sh"
	calls "-s cpu --nvtx-backtrace=*" nvtx_kinds "" "timer_create timer_settime"
'

it "rows on the pipe make those that are listed" '
	. "$E2E_ROOT/calls.sh"
	calls "--transport=pipe" nvtx_kinds "" "close_range futex write"
	calls "--transport=pipe" filters "errno files quick_exit 1 0" "write"
'

it "CUDA with call stacks makes those that are listed" '
	. "$E2E_ROOT/calls.sh"
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	calls "--cudabacktrace=all" driver_api 20 "futex"
'

it "the page has the same list" '
	sed -n "s/^SYSTEM_CALL(\([A-Z]*\), \([a-z_0-9]*\),.*/\1 \2/p" "$GPROF_TOP/inject/core/system_calls.def" | sort -u >listed
	sed -n "s/^| [^|]*(\`\([A-Z]*\)\`) | \([^|]*\) |.*/\1 \2/p" "$GPROF_TOP/docs/reference/system-calls.md" | tr -d "\`" |
		awk "{ for (i = 2; i <= NF; i++) print \$1, \$i }" | sort -u >written
	same listed written
'
