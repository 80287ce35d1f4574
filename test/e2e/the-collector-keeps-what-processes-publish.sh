# Programs that write the wire protocol themselves, ended and killed in different ways, up to hundreds at a time: no published row is lost.
. "$(dirname "$0")/lib.sh"

PATH=$GPROF_BUILD/test/programs:$PATH
[ -x "$GPROF_BUILD/test/programs/fake_guest" ] || make -s -C "$GPROF_TOP" B="$GPROF_BUILD" wire-programs || exit 1

it 'takes a guest from hello to a finished file and cleans up' '
	fake_run -- fake_guest roster=c hello thread string=k api=100 kernels=10000 push=a pop clean >run
	says "ready run.gtrace" run
	says "program 0" run
	says closed run
	count_rows run.gtrace >rows
	says finished rows
	says "damage 0" rows
	says "rows 1 api 100" rows
	says "rows 1 kernel 10000" rows
	says "rows 1 range 1" rows
	says "attribute 1 argv=fake_guest roster=c" rows
	never_says health rows
	is 600 "$(stat -c %a run.gtrace)"
	[ ! -e "$(sed -n "s/^session //p" run)" ] || fail "the session folder is still there"
	[ ! -e run.gtrace.log ] || fail "there is a log: $(cat run.gtrace.log)"
'

it 'keeps every published row of a process killed in the middle, and the ranges it had open' '
	fake_run -- fake_guest roster=c hello thread push=outer push=inner push=done pop kernels=5000 api=7 start-range=3 kill=9 >run
	says "program 137" run
	count_rows run.gtrace >rows
	says "rows 1 kernel 5000" rows
	says "rows 1 api 7" rows
	says "rows 1 range 6" rows
	says "range 1 flags=2 level=0 positive 1" rows
	says "range 1 flags=2 level=1 positive 2" rows
	is 3 "$(grep -c "range 1 flags=3" rows)" "salvaged start/end ranges"
	says "health 1 ranges_open 5" rows
	never_says ended_early rows
'

it 'does not salvage a range whose row is written' '
	fake_run -- fake_guest roster=c hello thread push=a push=b pop-half kill=9 >run
	count_rows run.gtrace >rows
	says "rows 1 range 2" rows
	says "health 1 ranges_open 1" rows
'

it 'says that a process with CUPTI ended without its last flush' '
	fake_run -- fake_guest roster=c hello cupti kernels=3 kill=11 >run
	says "program 139" run
	count_rows run.gtrace | grep -q "health 1 ended_early 1"
	fake_run -o clean -- fake_guest roster=c hello cupti kernels=3 clean
	count_rows clean >counted
	never_says health counted
'

it 'passes on what a guest counts' '
	fake_run -- fake_guest roster=c hello api=1 drop=12 health=11 wait=go >run &
	within 20 grep -q ready run
	within 20 sh -c "count_rows run.gtrace | grep -q \"drop 1 api where=0 12\""
	touch go
	wait
	count_rows run.gtrace >rows
	says "health 1 cupti_missing 1" rows
	is 1 "$(grep -c "^drop 1 api" rows)" "rows for one count"
'

it 'starts a new process at exec and finishes the former' '
	fake_run -- fake_guest roster=c hello api=1 exec roster=c hello api=2 exec roster=c api=0 >run
	says "program 0" run
	count_rows run.gtrace >rows
	says "rows 1 api 1" rows
	says "rows 2 api 2" rows
	grep -q "process 1 flags=6[0-9a-f]* .*ended" rows
	grep -q "process 2 flags=6[0-9a-f]* .*ended" rows
	grep -q "process 3 flags=480 .*ended" rows
'

it 'names children forked after CUDA' '
	fake_run -- fake_guest roster=F
	count_rows run.gtrace | grep "health 1 forked_after_cuda 1 fake_guest (pid"
'

it 'lists hundreds of short processes, and soon' '
	fake_run -- fake_guest roster=c children=300 >run
	count_rows run.gtrace >rows
	is 301 "$(sed -n "s/^process \([0-9]*\) .* ended$/\1/p" rows | sort -u | wc -l)" processes
	is 300 "$(grep " ended" rows | grep -c "parent=1 ")" children
	is 301 "$(grep -c "attribute .* name=fake_guest" rows)" names
'

it 'serves many guests at once' '
	fake_run -- sh -c "for i in \$(seq 100); do fake_guest roster=c hello thread kernels=2000 wait=go kernels=1 kill=9 & done; touch go; wait" >run
	says "program 0" run
	count_rows run.gtrace >rows
	is 100 "$(grep -c "kernel 2001$" rows)" guests
'

it 'answers "drained" while others run, and closes with the last' '
	fake_run -- sh -c "fake_guest roster=c hello kernels=5 wait=go & exit 7" >run &
	within 20 grep -q drained run
	says "program 7" run
	never_says closed run
	touch go
	wait
	says closed run
	count_rows run.gtrace | grep "kernel 5$"
'

it 'goes on when gprof-run is gone, until the last process is' '
	fake_run -l -- sh -c "fake_guest roster=c hello kernels=5 wait=go kernels=6 & exit 0" >run
	count_rows run.gtrace | grep unfinished
	touch go
	within 20 sh -c "count_rows run.gtrace | grep -x finished"
	count_rows run.gtrace | grep "kernel 11$"
	within 20 test ! -e "$(sed -n "s/^session //p" run)"
'

it 'loses at most a second when it is killed itself' '
	fake_run -- fake_guest roster=c hello thread kernels=4000 push=x wait=go api=5 kill=9 >run &
	within 20 sh -c "count_rows run.gtrace | grep -q \"kernel 4000\""
	kill -9 "$(sed -n "s/^collector //p" run)"
	touch go
	wait
	says "program 137" run
	says gone run
	count_rows run.gtrace >rows
	says unfinished rows
	says "damage 0" rows
	says "rows 1 kernel 4000" rows
'

it 'reads ranks and masks secrets' '
	RANK=3 LOCAL_RANK=1 SLURM_NTASKS=8 SLURM_PROCID=9 NCCL_DEBUG=INFO TORCH_API_KEY=abc HF_TOKEN=def HOME_SWEET=home \
		fake_run -- fake_guest roster=c hello
	count_rows run.gtrace >rows
	says "attribute 1 rank=3" rows
	says "attribute 1 rank.from=RANK" rows
	says "attribute 1 local_rank=1" rows
	says "attribute 1 world_size=8" rows
	says "attribute 1 world_size.from=SLURM_NTASKS" rows
	says "attribute 1 env.NCCL_DEBUG=INFO" rows
	says "attribute 1 env.TORCH_API_KEY=***" rows
	never_says HOME_SWEET rows
	never_says def rows
	HF_TOKEN=def HOME_SWEET=home fake_run -o all.gtrace -s env_all=1 -- fake_guest roster=c hello
	count_rows all.gtrace >rows
	says "attribute 1 env.HOME_SWEET=home" rows
	says "attribute 1 env.HF_TOKEN=***" rows
'

it 'names a process that carries no object of ours, and waits for it' '
	fake_run -- sh -c "sh -c \"until [ -e go ]; do sleep 0.1; done\" & exit 0" >run &
	within 20 grep -q drained run
	touch go
	wait
	says closed run
	count_rows run.gtrace | grep "health 0 not_injected"
'

it 'follows processes of another pid namespace' '
	unshare -pf --mount-proc true 2>/dev/null || skip "cannot make a pid namespace here"
	fake_run -- unshare -pf --mount-proc sh -c "fake_guest roster=c hello kernels=5; fake_guest roster=c sleep-ms=300" >run
	says closed run
	count_rows run.gtrace >rows
	says "kernel 5" rows
	grep "^process .* pid=2 .* ended" rows
	says "health 0 not_injected 1 unshare" rows
	# A pid that is a stranger here is not waited for, and found again when only such are left.
	fake_run -o left.gtrace -- unshare -pf --mount-proc --kill-child sh -c "fake_guest roster=c wait=go" >run &
	within 20 sh -c "count_rows left.gtrace | grep \"attribute .* name=unshare\""
	touch go
	wait
	says closed run
'

it 'follows more processes than it has descriptors for' '
	(ulimit -n 100 && fake_run -- sh -c "for i in \$(seq 120); do fake_guest roster=c hello kernels=20 wait=go kernels=1 & done; touch go; wait") >run
	says closed run
	count_rows run.gtrace >rows
	is 120 "$(grep -c "kernel 21$" rows)" guests
'

# Who says hello and does not take the answer keeps descriptors in flight, of which a user without privileges may have no more than one program.
it 'gives memory to more guests than it has descriptors for, whenever they take it' '
	n=120
	[ "$(id -u)" -eq 0 ] || n=30
	(ulimit -n 100 && N=$n fake_run -- sh -c "for i in \$(seq \$N); do fake_guest roster=c ask touch=said.\$i wait=go hello kernels=20 & done; wait") >run &
	within 60 sh -c "[ \$(ls | grep -c ^said) -eq $n ]"
	touch go
	wait
	says closed run
	count_rows run.gtrace >rows
	is $n "$(grep -c "kernel 20$" rows)" guests
	never_says pipe_used rows
'

it 'answers others while guests hold their connections for ever' '
	n=120
	[ "$(id -u)" -eq 0 ] || n=30
	(ulimit -n 100 && N=$n fake_run -- sh -c "for i in \$(seq \$N); do fake_guest roster=c ask touch=said.\$i wait=go & done; until [ -e go ]; do sleep 0.1; done; wait") >run &
	within 60 sh -c "[ \$(ls | grep -c ^said) -eq $n ]"
	within 20 grep -q ^session run
	GPROF_SESSION=$(sed -n "s/^session //p" run) fake_guest roster=c hello kernels=21
	touch go
	wait
	says closed run
	count_rows run.gtrace >rows
	is 1 "$(grep -c "kernel 21$" rows)" guests
'

for when in hello answer; do
	it "takes every row of a process whose connection gave way before its $when" "when=$when"'
		let_go=$GPROF_BUILD/test/programs/let_go
		need "$let_go" "NVTX programs are not built"
		for transport in auto shm; do
			(ulimit -n 100; exits 0 gprof-run -q -f --transport=$transport -o run -- "$let_go" $when 2000 >said)
			says "let go: 1" said
			is 2000 "$(gprof-trace dump -k mark run.gtrace | wc -l)" "rows with --transport=$transport"
			gprof-trace report -r health --format csv run.gtrace >health
			never_says pipe_used health
		done
	'
done
