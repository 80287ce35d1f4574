# The name of the trace: placeholders, ranks, suffixes.  A bad output name does not keep the program from running.
. "$(dirname "$0")/lib.sh"

it 'expands placeholders' '
	JOB=77 RANK=3 gprof-run -q -o "a-%q{JOB}-%r-%h-%%" -- true 2>err
	test -s "a-77-3-$(uname -n)-%.gtrace"
	gprof-run -q -o p%p -- sh -c "echo \$\$ >pid" 2>err
	test -s "p$(cat pid).gtrace"
	gprof-run -q -o "x%q{NOT_SET}y" -- true 2>err
	says "'"'NOT_SET'"' is not set" err
	test -s xy.gtrace
	gprof-run -q -o "z%n" -- true 2>err
	says "unknown placeholder" err
	gprof-run -q -o "z%q{JOB" -- true 2>err
	says "lacks its" err
	test -s z%n.gtrace
'

it 'has a default name of program, host and pid' '
	gprof-run -q -- sh -c "echo \$\$ >pid" 2>err
	test -s "gprof-sh-$(uname -n)-$(cat pid).gtrace"
'

it 'adds the rank where ranks would meet' '
	for rank in 0 1; do RANK=$rank WORLD_SIZE=2 gprof-run -q -o run -- true 2>err; done
	test -s run.rank0.gtrace
	test -s run.rank1.gtrace
	SLURM_PROCID=5 SLURM_NTASKS=8 gprof-run -q -o slurm -- true 2>err
	test -s slurm.rank5.gtrace
	RANK=1 WORLD_SIZE=2 gprof-run -q -o mine.%r -- true 2>err
	test -s mine.1.gtrace
	RANK=0 WORLD_SIZE=1 gprof-run -q -o alone -- true 2>err
	test -s alone.gtrace
'

it 'takes names as people type them for nsys' '
	gprof-run -q -o one.gtrace -- true 2>err
	gprof-run -q -o two.nsys-rep -- true 2>err
	gprof-run -q -o new/deep/three -- true 2>err
	gprof-run -q -o new/ -- true 2>err
	ls one.gtrace two.gtrace new/deep/three.gtrace new/gprof-true-*.gtrace
'

it 'keeps an existing trace unless -f says so' '
	gprof-run -q -o run -- true 2>err
	cp run.gtrace first
	gprof-run -q -o run -- true 2>err
	cmp first run.gtrace
	test -s run.2.gtrace
	says "run.2.gtrace'"'"', because '"'run.gtrace'"' exists; -f replaces it" err
	gprof-run -q -o run -f -- true 2>err
	exits 1 cmp -s first run.gtrace
	test ! -e run.3.gtrace
'

it 'goes elsewhere, and says so at the start, where the folder cannot be written' '
	exits 3 gprof-run -q -o /proc/no/run -- sh -c "exit 3" 2>err
	says "the trace is" err
	test -s "$TMPDIR/run.gtrace"
	head -n 1 err | grep -q "$TMPDIR/run"
	says "because '"'/proc/no/run.gtrace'"' cannot be written" err
'

it 'survives a name that is far too long, and a folder that is gone' '
	exits 3 gprof-run -q -o "$(printf "%2000s" x | tr " " a)" -- sh -c "exit 3" 2>err
	says "longer than" err
	exits 3 gprof-run -q -o "$(printf "%250s" x | tr " " a)" -- sh -c "exit 3" 2>err
	says "longer than" err
	ls "$TMPDIR"/gprof-sh-*.gtrace
	mkdir gone
	(cd gone && rmdir ../gone && exits 4 gprof-run -q -- sh -c "exit 4") 2>err
'
