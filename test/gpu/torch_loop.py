"""A small eager training loop.

torch_loop.py plain                      warms up, then the loop inside the NVTX range "measured"
torch_loop.py profiled TRACE TABLE       the same, the loop under torch.profiler: its Kineto trace, and its key_averages() as JSON
torch_loop.py sessions FOLDER            three sessions of torch.profiler, in ranges "session I", with work in ranges "gap I" before, between and after
torch_loop.py time [profiler]            prints what a launch-bound step costs, perhaps under torch.profiler
torch_loop.py libraries                  operations of cuBLAS, cuDNN and cuSOLVER
torch_loop.py first                      prints how long it took from the start of Python to the end of the first kernel

GPU_CHECK_DEVICE=cpu tries it where there is no GPU.
"""

import json
import os
import sys
import time

BEGIN = time.perf_counter()

import torch  # noqa: E402  what it costs is part of `first`

DEVICE = os.environ.get("GPU_CHECK_DEVICE", "cuda")
STEPS = 50


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


class Range:
    """An NVTX range, where there is NVTX."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        if DEVICE == "cuda":
            torch.cuda.nvtx.range_push(self.name)

    def __exit__(self, *_):
        if DEVICE == "cuda":
            torch.cuda.nvtx.range_pop()


class Training:
    def __init__(self):
        torch.manual_seed(0)
        layers = [torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 10)]
        self.model = torch.nn.Sequential(*layers).to(DEVICE)
        self.x, self.y = torch.randn(32, 64, device=DEVICE), torch.randint(10, (32,), device=DEVICE)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9, foreach=False)

    def run(self, steps):
        """us a step."""
        synchronize()
        start = time.perf_counter()
        for step in range(steps):
            with Range(f"step {step}"):
                self.optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(self.model(self.x), self.y)
                loss.backward()
                self.optimizer.step()
        synchronize()
        return (time.perf_counter() - start) / steps * 1e6


def profiler():
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if DEVICE == "cuda" else [])
    return profile(activities=activities)


def measured(training):
    """What is compared: only this, after everything was loaded, and done when it ends."""
    synchronize()
    with torch.profiler.record_function("measured"), Range("measured"):
        training.run(STEPS)


def profiled(trace, table):
    training = Training()
    training.run(5)
    with profiler() as prof:
        measured(training)
    prof.export_chrome_trace(trace)
    rows = [
        {
            "name": row.key,
            "device": str(row.device_type).rsplit(".", maxsplit=1)[-1],
            "calls": row.count,
            "us": getattr(row, "self_device_time_total", getattr(row, "self_cuda_time_total", 0)),
        }
        for row in prof.key_averages()
    ]
    with open(table, "w", encoding="utf-8") as f:
        json.dump(rows, f)


def sessions(folder):
    training = Training()
    for i in range(4):
        with torch.profiler.record_function(f"gap {i}"), Range(f"gap {i}"):
            training.run(5)
        if i == 3:
            break
        with profiler() as prof:
            with torch.profiler.record_function(f"session {i}"), Range(f"session {i}"):
                training.run(5)
        prof.export_chrome_trace(os.path.join(folder, f"{i}.json"))


def timed(under_profiler):
    training = Training()
    training.run(100)  # the first steps load modules and choose algorithms
    if not under_profiler:
        us = training.run(500)
    else:
        with profiler():
            training.run(20)
            us = training.run(500)
    print(f"figure us_per_step {us:.1f}")


def libraries():
    a = torch.randn(256, 256, device=DEVICE)
    image, kernel = torch.randn(8, 16, 32, 32, device=DEVICE), torch.randn(16, 16, 3, 3, device=DEVICE)
    for _ in range(10):
        b = a @ a
        torch.nn.functional.conv2d(image, kernel, padding=1)
    torch.linalg.solve(a + 256 * torch.eye(256, device=DEVICE), b)
    synchronize()
    print("did cuBLAS 10\ndid cuDNN 10\ndid cuSOLVER 1")


def first():
    torch.zeros(1, device=DEVICE) + 1
    synchronize()
    print(f"figure ms_to_first_kernel {(time.perf_counter() - BEGIN) * 1e3:.1f}")


def main(mode, *arguments):
    if mode == "plain":
        training = Training()
        training.run(5)
        measured(training)
    elif mode == "profiled":
        profiled(*arguments)
    elif mode == "sessions":
        sessions(*arguments)
    elif mode == "time":
        timed(bool(arguments))
    elif mode == "libraries":
        libraries()
    elif mode == "first":
        first()
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
