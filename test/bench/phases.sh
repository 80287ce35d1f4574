#!/bin/sh
# How far report phases is from the clocks of the programs themselves: of each loop of test/e2e/torch_loops.py the largest mean difference of a phase, in
# percent of the step.  Needs PyTorch; Lightning where it is installed beside it.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
steps=${STEPS:-22}
judge=
case ${B:-build} in /*) build=$B ;; *) build=$top/${B:-build} ;; esac
for python in python3 "$build/judges/bin/python"; do
	"$python" -W ignore -c 'import torch, sympy' 2>/dev/null && judge=$python && break
done
[ "$judge" ] || { echo "no PyTorch here: not measured"; exit 0; }
cd "$work" || exit 1

# One line for each loop: its name, the largest mean difference, and all of them.
show() {
	"$judge" "$top/test/e2e/phases_check.py" "$@" | awk -F ': ' '{
		worst = 0
		n = split($0, part, "off by ")
		for (i = 2; i <= n; i++) if (part[i] + 0 > worst) worst = part[i] + 0
		printf "%s\t%.1f\t%%\t%s\n", $1, worst, $2 }'
}

loops() {
	gprof-run -f -q -o t -- "$judge" -W ignore "$top/test/e2e/torch_loops.py" clocks "$steps" "$@" >/dev/null 2>err || { tail -n 1 err >&2; exit 1; }
	gprof-trace report -r phases --format csv t.gtrace >phases 2>/dev/null
	show phases clocks
}

loops mlp cnn accumulate amp closure lbfgs huggingface
loops no_loader
loops compile
gprof-run -f -q -o t -- "$judge" -W ignore -m torch.distributed.run --standalone --nproc_per_node=2 \
	"$top/test/e2e/torch_loops.py" clocks "$steps" ddp >/dev/null 2>err || { tail -n 1 err >&2; exit 1; }
gprof-trace report -r phases --format csv t.gtrace >phases 2>/dev/null
gprof-trace report -r processes --format csv t.gtrace | cut -d, -f1,4 | grep -E ',[01]$' | while IFS=, read -r process rank; do
	show phases "clocks.$rank" "$process" | sed "s/^ddp/ddp rank $rank/"
done
if "$judge" -c 'import pytorch_lightning' 2>/dev/null; then
	gprof-run -f -q -o t -- "$judge" -W ignore "$top/test/e2e/torch_lightning.py" clocks "$steps" >/dev/null 2>err || { tail -n 1 err >&2; exit 1; }
	gprof-trace report -r phases --format csv t.gtrace >phases 2>/dev/null
	show phases clocks
else
	echo "lightning: not installed, not measured"
fi
