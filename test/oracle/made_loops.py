"""Training loops that never ran, as Kineto files: batches fetched one by one, ahead, by another thread or by hand; zero_grad at every place;
accumulation, closures, several optimizers, evaluations, checkpointing, DDP and FSDP scopes with collectives; with operators and without."""
import json
import os
import random

from made import Decimal3

MAIN, ENGINE, COMM, OTHER = 4001, 4002, 4003, 4004


class Loop:
    def __init__(self, seed):
        r = self.random = random.Random(seed)
        self.events, self.now, self.sequence, self.correlation, self.free = [], 5 * 10 ** 9, 0, 0, 0
        self.loader = r.choice(("each", "each", "ahead", None, "other"))
        self.zero = r.choice(("first", "between", "after", "in forward", None))
        self.accumulate, self.optimizers = r.choice((1, 1, 1, 2, 3)), r.choice((1, 1, 1, 2))
        self.closure = r.random() < 0.2
        self.scope = r.choice((None, None, "DistributedDataParallel.forward", "FSDP::pre_forward", "Torch-Compiled Region: 0/0"))
        self.collectives = self.scope in ("DistributedDataParallel.forward", "FSDP::pre_forward") or r.random() < 0.15
        self.operators, self.gpu, self.marked = r.random() < 0.6, r.random() < 0.7, r.random() < 0.7
        self.backward_thread = r.choice((MAIN, ENGINE))
        self.checkpoint, self.evaluates = r.random() < 0.2, r.random() < 0.3
        self.trains = r.random() < 0.9

    def add(self, category, name, start, end, thread=MAIN, **arguments):
        number = lambda ns: json.loads("%d.%03d" % (ns // 1000, ns % 1000), parse_float=Decimal3)
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if thread == 7 else 4000, "tid": thread,
                            "ts": number(start), "dur": number(end - start), "args": arguments})

    def wait(self, low=1, high=4000):
        self.now += self.random.randrange(low, high)

    def inside(self, category, name, work, thread=MAIN, **arguments):
        start = self.now
        self.wait()
        work()
        self.wait()
        self.add(category, name, start, self.now, thread, **arguments)
        self.wait()

    def launch(self, thread=MAIN):
        if not self.gpu or self.random.random() < 0.3:
            return self.wait()
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", self.now, self.now + 900, thread, correlation=self.correlation)
        self.free = max(self.free, self.now + self.random.randrange(500, 60000)) + self.random.randrange(1, 5000)
        length = self.random.randrange(1, 20000)
        name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)" if self.random.random() < 0.1 else "gemm"
        self.add("kernel", name, self.free, self.free + length, 7, device=0, stream=7, correlation=self.correlation)
        self.free += length
        self.now += 900
        return self.wait()

    def operator(self, thread=MAIN, **arguments):
        if self.operators:
            self.inside("cpu_op", "aten::mm", lambda: self.launch(thread), thread, **arguments)
        else:
            self.launch(thread)

    # ---- what a loop consists of ----

    def batch(self, thread=MAIN):
        self.inside("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", lambda: self.operator(thread), thread)

    def forward(self):
        for _ in range(self.random.randrange(3)):
            self.operator()             # without a node: input to the device
        def layers():
            for _ in range(self.random.randrange(1, 5)):
                self.sequence += 1
                self.operator(**{"Sequence number": self.sequence})
        self.first = self.sequence + 1
        if self.scope:
            self.inside("user_annotation", self.scope, layers)
        else:
            layers()
        if self.zero == "in forward":
            self.zero_grad()
            self.operator()

    def node(self, number):
        thread = self.backward_thread

        def work():
            if self.checkpoint and self.random.random() < 0.5:
                if self.scope and self.random.random() < 0.5:
                    self.inside("user_annotation", self.scope, self.launch, thread)
                self.sequence += 1
                top = self.sequence
                self.operator(thread, **{"Sequence number": top})
                self.add("cpu_op", "MulBackward0", self.now, self.now + 700, thread, **{"Sequence number": top, "Fwd thread id": 1})
                self.now += 800
            self.operator(thread)

        def evaluate():
            self.inside("cpu_op", "MmBackward0", work, thread, **{"Sequence number": number, "Fwd thread id": 1})
            if self.random.random() < 0.3:
                self.operator(thread)
        if self.operators:
            self.inside("cpu_op", "autograd::engine::evaluate_function: MmBackward0", evaluate, thread,
                        **{"Sequence number": number, "Fwd thread id": 1})
        else:
            self.inside("cpu_op", "MmBackward0", work, thread, **{"Sequence number": number, "Fwd thread id": 1})
        if self.collectives and self.random.random() < 0.6:
            start = self.now - self.random.randrange(0, 2000)
            self.add("user_annotation", "nccl:all_reduce", start, start + self.random.randrange(1, 30000), COMM)

    def backward(self):
        self.wait(1, 20000)
        for number in range(self.sequence, self.first - 1, -1):
            self.node(number)
        self.wait(1, 20000)

    def zero_grad(self):
        self.inside("user_annotation", "Optimizer.zero_grad#AdamW.zero_grad", self.launch)

    def compute(self):
        """One forward and backward pass."""
        if self.zero == "first":
            self.zero_grad()
        self.forward()
        if self.zero == "between":
            self.zero_grad()
        self.backward()

    def step(self):
        def closure():
            for _ in range(self.random.choice((1, 1, 2))):
                self.compute()
                self.operator()
        if self.closure:
            self.fetch()
            self.operator()
            self.inside("user_annotation", "Optimizer.step#LBFGS.step", closure)
        else:
            for number in range(self.optimizers):
                for _ in range(self.accumulate):
                    if number == 0:
                        self.fetch()
                    self.compute()
                for _ in range(self.random.randrange(2)):
                    self.operator()     # clipping
                self.inside("user_annotation", "Optimizer.step#AdamW.step", self.launch)
        if self.zero == "after":
            self.zero_grad()
        for _ in range(self.random.randrange(2)):
            self.operator()             # loss.item()

    def fetch(self):
        if self.loader in ("each", "ahead"):
            self.batch()
        elif self.loader == "other":
            now = self.now
            self.batch(OTHER)
            self.now = now + self.random.randrange(1, self.now - now)

    def evaluate(self):
        for _ in range(self.random.randrange(1, 4)):
            self.fetch()
            for _ in range(self.random.randrange(3)):
                self.operator()

    def document(self):
        if self.loader == "ahead":
            self.batch()
        if self.evaluates and self.random.random() < 0.5:
            self.evaluate()
        for number in range(self.random.randrange(3, 9)):
            start = self.now
            if self.trains:
                self.step()
            else:
                self.evaluate()
            if self.evaluates and self.random.random() < 0.4:
                self.evaluate()
            if self.marked:
                self.add("user_annotation", "ProfilerStep#%d" % number, start, self.now)
                self.wait()
        self.add("user_annotation", "the loop", 5 * 10 ** 9, self.now + 1)
        self.random.shuffle(self.events)
        return {"schemaVersion": 1, "baseTimeNanoseconds": 1700000000 * 10 ** 9, "traceEvents": self.events}


def write(folder, seeds):
    for seed in seeds:
        below = os.path.join(folder, "hta", "traces", "loop-%d" % seed)
        os.makedirs(below, exist_ok=True)
        with open(os.path.join(below, "trace.json"), "w", encoding="utf-8") as f:
            f.write(json.dumps(Loop(seed).document()))


if __name__ == "__main__":
    import sys
    write(sys.argv[1], range(int(sys.argv[2]), int(sys.argv[3])))
