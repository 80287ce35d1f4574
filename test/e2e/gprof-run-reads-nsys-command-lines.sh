# A command line written for `nsys profile` works with gprof-run in its place; each option without effect is reported once, in one line.
. "$(dirname "$0")/lib.sh"

it 'runs the first command line of the nsys recipe' '
	gprof-run -w true -t cuda,nvtx,osrt,cudnn,cublas -s none -o nsight_report -f true -x true \
		echo python script.py -t args --trace=x >out 2>err
	is "python script.py -t args --trace=x" "$(cat out)"
	test -s nsight_report.gtrace
	grep "^gprof-run: --" err >said
	echo "gprof-run: --trace=osrt: not recorded by this version" >want
	same want said
'

it 'runs the second one, with its thresholds' '
	gprof-run -w true -t cuda,nvtx,osrt,cudnn,cublas -s cpu -o nsight_report -f true --cudabacktrace=true \
		--cudabacktrace-threshold=10000 --osrt-threshold=10000 -x true echo python script.py >out 2>err
	is "python script.py" "$(cat out)"
	grep "^gprof-run: --" err | cut -d: -f2 >said
	printf " --%s\n" trace=osrt osrt-threshold=10000 >want
	same want said
'

it 'runs the third one, with a capture range' '
	gprof-run -w true -t cuda,nvtx,osrt,cudnn,cublas -s cpu --capture-range=cudaProfilerApi --stop-on-range-end=true \
		--cudabacktrace=true -x true -o nsight_report -f true echo python script.py >out 2>err
	is "python script.py" "$(cat out)"
	says "the capture range never began" err
	gprof-trace info nsight_report.gtrace | grep "range_end = 2"
'

it 'takes the value of every option of nsys as nsys does' '
	gprof-run --help-all >all
	# Options of nsys for other platforms are accepted and not listed.
	sed -nE "s/^OTHER\([^,]*, \"([^\"]*)\", (NULL|\"([^\"]*)\").*/      --\1 \3/p" "$GPROF_TOP/cli/run/run_options.def" >other
	test "$(wc -l <other)" -gt 20
	never_says "dx12-wait-calls" all
	is "" "$(grep -wFf other all)" "options of other platforms in --help-all"
	cat other >>all
	test "$(grep -c "^  .*--" all)" -gt 150
	# Options with a value take the next word, whatever it is; flags take only true and false.
	sed -nE "s/^ +(-[a-zA-Z], )?--([a-z0-9-]+)( ([^ ]+))?.*/\2 \4/p" all | grep -vE "^(version|man|completion|command-file|output|trace|delay|duration|kill|wait|env-var|export|max-size|arena-size|cuda-flush-interval|cuda-buffer-limit|quiet|stats) " >options
	test "$(wc -l <options)" -gt 100
	while read -r name arg; do
		case $arg in
		[A-Z]* | *[a-z]"|"[a-z]* | "["*) set -- --"$name" value ;;
		*) set -- --"$name" ;;
		esac
		is "" "$(gprof-run -q -t none -o run -f "$@" test -d / 2>&1 >/dev/null | grep -v "^gprof-run: \(--$name\|the trace\)")" "$name"
	done <options
'

it 'takes booleans bare, with = and as the next word' '
	for how in "-f" "-f true" "-f=true" "-ftrue" "--force-overwrite" "--force-overwrite=true" "--force-overwrite true"; do
		gprof-run -q -o run $how -- true 2>err
		says "/run.gtrace" err
		test ! -e run.2.gtrace
	done
	gprof-run -q -o run -f false true 2>err
	says "/run.2.gtrace" err
	exits 2 gprof-run -f true 2>err
	says "no command" err
'

it 'says nothing about values that ask for nothing' '
	gprof-run -q -s none --cpuctxsw=none --gpuctxsw=false --capture-range none -w true -x true --cudabacktrace=none \
		--resolve-symbols=false --python-sampling=false --cuda-memory-usage false --export none --kill none -o run -- true 2>err
	is 1 "$(wc -l <err)" "the number of lines"
'

it 'lets one rank of many speak' '
	RANK=0 WORLD_SIZE=2 gprof-run -q -t cuda,osrt -o run -- true 2>err
	says "not recorded" err
	RANK=1 WORLD_SIZE=2 gprof-run -q -t cuda,osrt -o run -- true 2>err
	never_says "not recorded" err
'

it 'stores in the trace what was not recorded' '
	need gprof-trace
	gprof-run -q -t cuda,osrt --syscall=process-tree -o run -- true 2>err
	gprof-trace dump run.gtrace >dump
	says "osrt,--syscall=process-tree" dump
'

it 'names the nearest option and kind' '
	for try in force-overwite:force-overwrite trcae:trace outptu:output cuda-flush:cuda-flush-interval durration:duration \
		capture_range:capture-range hlep:help; do
		exits 2 gprof-run --"${try%:*}" true 2>err
		says "did you mean '"'--\${try#*:}'"'" err
	done
	exits 2 gprof-run --zzzzzzzz true 2>err
	never_says "did you mean" err
	says "gprof-run --help-all lists the options" err
	exits 2 gprof-run -Z true 2>err
	says "no option '"'-Z'"'" err
	exits 127 gprof-run profile -t cuda true 2>err
	says "leave the word" err
'

it 'reads options from a file' '
	printf "%s\n" "# of our team" "-t cuda,nvtx" "-o '"'from file'"' --force-overwrite" >options
	gprof-run -q --command-file options -- true 2>err
	test -s "from file.gtrace"
	echo "-o x true" >options
	exits 2 gprof-run --command-file=options -- true 2>err
	says "is not an option, in" err
	exits 2 gprof-run --command-file=nothing -- true 2>err
	says "cannot read options from" err
'

it 'has a help that fits a screen, a man page and a completion' '
	gprof-run --help >help
	test "$(wc -l <help)" -le 24
	test "$(wc -L <help)" -le 80
	says "--help-all  " help
	gprof-run --version | grep -q "^gprof-run [0-9]"
	gprof-run --man >page
	says ".SH EXIT STATUS" page
	says "cuda\\-flush\\-interval" page
	! command -v man >/dev/null || MANWIDTH=80 man -l page >text 2>warnings
	gprof-run --completion >completion
	bash -n completion
	cat >try <<-"END"
		. ./completion
		try() { COMP_WORDS=(gprof-run "$@") COMP_CWORD=$#; _gprof_run; echo "${COMPREPLY[*]}"; }
		try -t cuda --wai
		try --wait p
		try --wait = a
		try --wait =
		try -o x cat --wai
		try -o x -- --wai
		try -w --stat
		try -t nv
		try -t cuda,nv
		try -o x ./comple
	END
	bash try >got
	printf "%s\n" --wait primary all "primary all" "" "" --stats nvtx cuda,nvtx ./completion >want
	same want got
'
