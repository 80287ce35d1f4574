"""Runs operators with all kinds of inputs under torch.profiler; prints its table, and writes its file to argv[1].  Exit status 3."""
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
torch.set_num_threads(1)
a, b = torch.randn(4, 3), torch.randn(4, 3, dtype=torch.double)
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
optimizer = torch.optim.AdamW(net.parameters())


def step():
    optimizer.zero_grad()
    net(a).sum().backward()
    optimizer.step()


step()
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
    for _ in range(3):
        step()
    with record_function("some operators"):
        torch.cat([a, a]), torch.stack([a, a]), torch._foreach_add([a, b], 1.0)
        torch.add(a, b, alpha=2), a.bfloat16().add(1), torch.add(a.to(torch.complex64), 1j), a.half(), (a > 0).sum()
        a[a > 0], torch.index_select(a, 0, torch.tensor([0, 2])), torch.einsum("ij,kj->ik", a, a), a.reshape(2, 2, 3, 1, 1, 1)
        torch.nn.functional.dropout(a, 0.5, True), torch.nn.functional.layer_norm(a, [3]), a.to_sparse() + a.to_sparse()
    try:
        torch.mm(a, a)
    except RuntimeError as e:
        print(e)
step()
for e in sorted(p.key_averages(group_by_input_shape=True), key=lambda e: (e.key, str(e.input_shapes))):
    print(e.key, e.count, e.input_shapes)
p.export_chrome_trace(sys.argv[1])
sys.exit(3)
