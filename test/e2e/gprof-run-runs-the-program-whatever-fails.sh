# Parts of gprof-run are missing, broken or killed: the program still runs with its own exit status, and one line names the problem.
. "$(dirname "$0")/lib.sh"

# A tree like the installed one, for taking things away.
copy='
	mkdir -p tree/bin tree/lib/gprof
	cp "$GPROF_BUILD/bin/gprof-run" tree/bin/
	cp "$GPROF_BUILD/lib/gprof/gprof-collector" "$GPROF_BUILD/lib/gprof/libgprof_inject.so" tree/lib/gprof/
	PATH=$PWD/tree/bin:$PATH
'

it 'without the collector' "$copy"'
	rm tree/lib/gprof/gprof-collector
	exits 3 gprof-run -o run -- sh -c "echo ran; exit 3" >out 2>err
	is ran "$(cat out)"
	says "cannot find the collector" err
	says "runs without being recorded" err
	is "" "$(ls -A "$TMPDIR")" "what is left in the session folder"
'

it 'with a collector that cannot be executed' "$copy"'
	chmod 644 tree/lib/gprof/gprof-collector
	exits 3 gprof-run -o run -- sh -c "exit 3" 2>err
	says "cannot execute the collector: Permission denied" err
	is "" "$(ls -A "$TMPDIR")"
'

it 'with a collector that ends at once, or says nonsense' "$copy"'
	printf "#!/bin/sh\nexit 1\n" >tree/lib/gprof/gprof-collector
	exits 3 gprof-run -o run -- sh -c "exit 3" 2>err
	says "ended before it was ready" err
	is "" "$(ls -A "$TMPDIR")"
'

it 'without the injected object' "$copy"'
	rm tree/lib/gprof/libgprof_inject.so
	exits 3 gprof-run -q -o run -- sh -c "echo \"\${LD_PRELOAD-none}\"; exit 3" >out 2>err
	is none "$(cat out)"
	says "cannot find gprof-run" err
	test -s run.gtrace
'

it 'with the object in a folder whose name the loader cannot take' "$copy"'
	mv tree "a tree:x"
	PATH=$PWD/"a tree:x/bin":$PATH "$PWD/a tree:x/bin/gprof-run" -q -o run -- sh -c "cat /proc/self/maps" >out 2>err
	says libgprof_inject.so out
	never_says "cannot be preloaded" err
	within 20 rmdir "$TMPDIR"
'

it 'without a place for the session folder' '
	TMPDIR=/proc/none exits 3 env XDG_RUNTIME_DIR=/proc/none gprof-run -q -o run -- sh -c "exit 3" 2>err
	unshare -m true 2>/dev/null || skip "no right to mount"
	case $GPROF_BUILD in /tmp/*) skip "the build is in /tmp, which this test covers" ;; esac
	unshare -m sh -c "mount -t tmpfs -o ro none /tmp; TMPDIR=/proc/none exec gprof-run -o /dev/shm/x -- sh -c \"exit 3\"" 2>err || status=$?
	is 3 "$status"
	says "cannot make a session folder" err
	says "set TMPDIR to a folder that can be written" err
'

it 'with a full disk under the session folder' '
	unshare -m true 2>/dev/null || skip "no right to mount"
	unshare -m sh -euc "
		mount -t tmpfs -o size=64k none \"\$TMPDIR\"
		if head -c 100000 /dev/zero >\"\$TMPDIR/fill\" 2>/dev/null; then exit 99; fi
		exec gprof-run -q -o run -- sh -c \"echo \\\$GPROF_SESSION; exit 3\"
	" >out 2>err || status=$?
	is 3 "$status"
	grep -q "^/tmp/gprof-......$" out
	test -s run.gtrace
	(ulimit -f 1; TMPDIR=/proc/none exits 3 gprof-run -q -o limited -- sh -c "exit 3") 2>&1 | cat >err
	says "No space left on device" err
'

it 'with hardly any descriptors' '
	for limit in 12 7 6 5 4; do
		exits 3 sh -c "ulimit -n $limit; exec gprof-run -q -o run -f -- sh -c \"echo ran; exit 3\"" >out 2>err
		is ran "$(cat out)"
	done
'

it 'without standard input, output and error' '
	need "$GPROF_BUILD/test/programs/ends"
	"$GPROF_BUILD/test/programs/ends" -c 0 -c 1 -c 2 how gprof-run -o run -- sh -c "exit 3"
	is "exit 3" "$(cat how)"
	test -s run.gtrace
'

it 'when nobody reads what we say' '
	mkfifo pipe
	exec 9<>pipe 8>pipe
	exec 9<&-
	exits 3 gprof-run -t cuda,osrt -o run -- sh -c "exit 3" 2>&8
'

it 'when the collector is killed in the middle' '
	mkfifo door
	sh -c "gprof-run -o run -- sh -c \"echo up >up; read x <door; exit 3\" 2>err; echo \$? >code" &
	within 20 test -s up
	folder=$(ls -d "$TMPDIR"/gprof-*)
	collector=$(pgrep -f -- "--session $folder")
	kill -9 "$collector"
	within 20 test ! -d "/proc/$collector/fd/3"
	echo go >door
	wait $!
	is 3 "$(cat code)"
	says "the collector ended before the program" err
	says "cut off" err
	never_says "was not injected" err
	is "" "$(ls -A "$TMPDIR")" "what is left of the session"
'

it 'when it is told to wait for a collector that is stopped' '
	mkfifo door
	gprof-run -q -o run -- sh -c "echo up >up; read x <door; exit 3" 2>err &
	within 20 test -s up
	collector=$(pgrep -f -- "--session $(ls -d "$TMPDIR"/gprof-*)")
	kill -STOP "$collector"
	echo go >door
	exits 3 wait $!
	kill -CONT "$collector"
	says "still writing" err
	within 20 test ! -e /proc/$collector
'
