"""critical_path_kineto.py: files of torch.profiler that are made here, each with a critical path that is known."""
import csv
import io
import json
import subprocess
import sys

MAIN, OTHER = 100, 200          # threads
US = 1000


class File:
    """Events of one process, in microseconds."""

    def __init__(self):
        self.events, self.corr = [], 0

    def event(self, cat, name, start, end, tid=MAIN, pid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": 1000000 + start, "dur": end - start,
                            "args": args})

    def op(self, name, start, end, tid=MAIN):
        self.event("cpu_op", name, start, end, tid)

    def scope(self, name, start, end):
        self.event("user_annotation", name, start, end)

    def call(self, name, start, end, tid=MAIN):
        self.corr += 1
        self.event("cuda_runtime", name, start, end, tid, correlation=self.corr)
        return self.corr

    def launch(self, call, row, stream=7, kernel="gemm", tid=MAIN):
        corr = self.call("cudaLaunchKernel", *call, tid)
        self.event("kernel", kernel, *row, stream, 0, device=0, context=1, stream=stream, correlation=corr)

    def copy(self, call, row, name="Memcpy HtoD (Pageable -> Device)"):
        corr = self.call("cudaMemcpyAsync", *call)
        self.event("gpu_memcpy", name, *row, 7, 0, device=0, context=1, stream=7, correlation=corr, bytes=4)

    def sync(self, name, start, end, what=None, **args):
        corr = self.call(name, start, end)
        if what:
            self.event("cuda_sync", what, start, end, args.get("stream", 7), 0, device=0, context=1, correlation=corr, **args)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": self.events}, out)


def host_bound(f):
    """The GPU waits for data, and is done long before anybody asks."""
    f.scope("ProfilerStep#1", 0, 1000)
    f.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 400)
    f.op("aten::linear", 400, 900)
    f.launch((500, 510), (515, 600))
    f.sync("cudaStreamSynchronize", 800, 810, "Stream Sync", stream=7)
    f.scope("Optimizer.step#SGD.step", 900, 1000)
    return {"host: data loading": 400, "host: CUDA calls": 20, "host: forward": 480, "host: optimizer": 100}


def gpu_bound(f):
    """Launched early, awaited late; the first launch is on the path, the others are not."""
    f.scope("ProfilerStep#1", 0, 1000)
    f.launch((10, 20), (30, 400))
    f.launch((20, 30), (402, 700))
    f.launch((30, 40), (700, 950), kernel="ncclDevKernel_AllReduce")
    f.sync("cudaDeviceSynchronize", 50, 960, "Context Sync")
    return {"host": 50, "host: CUDA calls": 20, "launch delay": 10, "GPU compute": 668, "gap on the stream": 2, "GPU communication": 250}


def launch_bound(f):
    """Each kernel is over before the next one is launched."""
    f.scope("ProfilerStep#1", 0, 300)
    for at in (0, 100, 200):
        f.launch((at + 50, at + 60), (at + 64, at + 70))
    f.sync("cudaStreamSynchronize", 260, 275, "Stream Sync", stream=7)
    return {"host": 50 + 90 + 90 + 25, "host: CUDA calls": 10 + 10 + 10 + 5, "launch delay": 4, "GPU compute": 6}


def event_wait(f):
    """Stream 7 goes on when stream 20 has come to the event; what stream 20 does after it is not awaited."""
    f.scope("ProfilerStep#1", 0, 1000)
    f.launch((10, 20), (30, 100))
    f.launch((20, 30), (40, 700), stream=20, kernel="ncclDevKernel_AllReduce")
    record = f.call("cudaEventRecord", 30, 32)
    f.launch((32, 40), (700, 990), stream=20)
    f.sync("cudaStreamWaitEvent", 40, 42, "Stream Wait Event", stream=7, wait_on_stream=20, wait_on_cuda_event_record_corr_id=record)
    f.launch((50, 60), (705, 800))
    f.sync("cudaStreamSynchronize", 70, 802, "Stream Sync", stream=7)
    return {"host": 10 + 198, "host: CUDA calls": 20 + 2, "launch delay": 10, "GPU communication": 660, "gap on the stream": 5, "GPU compute": 95}


def event_sync(f):
    """The host waits for an event; what was launched behind it is not awaited."""
    f.scope("ProfilerStep#1", 0, 1000)
    f.launch((0, 10), (10, 300))
    record = f.call("cudaEventRecord", 10, 12)
    f.launch((20, 30), (300, 950))
    f.sync("cudaEventSynchronize", 40, 310, "Event Sync", stream=7, wait_on_stream=7, wait_on_cuda_event_record_corr_id=record)
    return {"host": 690, "host: CUDA calls": 20, "GPU compute": 290}


def loader(f):
    """A batch of another process, which the file does not have, and then one that was there."""
    f.scope("ProfilerStep#1", 0, 1000)
    f.scope("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 600)
    f.op("aten::linear", 600, 900)
    f.copy((650, 700), (660, 690))
    f.scope("Optimizer.step#SGD.step", 900, 1000)
    return {"wait for data": 600, "host: forward": 250, "host: CUDA calls": 50, "host: optimizer": 100}


def item(f):
    """A copy back to memory that is not pinned is waited for by its own call."""
    f.scope("ProfilerStep#1", 0, 500)
    f.launch((0, 10), (10, 300))
    f.copy((20, 320), (300, 310), "Memcpy DtoH (Device -> Pageable)")
    f.sync("cudaStreamSynchronize", 320, 322)
    return {"host: CUDA calls": 10 + 10 + 2, "GPU compute": 290, "GPU copy": 10, "host": 178}


def backward(f):
    """The main thread waits for autograd's, which waits for the GPU."""
    f.scope("ProfilerStep#1", 0, 1000)
    f.op("aten::linear", 0, 100)
    for start, end in ((200, 300), (310, 700)):
        f.op("autograd::engine::evaluate_function: AddmmBackward0", start, end, OTHER)
    f.launch((250, 260), (260, 600), tid=OTHER)
    corr = f.call("cudaStreamSynchronize", 320, 610, OTHER)
    f.event("cuda_sync", "Stream Sync", 320, 610, 7, 0, device=0, context=1, correlation=corr, stream=7)
    return {"host": 100 + 100 + 50 + 90 + 300, "host: CUDA calls": 10 + 10, "GPU compute": 340}


def unknown(f):
    """No rows of waits: what a call waited for is taken from what ran."""
    f.scope("ProfilerStep#1", 0, 1000)
    f.launch((0, 10), (10, 400))
    f.launch((10, 20), (20, 990), stream=20)
    f.sync("cudaStreamSynchronize", 30, 410)
    return {"host: CUDA calls": 20, "GPU compute": 390, "host": 590}


def run(case):
    f = File()
    want = {kind: time * US for kind, time in case(f).items()}
    f.write("case.json")
    text = subprocess.run(["gprof-trace", "report", "-f", "csv", "-r", "critical_path", "case.json"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, encoding="utf-8").stdout
    got = {r["kind"]: int(r["time_ns"]) for r in csv.DictReader(io.StringIO(text))}
    if got != want:
        print("%s: %s\n  is    %s\n  wants %s" % (case.__name__, case.__doc__, sorted(got.items()), sorted(want.items())))
    return got == want


def main():
    cases = (host_bound, gpu_bound, launch_bound, event_wait, event_sync, loader, item, backward, unknown)
    sys.exit(not all([run(case) for case in cases]))


main()
