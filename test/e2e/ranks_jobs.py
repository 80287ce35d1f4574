#!/usr/bin/env python3
"""Jobs made by chance as files of torch.profiler: ranks_jobs.py FOLDER SEED.  Report `ranks` is held against test/oracle/ranks.py on them.

Collectives of several process groups, with and without sequence numbers, named by arguments, by scopes around their launch, or by their
kernel alone; on two streams in an order that differs between ranks; rooted ones and sends beside them; clocks that differ between hosts;
a rank that missed some; a delay planted, or not.  Steps around the collectives, or one before all of them.
"""
import json
import os
import random
import sys

KERNELS = {"all_reduce": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
           "all_gather": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
           "all_to_all": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
           "broadcast": "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
           "send": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"}
ARGUMENT = {"all_reduce": "allreduce", "all_gather": "_allgather_base", "all_to_all": "all_to_allv", "broadcast": "broadcast", "send": "send"}


class Job:
    def __init__(self, seed):
        draw = self.draw = random.Random(seed)
        self.ranks = draw.choice([2, 2, 3, 4, 8])
        self.steps = draw.choice([0, 1, 3, 6, 12, 12])
        self.sequences = draw.random() < .6
        self.named = draw.choice(["arguments", "scopes", "params", "kernels"]) if not self.sequences else draw.choice(["arguments", "params"])
        self.groups = [list(range(self.ranks))]
        if self.named in ("arguments", "params") and self.ranks % 2 == 0 and draw.random() < .5:
            self.groups += [[r, r + 1] for r in range(0, self.ranks, 2)]
        self.late = draw.randrange(self.ranks) if draw.random() < .6 else None
        self.delay, self.jitter = draw.choice([500, 3000, 20000]), draw.choice([0, 100, 1000])
        self.offsets = [draw.randrange(10**9) if self.sequences and draw.random() < .5 else 0 for _ in range(self.ranks)]
        self.missing = draw.random() < .25
        self.events = [[] for _ in range(self.ranks)]
        self.correlation = [0] * self.ranks
        self.numbers = [0] * len(self.groups)
        self.now = 1000000              # us

    def event(self, rank, category, name, pid, tid, start, duration, **arguments):
        self.events[rank].append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start + self.offsets[rank],
                                  "dur": duration, "args": arguments})

    def launch(self, rank, op, group, start, duration, host, number):
        """A call on the host, inside of what announces it, and its kernel."""
        self.correlation[rank] += 1
        corr, told = self.correlation[rank], {}
        if self.named in ("arguments", "params") and op:
            told = {"Collective name": ARGUMENT[op], "Process Group Name": str(group), "Process Group Ranks": str(self.groups[group])}
            if self.sequences:
                told["Seq"] = number
        if op and self.named != "kernels":
            self.event(rank, "user_annotation", "nccl:" + op, 100, 100, host, 8)
        if op and self.named == "params":
            self.event(rank, "cpu_op", "record_param_comms", 100, 100, host + 1, 6, **told)
        self.event(rank, "cuda_runtime", "cudaLaunchKernel", 100, 100, host + 2, 2, correlation=corr)
        self.event(rank, "kernel", KERNELS[op] if op else "ampere_sgemm_128x64_tn", rank, 7 + group, start, duration, device=rank,
                   stream=7 + group, correlation=corr, **(told if self.named == "arguments" else {}))

    def collective(self, op, group, host, late):
        members = self.groups[group]
        arrival = {r: self.draw.randrange(self.jitter + 1) + (self.delay if late and r == self.late else 0) for r in members}
        last, transfer = max(arrival.values()), 50 + self.draw.randrange(50)
        self.numbers[group] += 1
        for r in members:
            if self.missing and r == members[-1] and self.draw.random() < .2:
                continue
            self.launch(r, op, group, self.now + arrival[r], last - arrival[r] + transfer, host, self.numbers[group])
        self.now += last + transfer + 10

    def step(self, number):
        begin = host = self.now
        for i in range(self.draw.choice([1, 3, 5, 9])):
            for r in range(self.ranks):
                self.launch(r, None, 0, self.now, 20, host, 0)
            self.now += 30
            self.collective(self.draw.choice(["all_reduce", "all_reduce", "all_gather", "all_to_all", "broadcast", "send"]),
                            self.draw.randrange(len(self.groups)), host + 10, i == 0)
            host += 40
        self.now = max(self.now, host) + 50
        if self.steps:
            self.mark(number, begin, host)

    def mark(self, number, begin, end):
        for r in range(self.ranks):
            self.event(r, "user_annotation", "ProfilerStep#%d" % number, 100, 100, begin, end - begin)

    def write(self, folder):
        if not self.steps:
            self.mark(0, 1000, 2000)
        for number in range(self.steps or 4):
            self.step(number)
        for r in range(self.ranks):
            self.draw.shuffle(self.events[r])
            with open(os.path.join(folder, "rank%d.json" % r), "w") as f:
                json.dump({"distributedInfo": {"rank": r, "world_size": self.ranks}, "baseTimeNanoseconds": 1700000000000000000,
                           "traceEvents": self.events[r]}, f)


if __name__ == "__main__":
    Job(int(sys.argv[2])).write(sys.argv[1])
