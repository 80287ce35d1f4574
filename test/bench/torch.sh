#!/bin/sh
# PyTorch on the CPU: nothing, our ways to record it, and torch.profiler, in turn; of each the best of ROUNDS processes, of `import torch` the median.
set -u
rounds=${LONG:+15}
rounds=${rounds:-3}
here=$(cd "$(dirname "$0")" && pwd)
torch=
for python in ${GPROF_TORCH_PYTHON-} "$B/judges/bin/python" python3; do
	"$python" -W ignore -c 'import torch.optim, torch._dynamo, torch.profiler' 2>/dev/null && torch=$python && break
done
[ "$torch" ] || { echo "no PyTorch: not measured"; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

cost() { "$@" 2>/dev/null; }
i=0
while [ $i -lt "$rounds" ]; do
	i=$((i + 1))
	cost "$torch" "$here/torch_cost.py" none 60 >>"$work/off"
	cost gprof-run -q -f -o "$work/t" -t cuda,nvtx -- "$torch" "$here/torch_cost.py" none 60 >>"$work/without"
	cost "$torch" "$here/torch_cost.py" "$B/tools/empty_observer.so" 60 >>"$work/listening"
	cost gprof-run -q -f -o "$work/t" -- "$torch" "$here/torch_cost.py" none 60 >>"$work/torch"
	cost gprof-run -q -f -o "$work/t" -t cuda,torch-ops -- "$torch" "$here/torch_cost.py" none 60 >>"$work/ops"
	cost gprof-run -q -f -o "$work/t" --torch-shapes -- "$torch" "$here/torch_cost.py" none 60 >>"$work/shapes"
	cost gprof-run -q -f -o "$work/t" --torch-modules -- "$torch" "$here/torch_cost.py" none 60 >>"$work/modules"
	cost gprof-run -q -f -o "$work/t" -t cuda,torch-ops --start-later -- "$torch" "$here/torch_cost.py" none 60 >>"$work/later"
	cost "$torch" "$here/torch_cost.py" profiler 60 >>"$work/profiler"
	cost "$torch" "$here/torch_cost.py" shapes 60 >>"$work/profiler-shapes"
done

show() {
	awk -v what="$2" 'FNR == NR { off[1] = off[1] && off[1] < $2 ? off[1] : $2; off[2] = off[2] && off[2] < $3 ? off[2] : $3; next }
		{ load[FNR] = $1; add = add && add < $2 ? add : $2; step = step && step < $3 ? step : $3; n = FNR }
		END {
			for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++) if (load[k] < load[i]) { t = load[i]; load[i] = load[k]; load[k] = t }
			printf "%s: torch.add\t%.0f\tns\t%+.0f\n", what, add, add - off[1]
			printf "%s: SGD step\t%.1f\tus\t%+.1f %%\n", what, step, (step / off[2] - 1) * 100
			printf "%s: import torch\t%.0f\tms\tmedian of %d\n", what, load[int((n + 1) / 2)], n
		}' "$work/off" "$work/$1"
}

show off 'no tool'
show without '-t cuda,nvtx'
show listening 'an observer of those scopes that does nothing'
show torch '-t cuda,nvtx,torch'
show ops '-t torch-ops'
show shapes '--torch-shapes'
show modules '--torch-modules'
show later '-t torch-ops outside of a window'
show profiler 'torch.profiler (CPU)'
show profiler-shapes 'torch.profiler (CPU, shapes)'
