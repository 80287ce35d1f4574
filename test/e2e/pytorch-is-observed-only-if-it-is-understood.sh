#!/bin/sh
# A PyTorch with the expected layout is observed.  Any other is not touched, and health has the reason.  With stand-ins for libtorch_cpu.
# also on the pipe
. "$(dirname "$0")/lib.sh"

BEGIN='
	program=$GPROF_BUILD/test/programs/torch_standin
	need "$program" "the stand-ins for PyTorch are not built"
	torch() { echo "$GPROF_BUILD/test/programs/torch/$1/libtorch_user.so"; }
	# count NAME [TRACE]: ranges of that name, push/pop and start/end
	count() { gprof-trace dump -k range "${2-run.gtrace}" | grep -c " name=\"$1\"" || :; }
	ranges() { gprof-trace dump -k range run.gtrace | wc -l; }
'

it 'both layouts of PyTorch 2 are observed: user scopes and autograd nodes, by default' "$BEGIN"'
	for kind in new old; do
		exits 7 gprof-run -q -f -o run -- "$program" "$(torch $kind)" train 10 >out
		is done "$(cat out)" "output"
		is 10 "$(count Optimizer.step#SGD.step)" "optimizer steps"
		is 50 "$(ranges)" "ranges"
		is 20 "$(gprof-trace dump -k op run.gtrace | grep -c " scope=1 ")" "op rows of autograd nodes"
		gprof-trace dump -k op run.gtrace | head -n 1 >first
		says "sequence=6 fwd_thread=1 " first
		gprof-trace dump -k domain run.gtrace >domains
		says "name=\"PyTorch\"" domains
		gprof-trace report -r health run.gtrace >health
		never_says PyTorch health
	done
'

it 'operators are observed on request, nested in user scopes, with overloads' "$BEGIN"'
	exits 7 gprof-run -q -o run -t torch-ops -- "$program" "$(torch new)" train 10 >out
	is 90 "$(ranges)" "ranges"
	is 90 "$(gprof-trace dump -k op run.gtrace | wc -l)" "op rows"
	is 10 "$(gprof-trace dump -k range run.gtrace | grep "name=\"aten::addmm\"" | grep -c " level=1 ")" "inner operators"
	gprof-trace dump -k op run.gtrace | grep "overload=\"Tensor\"" >overloads
	is 20 "$(grep -c scope=0 overloads)" "overloads"
'

it 'the call stacks that its ranges begin on are recorded on request' "$BEGIN"'
	need nm
	exits 7 gprof-run -q -o run --torch-stacks -- "$program" "$(torch new)" train 10 >out
	is 90 "$(ranges)" "ranges"
	is 90 "$(gprof-trace dump -k range_stack run.gtrace | wc -l)" "stacks of ranges"
	gprof-trace report -r ops_by_stack run.gtrace >stacks
	says "main (" stacks
	never_says "has a stack" stacks
	gprof-trace report -r ops_by_stack --format csv --group-by-stack 2 run.gtrace >stacks.csv
	is 80 "$(awk -F, "NR > 1 { n += \$10 } END { print n }" stacks.csv)" "calls, without those that end on another thread"
	exits 7 gprof-run -q -f -o run -t torch-ops -- "$program" "$(torch new)" train 10 >out
	is 0 "$(gprof-trace dump -k range_stack run.gtrace | wc -l)" "stacks of ranges"
	gprof-trace report -r ops_by_stack run.gtrace >stacks
	says "gprof-run --torch-stacks records them" stacks
'

it 'the words of nsys choose what is nearest, and say so' "$BEGIN"'
	exits 7 gprof-run -o run --pytorch=functions-trace,autograd-nvtx -- "$program" "$(torch new)" train 10 >out 2>err
	says "recorded as by -t torch-ops" err
	is 90 "$(ranges)" "ranges"
	exits 7 gprof-run -o run -f -t cuda --pytorch functions-trace -- "$program" "$(torch new)" train 10 >out 2>err
	says "recorded as by -t torch" err
	is 50 "$(ranges)" "ranges"
	exits 2 gprof-run --pytorch=else -- true 2>err
	says "autograd-nvtx" err
