# Runs the session of README.md again and compares the output; numbers, units and the folder may differ.
. "$(dirname "$0")/lib.sh"

MASK='s|[^ ]*/train\.|train.|g; s/[0-9][0-9,.]*/N/g; s/N (ns|us|ms|s|kB|MB|GB)([^a-zA-Z]|$)/N U\2/g'
export MASK

it 'gives the page that README shows, line by line' '
	need python3
	need "$GPROF_BUILD/sim/libcuda.so.1"
	ln -s "$GPROF_TOP/test" test
	ln -s "$GPROF_BUILD" build
	sed -n "/^## The demo/,/^## Two commands/s/^    //p" "$GPROF_TOP/README.md" >session
	sed -n "s/^\\$ //p" session >commands
	is 3 "$(wc -l <commands)" "commands in README"
	PATH=$(dirname "$(python3 -c "import sys; print(sys.executable)")"):$PATH
	while read -r command; do
		echo "\$ $command"
		LD_LIBRARY_PATH=$GPROF_BUILD/sim sh -euc "$command" 2>&1
	done <commands >now
	# The page wraps its lines by their width, which numbers change: all words in a row, up to the table of ranges.  How slow the slowest
	# step is, and whether the GPU is mostly idle, depends on the load of the machine: why it is slow, and what is named next.
	for file in session now; do
		sed "/nvtx_pushpop_sum --sort/,\$d" $file | sed -E "/report -r steps/d; s/largest loss: .*|compute is longer than GPU idle time.*/LOSS/; s/report -r (idle|overlap|cuda_gpu_kern_sum) /report -r LOSS /" |
			sed -E "$MASK" | sed "s/: GPU [a-z]* +N U//; s/ (details: report -r steps)//" | tr -s " \n" "\n\n" >$file.words
		sed -n "/nvtx_pushpop_sum --sort/,/Range\$/p" $file | grep . | tr -s " " >$file.table
		tail -n 1 $file | sed -E "$MASK" >$file.export
	done
	same session.words now.words
	same session.table now.table
	is "$(sed "s/(N events.*//" session.export | tail -n 1)" "$(sed "s/(N events.*//" now.export)"
'
