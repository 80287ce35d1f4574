# The program inherits the same files, terminal, process group, signals and limits as without gprof-run.
# also on the pipe
. "$(dirname "$0")/lib.sh"

export ENDS="$GPROF_BUILD/test/programs/ends" SIGNALS="$GPROF_BUILD/test/programs/signals"

# All that a program can see of what it inherited.  Through the shell, so that descriptors 0 to 9 are told as they came.
cat >"$E2E_ROOT/facts" <<'END'
#!/bin/sh
grep -E '^(Sig(Blk|Ign|Cgt|Pnd)|ShdPnd|Umask|NoNewPrivs|Seccomp:|Cpus_allowed:|Groups|Uid|Gid|CapPrm|CapEff)' /proc/self/status
cat /proc/self/limits
awk '{ print "group " $5 " session " $6 " tty " $7 " foreground " $8 " nice " $19 }' /proc/self/stat
find /proc/$$/fd -printf '%f %l\n'
for fd in 0 1 2; do if [ -t $fd ]; then echo "$fd is a terminal"; fi; done
pwd
ulimit -a
env | grep -vE '^(LD_PRELOAD|CUDA_INJECTION64_PATH|NVTX_INJECTION64_PATH|GPROF_SESSION|SHLVL|_)=' | sort
END
chmod 755 "$E2E_ROOT/facts"
export FACTS="$E2E_ROOT/facts"

it 'gives it the same descriptors, group, session, signals, limits and variables' '
	"$FACTS" >want 2>&1 <"$FACTS"
	gprof-run -q -o run -- "$FACTS" >got 2>err <"$FACTS"
	sed "s|/here/got$|/here/want|; s|/here/err$|/here/want|" got >got2
	cat want >want2
	same want2 got2
'

it 'gives it the same when descriptors are closed or many, and signals ignored or blocked' '
	need "$ENDS"
	for how in "-c 0" "-c 1" "-c 2" "-c 0 -c 1 -c 2" "-i 1 -i 2 -i 13 -i 17 -i 20" "-b 2 -b 15 -b 17 -b 34" "-g"; do
		exec 7<"$FACTS" 9>>nine
		"$ENDS" $how how sh -c "$FACTS >want 2>&1"
		"$ENDS" $how how gprof-run -q -o run -f -- sh -c "$FACTS >got 2>&1"
		grep -v "^group" got | sed "s|/got|/want|" >got2
		grep -v "^group" want >want2
		same want2 got2
		is "exit 0" "$(cat how)"
	done
'

it 'gives it the same terminal, in the foreground' '
	need script
	script -qec "$FACTS" /dev/null </dev/null >want
	script -qec "gprof-run -q -o run -- $FACTS" /dev/null </dev/null >got
	for f in want got; do
		tr -d "\r" <$f | sed -E "s|pts/[0-9]+|pts/N|; s|^group.*|group|" | grep -v "the trace is" >$f.2
		tr -d "\r" <$f | awk "/^group/ { print (\$2 == \$8), \$6 == \$2 || 1, (\$5 != 0) }" >>$f.2
	done
	same want.2 got.2
	says "0 is a terminal" got
'

it 'passes input and output through untouched' '
	seq 1 200000 >numbers
	gprof-run -q -o run -- cat <numbers >out 2>err
	same numbers out
	head -c 100000 /dev/urandom >bytes
	cat bytes | gprof-run -q -o run -f -- cat 2>err | cmp - bytes
	gprof-run -q -o run -f -- sh -c "echo one; echo two >&2; echo three" >out 2>err
	printf "one\nthree\n" >want
	same want out
	is "two" "$(head -n 1 err)"
'

it 'prints nothing on standard output' '
	gprof-run -t cuda,osrt -o run --stats -- true >out 2>err
	test ! -s out
	test -s err
'

it 'leaves no process that keeps a pipe open' '
	gprof-run -q -o run -- true 2>&1 >/dev/null | cat >out
	gprof-run -q -o run -f -- echo hi 2>err | cat >out
	is hi "$(cat out)"
'

it 'hands a ^C on the terminal to the program once, and survives it' '
	need script
	need "$SIGNALS"
	(
		within 20 test -e log.pid
		printf "\003"
		within 20 test -s log
		printf "\034"
		within 20 grep -qx 3 log
		kill -USR2 $(cat log.pid)
	) | script -qec "exec gprof-run -q -o run -- $SIGNALS log" /dev/null >out
	printf "2\n3\n" >want
	grep -vx 28 log >log2
	same want log2
'

it 'stops and goes on with the program under a shell with job control' '
	need script
	need bash
	foreground() { awk "{ exit \$5 != \$8 }" /proc/$(cat up)/stat; }
	(
		printf "gprof-run -q -o run -- sh -c \"echo \\\$\\\$ >up; exec sleep 100\"\n"
		within 20 test -s up
		within 20 grep -q sleep /proc/$(cat up)/cmdline
		printf "\032"
		within 20 grep -q "State:.T" /proc/$(cat up)/status
		printf "jobs >stopped\n"
		within 20 grep -q Stopped stopped
		printf "bg; jobs >running\n"
		within 20 grep -q Running running
		within 20 grep -q "State:.S" /proc/$(cat up)/status
		printf "fg\n"
		within 20 foreground
		printf "\003"
		within 20 test ! -e /proc/$(cat up)
		printf "echo \$? >code; exit\n"
		within 20 test -s code
	) | script -qec "bash --norc --noprofile -i" /dev/null >out 2>&1
	is 130 "$(cat code)" "the exit status after ^C"
'

it 'shows its parent the signal that stopped the program' '
	need "$ENDS"
	"$ENDS" -g how gprof-run -q -o run -- sh -c "kill -TSTP \$\$; exit 4" 2>err
	printf "stopped 20\nexit 4\n" >want
	same want how
	"$ENDS" -g how gprof-run -q -o run -f -- sh -c "kill -TTIN \$\$; kill -TTOU \$\$; exit 4" 2>err
	printf "stopped 21\nstopped 22\nexit 4\n" >want
	same want how
'

it 'gives the program only what -e says with --inherit-environment=false' '
	gprof-run -q -o run -n false -e A=1,2,B=x -- /usr/bin/env >got 2>err
	grep -vE "^(LD_PRELOAD|CUDA_INJECTION64_PATH|NVTX_INJECTION64_PATH|GPROF_SESSION)=" got | sort >got2
	printf "A=1,2\nB=x\n" >want
	same want got2
'
