"""
What PyTorch costs: `import torch` (ms), one torch.add(out=) (ns) and a small SGD step (us, some 110 records), best of many short rounds.
argv[1]: none, or torch.profiler over each round: profiler, shapes; or FILE.so: PyTorch is listened to by it, at the scopes of `-t torch`.
"""
import contextlib
import ctypes
import os
import sys
import time

start = time.perf_counter_ns()
import torch  # noqa: E402

imported = time.perf_counter_ns() - start
from torch.profiler import ProfilerActivity, profile  # noqa: E402

torch.manual_seed(0)
torch.set_num_threads(1)
a, b, out = torch.ones(8), torch.ones(8), torch.empty(8)
net = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(4, 16)


def observer():
    if sys.argv[1] not in ("profiler", "shapes"):
        return contextlib.nullcontext()
    return profile(activities=[ProfilerActivity.CPU], record_shapes=sys.argv[1] == "shapes")


def adds(n):
    add = torch.add
    t = time.perf_counter_ns()
    for _ in range(n):
        add(a, b, out=out)
    return (time.perf_counter_ns() - t) / n


def steps(n):
    t = time.perf_counter_ns()
    for _ in range(n):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    return (time.perf_counter_ns() - t) / n


if sys.argv[1].endswith(".so"):
    library = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    if ctypes.CDLL(sys.argv[1]).listen(library.encode()):
        sys.exit("no observers in " + library)
best = [1e12, 1e12]
for _ in range(int(sys.argv[2])):
    with observer():
        adds(30), steps(3)
        best = [min(best[0], adds(300)), min(best[1], steps(20))]
print(imported / 1e6, best[0], best[1] / 1e3)
