#!/usr/bin/env python3
"""A job of several ranks, each a process with RANK set, whose collectives have the durations of a real job.

All launches are planned in advance; every rank makes the same plan from the same seed.  A rank computes, then its collective runs until the
last rank has arrived and the transfer is done.  So a collective ends on all ranks at the same time, and the last rank waits least.  --late
RANK arrives --delay-us later in every step.  In broadcasts and sends another rank is last, so counting them would name a wrong rank.

Prints the planned waits of each rank: "rank 2 pid 17 wait 1234 last 5".
"""
import argparse
import os
import random
import subprocess
import sys
import time

import train

BASE_US = 20000         # transfer time of a collective; long, so that ranks that start at slightly different times overlap
PER_STEP = 3


def nccl(name):
    return "_Z%d%s24ncclDevKernelArgsStorageILm4096EE" % (len(name), name)


train.KERNELS["broadcast"] = (nccl("ncclDevKernel_Broadcast_RING_LL"), 1)
train.KERNELS["send"] = (nccl("ncclDevKernel_SendRecv"), 1)


def plan(args):
    """Returns, by step and collective, how long each rank computes before it."""
    draw = random.Random(args.seed)
    steps = []
    for _ in range(args.steps):
        step = [[draw.randrange(args.jitter_us * 1000 + 1) for _ in range(args.ranks)] for _ in range(PER_STEP)]
        if args.late is not None:
            step[0][args.late] += args.delay_us * 1000
        steps.append(step)
    return steps


def waits(steps, ranks):
    wait, last = [0] * ranks, [0] * ranks
    for collective in (c for step in steps for c in step):
        latest = max(collective)
        for rank in range(ranks):
            wait[rank] += latest - collective[rank]
        if collective.count(latest) == 1:
            last[collective.index(latest)] += 1
    return wait, last


class Rank:
    def __init__(self, args, number):
        self.args, self.number, self.nvtx = args, number, train.Nvtx(args.nvtx_shim)
        self.cuda = train.Driver(1)

    def run(self, kernel, ns):
        self.cuda.kernels[kernel][1].value = ns
        self.cuda.launch(kernel)

    def meet(self):
        """Waits for all ranks; each writes a file."""
        open(os.path.join(self.args.meet, str(self.number)), "w").close()
        while len(os.listdir(self.args.meet)) < self.args.ranks:
            time.sleep(0.0005)

    def work(self, steps):
        late = self.args.late or 0
        self.meet()
        for i, step in enumerate(steps):
            with self.nvtx.range("step %d" % i):
                self.run("broadcast", 100000 + 5000000 * (self.number == late))
                self.run("send", 100000 + 9000000 * (self.number == late))
                self.run("gemm", 14000000 - 14000000 * (self.number == late) + 1000)
                for collective in step:
                    self.run("gemm", collective[self.number] + 1000)
                    self.run("all_reduce", BASE_US * 1000 + max(collective) - collective[self.number])
        self.cuda("cuCtxSynchronize")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--late", type=int, help="the rank that comes late; none without it")
    parser.add_argument("--delay-us", type=int, default=3000)
    parser.add_argument("--jitter-us", type=int, default=1000, help="a rank computes up to so long before each collective")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--meet", default="meeting", help="an empty folder in which ranks wait for each other; made if need be")
    parser.add_argument("--with", dest="launcher", default="", help="a command in front of each rank's, with %%d for its number")
    parser.add_argument("--nvtx-shim")
    args = parser.parse_args()
    steps = plan(args)
    if "RANK" in os.environ:
        Rank(args, int(os.environ["RANK"])).work(steps)
        return
    os.makedirs(args.meet, exist_ok=True)
    wait, last = waits(steps, args.ranks)
    children = []
    for rank in range(args.ranks):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(args.ranks))
        command = args.launcher.replace("%d", str(rank)).split() + [sys.executable, os.path.abspath(__file__)] + sys.argv[1:]
        children.append(subprocess.Popen(command, env=environment))
        print("rank %d pid %d wait %d last %d" % (rank, children[-1].pid, wait[rank], last[rank]), flush=True)
    sys.exit(max(child.wait() for child in children))


if __name__ == "__main__":
    main()
