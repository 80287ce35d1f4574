"""A small eager training loop.

torch_loop.py count         runs it under torch.profiler and prints how many kernels, copies and sets that saw ("expect" lines)
torch_loop.py plain         runs exactly the same without a profiler
torch_loop.py time [MODE]   prints what a launch-bound step costs; MODE profiler: under torch.profiler
"""
import sys
import time

import torch


def model_and_data(device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 10)).to(device)
    return model, torch.randn(32, 64, device=device), torch.randint(10, (32,), device=device)


def train(steps, device="cuda"):
    model, x, y = model_and_data(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)
    start = time.perf_counter()
    for step in range(steps):
        if step == steps // 5:  # the first steps load modules and choose algorithms
            torch.cuda.synchronize()
            start = time.perf_counter()
        torch.cuda.nvtx.range_push(f"step {step}")
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / (steps - steps // 5) * 1e6


def profiled(steps):
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        us = train(steps)
    return prof, us


def main(mode, arg=None):
    if mode == "count":
        prof, _ = profiled(50)
        on_gpu = [e.name for e in prof.events() if e.device_type == torch.autograd.DeviceType.CUDA and not e.is_user_annotation]
        copies = sum(name.startswith("Memcpy") for name in on_gpu)
        sets = sum(name.startswith("Memset") for name in on_gpu)
        print(f"expect kernels {len(on_gpu) - copies - sets}\nexpect copies {copies}\nexpect sets {sets}\nexpect ranges 50")
    elif mode == "plain":
        train(50)
    elif mode == "time":
        print(f"figure us_per_step {profiled(500)[1] if arg == 'profiler' else train(500):.1f}")


main(*sys.argv[1:])
