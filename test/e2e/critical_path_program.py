"""critical_path_program.py SCENARIO TIMES: a few steps whose critical path is known; TIMES gets the wall clock of each."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
import train  # noqa: E402

STEPS = 5


def longer(**us):
    for name, value in us.items():
        train.KERNELS[name] = (train.KERNELS[name][0], value)


class Steps:
    def __init__(self, scenario):
        if scenario == "communication":
            longer(all_reduce=3000)
        elif scenario == "launches":
            longer(**{name: 0.5 for name in train.KERNELS})
        self.cuda, self.nvtx = train.Driver(1), train.Nvtx(None)
        self.step = train.DriverStep(self.cuda, self.nvtx, 32, 3)
        self.event = self.cuda.handle("cuEventCreate", 2)
        self.side = self.cuda.handle("cuStreamCreate", 1)

    def train(self, pause):
        with self.nvtx.range("data"):
            time.sleep(pause)
            self.step.load()
        self.step.forward()
        self.step.backward()
        with self.nvtx.range("optimizer"):
            self.step.optimize()
        self.step.wait()

    def gpu(self):
        """Kernels take longer than the host takes to launch them."""
        self.train(0)

    communication = launches = gpu

    def loader(self):
        """The GPU waits for data."""
        self.train(0.006)

    def events(self):
        """The host waits for an event in the middle of what it launched, then works; the rest is done long before it asks."""
        for _ in range(10):
            self.cuda.launch("gemm")
        self.cuda("cuEventRecord", self.event, None)
        for _ in range(4):
            self.cuda.launch("gemm_wgrad")
        self.cuda("cuEventSynchronize", self.event)
        with self.nvtx.range("work on the host"):
            time.sleep(0.003)
        self.cuda("cuCtxSynchronize")

    def context(self):
        """Two streams, of which the side one takes longer."""
        self.cuda.launch("gemm")
        for _ in range(8):
            self.cuda.launch("all_reduce", self.side)
        for _ in range(3):
            self.cuda.launch("gemm")
        self.cuda("cuCtxSynchronize")


def main():
    scenario, times = sys.argv[1:]
    steps = Steps(scenario)
    with open(times, "w", encoding="ascii") as out:
        for number in range(STEPS):
            before = time.clock_gettime_ns(time.CLOCK_REALTIME)
            with steps.nvtx.range("step %d" % number):
                begin = time.clock_gettime_ns(time.CLOCK_REALTIME)
                getattr(steps, scenario)()
                end = time.clock_gettime_ns(time.CLOCK_REALTIME)
            print(begin, end, before, file=out)


main()
