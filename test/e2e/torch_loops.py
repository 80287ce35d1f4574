"""torch_loops.py CLOCKS.json STEPS LOOP...: small training loops one after the other, timed by clocks of their own.

A step goes from the end of one optimizer's step to that of the next.  Loops: mlp, cnn (two loader workers), accumulate, amp, closure (as
Lightning calls step), lbfgs, huggingface (accelerate's way of loading one batch ahead, clipping, a schedule), no_loader, between (batches by hand, zero_grad
between forward and backward), compile, ddp, ddp_between, fsdp_between (started by torchrun; CLOCKS.json gets the rank before its suffix), inference (a
step goes from batch to batch).
"""
import contextlib
import json
import os
import sys
import time

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset

now = time.monotonic_ns
PHASES = ("data", "forward", "backward", "optimizer", "zero_grad")


class Clock:
    def __init__(self):
        self.rows, self.row, self.begun = [], dict.fromkeys(PHASES, 0), now()

    @contextlib.contextmanager
    def __call__(self, phase):
        begin = now()
        yield
        self.row[phase] += now() - begin

    def end(self, loop):
        """Right behind the optimizer's step."""
        end = now()
        self.rows.append(dict(self.row, loop=loop, wall=end - self.begun))
        self.row, self.begun = dict.fromkeys(PHASES, 0), end


class Points(Dataset):
    def __init__(self, n, shape):
        self.x, self.y = torch.randn(n, *shape), torch.randint(0, 10, (n,))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return (self.x[i] * 1.01).sin(), self.y[i]


def mlp():
    linear, relu = torch.nn.Linear, torch.nn.ReLU
    return torch.nn.Sequential(linear(256, 1024), relu(), linear(1024, 1024), relu(), linear(1024, 10))


def cnn():
    conv, relu = torch.nn.Conv2d, torch.nn.ReLU
    return torch.nn.Sequential(conv(3, 32, 3, stride=2), relu(), conv(32, 64, 3), relu(), torch.nn.Flatten(), torch.nn.Linear(64 * 13 * 13, 10))


def plain(clock, loop, model, batches, steps, accumulate=1, amp=False, order="before"):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(steps):
        for _ in range(accumulate):
            with clock("data"):
                x, y = next(batches)
            with clock("forward"), torch.autocast("cpu", dtype=torch.bfloat16, enabled=amp):
                loss = cross_entropy(model(x), y) / accumulate
            with clock("backward"):
                loss.backward()
        with clock("optimizer"):
            opt.step()
        clock.end(loop)
        with clock("zero_grad"):
            opt.zero_grad()


def with_closure(clock, loop, model, batches, steps, opt, zero_first):
    def zero():
        with clock("zero_grad"):
            opt.zero_grad()

    def run():
        nonlocal inside
        begin = now()
        if zero_first:
            zero()
        with clock("forward"):
            loss = cross_entropy(model(x), y)
        if not zero_first:
            zero()
        with clock("backward"):
            loss.backward()
        inside += now() - begin
        return loss

    for _ in range(steps):
        inside = 0
        with clock("data"):
            x, y = next(batches)
        begin = now()
        opt.step(run)
        clock.row["optimizer"] += now() - begin - inside
        clock.end(loop)


def closure(clock, loop, model, batches, steps):
    with_closure(clock, loop, model, batches, steps, torch.optim.AdamW(model.parameters(), lr=1e-4), False)


def lbfgs(clock, loop, model, batches, steps):
    opt = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3, history_size=3)
    with_closure(clock, loop, model, batches, steps, opt, True)


def huggingface(clock, loop, model, batches, steps):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 1 / (1 + step))
    with clock("data"):
        ahead = next(batches)
    for _ in range(steps):
        for _ in range(2):
            batch = ahead
            with clock("data"):
                ahead = next(batches)
            with clock("forward"):
                loss = cross_entropy(model(batch[0]), batch[1]) / 2
            with clock("backward"):
                loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with clock("optimizer"):
            opt.step()
        clock.end(loop)
        schedule.step()
        with clock("zero_grad"):
            opt.zero_grad()


def no_loader(clock, loop, model, batches, steps):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(steps):
        for _ in range(3):
            with clock("forward"):
                x, y = torch.randn(128, 256), torch.zeros(128, dtype=torch.long)
                loss = cross_entropy(model(x), y) / 3
            with clock("backward"):
                loss.backward()
        with clock("optimizer"):
            opt.step()
        clock.end(loop)
        with clock("zero_grad"):
            opt.zero_grad()


def between(clock, loop, model, batches, steps):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(steps):
        x, y = torch.randn(128, 256).sort()[0], torch.zeros(128, dtype=torch.long)
        with clock("forward"):
            loss = cross_entropy(model(x), y)
        with clock("zero_grad"):
            opt.zero_grad()
        with clock("backward"):
            loss.backward()
        with clock("optimizer"):
            opt.step()
        clock.end(loop)


def inference(clock, loop, model, batches, steps):
    """A step ends where the next batch is asked for; the last one, where the loader says that there is none."""
    clock.begun = now()
    with torch.no_grad():
        for _ in range(steps):
            with clock("data"):
                x, y = next(batches)
            with clock("forward"):
                model(x)
            clock.end(loop)
    next(batches, None)


def run(clock, loop, steps):
    images, workers = loop == "cnn", 2 if loop == "cnn" else 0
    model = cnn() if images else mlp()
    if loop == "compile":
        model = torch.compile(model)
    if loop.startswith("ddp"):
        model = torch.nn.parallel.DistributedDataParallel(model)
    if loop.startswith("fsdp"):
        from torch.distributed.fsdp import fully_shard
        for layer in model:
            if isinstance(layer, torch.nn.Linear):
                fully_shard(layer)
        fully_shard(model)
    size = 128
    by_hand = loop == "no_loader" or loop.endswith("between")
    n = steps if loop == "inference" else steps * (4 if loop == "accumulate" else 2) + 2
    data = None if by_hand else Points(size * n, (3, 32, 32) if images else (256,))
    batches = iter(DataLoader(data, batch_size=size, num_workers=workers)) if data else None
    body = {"closure": closure, "lbfgs": lbfgs, "huggingface": huggingface, "no_loader": no_loader, "between": between, "ddp_between": between,
            "fsdp_between": between, "inference": inference}.get(loop)
    if body:
        body(clock, loop, model, batches, steps)
    else:
        plain(clock, loop, model, batches, steps, accumulate=4 if loop == "accumulate" else 1, amp=loop == "amp")


def main():
    path, steps = sys.argv[1], int(sys.argv[2])
    torch.manual_seed(0)
    torch.set_num_threads(1)
    ranks = any(loop.startswith(("ddp", "fsdp")) for loop in sys.argv[3:])
    if ranks:
        torch.distributed.init_process_group("gloo")
        path = "%s.%s" % (path, os.environ["RANK"])
    clock = Clock()
    for loop in sys.argv[3:]:
        run(clock, loop, steps)
    with open(path, "w") as out:
        json.dump(clock.rows, out)
    if ranks:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
