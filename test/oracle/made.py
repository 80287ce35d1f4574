"""made.py FOLDER: Kineto files of programs that never ran, each by another seed, for machines without traces of real ones.  Kernels overlap
on three streams, ranges nest, a Python function begins in one step and ends in the next, some copies have no size."""
import json
import os
import random
import sys

KERNELS = ("void gemm<float, 128>(float const*, float*)", "void at::native::(anonymous namespace)::softmax<4>(int)", "triton_red_fused_all_reduce_0",
           "ampere_sgemm_128x64_nn")
COLLECTIVES = ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", "void vllm::cross_device_reduce_1stage<__half, 2>(int)",
               "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)")
MOVES = ("Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)", "Memcpy DtoD (Device -> Device)")


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events, self.correlation, self.sequence = [], 0, 0
        self.streams = {7: 0, 20: 0, 24: 0}
        self.whole = seed % 2 == 0      # times are whole microseconds
        self.operators = (25, 35) if seed >= 300 else (3, 12)   # of a step: those of the last two take one to two ms

    def some(self, low, high):
        return self.random.randrange(low, high) * (1000 if self.whole else 1)

    def us(self, ns):
        return ns // 1000 if self.whole else json.loads("%d.%03d" % (ns // 1000, ns % 1000), parse_float=Decimal3)

    def add(self, category, name, start, end, pid, tid, **arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": self.us(start),
                            "dur": self.us(end - start), "args": arguments})

    def launch(self, now, thread):
        """A call at a time, and what it has on the GPU; the end of the call."""
        self.correlation += 1
        kind = self.random.choices(("kernel", "comm", "memcpy", "memset", "none"), (60, 15, 10, 8, 7))[0]
        end = now + self.some(2, 9) * (1 if self.whole else 1000)
        call = {"kernel": "cudaLaunchKernel", "comm": "cudaLaunchKernelExC", "memcpy": "cudaMemcpyAsync", "memset": "cudaMemsetAsync",
                "none": "cudaEventQuery"}[kind]
        self.add("cuda_runtime", call, now, end, 4000, thread, correlation=self.correlation)
        if kind == "none":
            return end
        stream = 20 if kind == "comm" else self.random.choice((7, 7, 24))
        start = max(self.streams[stream], now + self.some(1, 30) * (1 if self.whole else 997))
        length = self.some(1, 60) * (1 if self.whole else 991)
        self.streams[stream] = start + length
        where = {"device": 0, "stream": stream, "correlation": self.correlation}
        if kind in ("kernel", "comm"):
            name = self.random.choice(COLLECTIVES if kind == "comm" else KERNELS)
            self.add("kernel", name, start, start + length, 0, stream, grid=[self.random.randrange(1, 400), 1, 1],
                     block=[self.random.choice((32, 96, 128, 256, 1000)), 1, 1], **where,
                     **{"registers per thread": self.random.choice((16, 40, 96, 255)), "shared memory": self.random.choice((0, 512, 49152))})
        else:
            size = {} if self.random.random() < 0.2 else {"bytes": self.random.randrange(1, 10 ** 7)}
            name = self.random.choice(MOVES) if kind == "memcpy" else "Memset (Device)"
            self.add("gpu_" + kind, name, start, start + length, 0, stream, **where, **size)
        return end

    def operator(self, now, depth, thread, backward):
        start = now
        now += self.some(1, 5) * (1 if self.whole else 1003)
        name = "aten::" + self.random.choice(("mm", "add", "copy_", "conv2d", "relu"))
        self.sequence += not backward
        number = {"Sequence number": self.sequence} if depth == 0 and not backward else {}
        for _ in range(self.random.randrange(3)):
            now = self.operator(now, depth + 1, thread, backward) if depth < 3 and self.random.random() < 0.5 else self.launch(now, thread)
            now += self.some(0, 4)
        end = now + self.some(1, 3)
        self.add("cpu_op", name, start, end, 4000, thread, **{"External id": len(self.events)}, **number)
        return end

    def node(self, now, number):
        start = now
        now = self.operator(now + 1000, 1, 4002, True)
        self.add("cpu_op", "MmBackward0", start, now + 2000, 4000, 4002, **{"Sequence number": number, "Fwd thread id": 1})
        return now + 3000

    def step(self, number, now):
        start, first = now, self.sequence
        for _ in range(self.random.randrange(*self.operators)):
            now = self.operator(now + self.some(1, 50), 0, 4001, False)
        for number_of_node in range(self.sequence, first, -1):
            now = self.node(now, number_of_node)
        end = now + 5000
        self.add("user_annotation", "ProfilerStep#%d" % number, start, end, 4000, 4001)
        self.add("gpu_user_annotation", "ProfilerStep#%d" % number, start + 9000, end + 3000, 0, 7)
        self.add("python_function", "torch/profiler/profiler.py(700): step", end - 2000, end + 4000, 4000, 4001)
        self.add("python_function", "torch/profiler/profiler.py(600): _transit", end - 1000, end + 3000, 4000, 4001)
        return end + 2000

    def full_queue(self, now):
        """A kernel of 20 ms, and behind it more launches than a queue takes."""
        for number in range(1100):
            self.correlation += 1
            length = 20 * 10 ** 6 if not number else 2000
            start = max(self.streams[7], now + 9000)
            self.streams[7] = start + length
            self.add("cuda_runtime", "cudaLaunchKernel", now, now + 3000, 4000, 4001, correlation=self.correlation)
            self.add("kernel", "ampere_sgemm_128x64_nn", start, start + length, 0, 7, device=0, stream=7, correlation=self.correlation)
            now += 5000

    def document(self, rank):
        now = 5 * 10 ** 9
        for number in range(3, 3 + self.random.randrange(2, 6)):
            now = self.step(number, now)
        if rank == 0:
            self.full_queue(now)
        device = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42297524224, "computeMajor": 8, "computeMinor": 0,
                  "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "regsPerMultiprocessor": 65536,
                  "warpSize": 32, "sharedMemPerBlock": 49152, "sharedMemPerMultiprocessor": 167936, "numSms": 108}
        self.random.shuffle(self.events)
        return {"schemaVersion": 1, "baseTimeNanoseconds": 1700000000 * 10 ** 9, "deviceProperties": [device],
                "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": self.events}


class Decimal3(float):
    """Printed with its three decimals, as Kineto writes them."""

    def __new__(cls, text):
        made = float.__new__(cls, text)
        made.text = text
        return made

    def __repr__(self):
        return self.text


def main(folder):
    for seed in range(8):
        below = os.path.join(folder, "hta", "traces", "made-%d" % (seed // 2))
        os.makedirs(below, exist_ok=True)
        with open(os.path.join(below, "rank%d.json" % (seed % 2)), "w", encoding="utf-8") as f:
            f.write(json.dumps(Maker(seed // 2 * 100 + seed % 2).document(seed % 2)))


if __name__ == "__main__":
    main(sys.argv[1])