'

it 'without torch in -t nothing is looked for' "$BEGIN"'
	exits 7 gprof-run -q -o run -t cuda,nvtx -- "$program" "$(torch new)" train 10 >out
	is 0 "$(ranges)" "ranges"
'

it 'one with another layout, or without its functions, is refused, and health has the reason' "$BEGIN"'
	for kind in more_scopes:"for one scope" starts_twice:"once at its begin" no_name:"RecordFunction4nameEv" \
		other_name:"the name that was set" version_3:"major version is not 2"; do
		exits 7 gprof-run -q -f -o run -- "$program" "$(torch ${kind%%:*})" train 10 >out 2>err
		is done "$(cat out)" "output"
		is 0 "$(ranges)" "ranges of ${kind%%:*}"
		gprof-trace report -r health run.gtrace >health
		says "${kind#*:}" health
		never_says "Requested callback" err
	done
'

it 'a program that is linked with PyTorch is observed from its start' "$BEGIN"'
	exits 7 gprof-run -q -o run -- "$GPROF_BUILD/test/programs/torch_linked" - train 3 >out
	is 15 "$(ranges)" "ranges"
'

it 'of two copies the first is observed, and health says so' "$BEGIN"'
	exits 7 gprof-run -q -o run -- "$program" "$(torch new)" train 3 again "$GPROF_BUILD/test/programs/torch/old/libtorch_cpu.so" train 3 >out
	is 30 "$(ranges)" "ranges"
	gprof-trace report -r health run.gtrace >health
	says "several copies of PyTorch" health
	says "torch/new/libtorch_cpu.so" health
'

it 'ranges of threads nest by themselves' "$BEGIN"'
	exits 7 gprof-run -q -o run -t torch-ops -- "$program" "$(torch new)" threads >out
	is 400 "$(count "in a thread")" "ranges of threads"
	is 400 "$(gprof-trace dump -k range run.gtrace | grep "aten::addmm" | grep -c " level=2 ")" "operators inside"
'

it 'a forked child is observed like its parent, and ends nothing of it' "$BEGIN"'
	exits 7 gprof-run -q -o run -- "$program" "$(torch new)" fork >out
	is 1 "$(count "around the fork")" "of the parent"
	is 50 "$(count "in the child")" "of the child"
	is 2 "$(gprof-trace dump -k range run.gtrace | grep -o "^range process=[0-9]*" | sort -u | wc -l)" "processes"
'

it 'a range that ends on another thread is a start/end range, one that never ends is incomplete' "$BEGIN"'
	exits 7 gprof-run -q -o run -- "$program" "$(torch new)" elsewhere >out
	gprof-trace dump -k range run.gtrace >rows
	is 1 "$(grep "ended elsewhere" rows | grep -c "flags=0x1 ")" "ended elsewhere, found later"
	is 1 "$(grep "gloo:all_reduce" rows | grep -c "flags=0x1 ")" "said at its begin"
	is 1 "$(grep "after it" rows | grep -c " level=0 ")" "the stack is tidy"
	is 1 "$(grep "never ended" rows | grep -c "flags=0x2 ")" "incomplete"
	is 1 "$(grep "its thread is gone" rows | grep -c "flags=0x2 ")" "incomplete, and no second time"
	is 1 "$(grep -c "its thread is gone" rows)" "rows of that"
'

it 'a program that ends inside an operator keeps what was open' "$BEGIN"'
	exits 7 gprof-run -q -o run -t torch-ops -- "$program" "$(torch new)" exit >out
	is 2 "$(gprof-trace dump -k range run.gtrace | grep -c "flags=0x2 ")" "incomplete ranges"
	is 2 "$(gprof-trace dump -k op run.gtrace | wc -l)" "their op rows"
