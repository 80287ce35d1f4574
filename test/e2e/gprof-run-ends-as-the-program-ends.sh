# The exit status of gprof-run is the program's: exit codes, signals, and 126 or 127 for programs that cannot be run.
# also on the pipe
. "$(dirname "$0")/lib.sh"

export ENDS="$GPROF_BUILD/test/programs/ends"

it 'passes every exit code on' '
	for code in 0 1 2 3 42 63 64 77 99 100 119 120 121 122 123 124 125 126 127 128 129 130 137 143 191 192 200 253 254 255; do
		exits $code gprof-run -q -o run -f -- sh -c "exit $code" 2>err
	done
	for code in $(seq 4 7 250); do
		exits $code gprof-run -q -t none -o run -f -- sh -c "exit $code" 2>err
	done
'

it 'dies of the signal that the program died of, without a core file' '
	need "$ENDS"
	ulimit -c unlimited 2>/dev/null || :
	for sig in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 24 25 26 27 29 30 31 34 40 64; do
		"$ENDS" how gprof-run -q -o run -f -- sh -c "ulimit -c 0; kill -$sig \$\$; sleep 5" 2>err
		is "signal $sig" "$(cat how)" "the end after signal $sig"
	done
	test -z "$(ls | grep core)" || fail "left a core file"
'

it 'dies of the signal even where its parent ignored or blocked that one' '
	need "$ENDS"
	"$ENDS" -b 10 how gprof-run -q -o run -f -- "$ENDS" inner sh -c "kill -9 \$\$" 2>err
	is "exit 0" "$(cat how)"
	is "signal 9" "$(cat inner)"
	"$ENDS" -i 1 how gprof-run -q -o run -f -- sh -c "kill -9 \$\$" 2>err
	is "signal 9" "$(cat how)"
'

it 'knows the exit status although its parent ignores SIGCHLD' '
	need "$ENDS"
	"$ENDS" -i 17 how gprof-run -q -o run -- sh -c "exit 6" 2>err
	is "exit 6" "$(cat how)"
'

it 'exits with 127 when there is no such program, and runs nothing' '
	exits 127 gprof-run -- no-such-program-at-all 2>err
	says "no such program in PATH: '"'no-such-program-at-all'"'" err
	exits 127 gprof-run -- ./no/such 2>err
	says "no such program: '"'./no/such'"'" err
	test -z "$(ls *.gtrace 2>/dev/null)"
'

it 'exits with 126 when it cannot be executed, and says why' '
	echo "echo hello" >plain
	chmod 644 plain
	mkdir folder
	exits 126 gprof-run -- ./plain 2>err
	says "Permission denied" err
	exits 126 gprof-run -- ./folder 2>err
	says "Is a directory" err
	printf "#!/no/such/interpreter\n" >script
	chmod 755 script
	exits 126 gprof-run -- ./script 2>err
	says "interpreter" err
'

it 'runs a script without #! by the shell, as execvp does' '
	printf "echo \$1 \$2; exit 9\n" >script
	chmod 755 script
	exits 9 gprof-run -q -- ./script one two >out 2>err
	is "one two" "$(cat out)"
'

it 'exits with 2 for a wrong option, and runs nothing' '
	exits 2 gprof-run --trcae=cuda touch ran 2>err
	says "--trace" err
	exits 2 gprof-run -t cuda,osr touch ran 2>err
	says "did you mean '"'osrt'"'" err
	exits 2 gprof-run 2>err
	says "no command" err
	exits 2 gprof-run --max-size lots touch ran 2>err
	says "512M" err
	exits 2 gprof-run --duration -5 touch ran 2>err
	exits 2 gprof-run -e FOO touch ran 2>err
	test ! -e ran
'

it 'ends as the program ends when it is process 1 of a namespace' '
	first="unshare --pid --fork"
	$first true 2>/dev/null || first="unshare -r --pid --fork"
	$first true 2>/dev/null || skip "no right to make a pid namespace"
	exits 7 $first gprof-run -q -o run -- sh -c "exit 7" 2>err
	exits 143 $first gprof-run -q -o run -f -- sh -c "kill -15 \$\$; sleep 5" 2>err
	exits 137 $first gprof-run -q -o run -f -- sh -c "kill -9 \$\$; sleep 5" 2>err
	need gprof-trace
	gprof-trace check run.gtrace
'

it 'as process 1 reaps orphans and is not confused by them' '
	first="unshare --pid --fork"
	$first true 2>/dev/null || first="unshare -r --pid --fork"
	$first true 2>/dev/null || skip "no right to make a pid namespace"
	exits 5 $first gprof-run -q -o run -- sh -c "(sh -c \"exit 3\" & ) ; (sh -c \"kill -9 \\\$\\\$\" & ); sleep 0.2; exit 5" 2>err
'