'

it 'a program that unregisters everything goes on unobserved' "$BEGIN"'
	exits 7 gprof-run -q -o run -- "$program" "$(torch new)" clear >out 2>err
	is 1 "$(count before)" "the open range"
	is 0 "$(count unseen)" "later ranges"
'

it 'very long names and very many are bounded' "$BEGIN"'
	exits 7 gprof-run -q -o run --string-memory 1M -- "$program" "$(torch new)" names 100000 >out
	is 100001 "$(ranges)" "ranges"
	gprof-trace dump -k health run.gtrace >health
	says "reason=7 " health
'

it 'inside of windows alone operators are recorded; user scopes as NVTX ranges are' "$BEGIN"'
	exits 7 gprof-run -q -o run -t torch-ops --start-later -- "$program" "$(torch new)" train 5 >out
	is 0 "$(ranges)" "ranges"
'

it 'steps are those of the optimizer; a schedule without --step follows them, in a program without CUDA too' "$BEGIN"'
	exits 7 gprof-run -q -o run --step torch -- "$program" "$(torch new)" train 10 >out
	is 10 "$(gprof-trace dump -k step run.gtrace | wc -l)" "steps"
	exits 7 gprof-run -q -f -o run -t torch-ops --schedule wait=2,warmup=1,active=3,repeat=1 -- "$program" "$(torch new)" train 10 >out
	is 3 "$(gprof-trace dump -k step run.gtrace | grep -c "window=1 ")" "active steps"
	is 27 "$(ranges)" "ranges of three steps"
	is 3 "$(count Optimizer.step#SGD.step)" "optimizer steps"
'

it 'calls of CUDA and what the GPU does point to the operator that they were made in' "$BEGIN"'
	need "$GPROF_BUILD/sim/libcuda.so.1" "the simulated CUDA is not built"
	export LD_LIBRARY_PATH=$GPROF_BUILD/sim
	exits 7 gprof-run -q -o run -t cuda,torch-ops -- "$program" "$(torch new)" cuda >out
	range() { gprof-trace dump -k range run.gtrace | sed -n "s/.* id=\([0-9]*\) .* name=\"$1\" .*/\1/p"; }
	gprof-trace dump -k api run.gtrace >calls
	is 1 "$(grep cudaMemset calls | grep -c " range=$(range aten::zero_) ")" "the call in the operator"
	is 1 "$(grep cudaMalloc calls | grep -c " range=$(range "on the GPU") ")" "the call in the user scope"
	is 1 "$(gprof-trace dump -k memset run.gtrace | wc -l)" "what the GPU did"
'

it 'what the allocator of CUDA gives out and takes back is recorded on request; the program sees the same' "$BEGIN"'
	for kind in now lazy; do
		export ALLOCATOR=$GPROF_BUILD/test/programs/torch/$kind/libc10_cuda.so
		exits 7 "$program" "$(torch new)" memory >alone
		exits 7 gprof-run -q -f -o run -t torch-ops --torch-memory -- "$program" "$(torch new)" memory >with
		same alone with
		gprof-trace dump -k alloc run.gtrace >rows
		is 3 "$(wc -l <rows)" "rows"
		is 1 "$(grep "bytes=1000 " rows | grep -c " range=$(gprof-trace dump -k range run.gtrace | sed -n "s/.* id=\([0-9]*\) .*aten::empty.*/\1/p") ")" "in its operator"
		is 1 "$(grep "bytes=-200 " rows | grep "allocated=1300 " | grep -c "device_type=1 device=2 ")" "totals and device"
		gprof-trace report -r torch_memory --format csv run.gtrace | tail -n 1 >row
		says "cuda:2,2,1,1500,1000,1500," row
		says ",1048576,1300," row
	done
	exits 7 gprof-run -q -f -o run -- "$program" "$(torch new)" memory >with
	is 0 "$(gprof-trace dump -k alloc run.gtrace | wc -l)" "rows without the option"
'
