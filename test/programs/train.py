#!/usr/bin/env python3
"""A small training loop to profile.

With PyTorch and a GPU it trains a small network.  Otherwise it launches kernels with the same pattern through the CUDA
driver API (a real or the simulated driver): these only take time, while a small linear model is trained on the CPU.
Without a driver it uses only the CPU.  NVTX ranges mark steps and phases in all three cases.
"""
import argparse
import ctypes
import glob
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


# ---- NVTX: the nvtx package, or libnvtx_shim.so of `make programs`, or none ----

class Nvtx:
    def __init__(self, shim):
        self.push = self.pop = lambda *_: None
        self.how = "none"
        try:
            import nvtx
            self.push, self.pop, self.how = nvtx.push_range, nvtx.pop_range, "the nvtx package"
            return
        except ImportError:
            pass
        places = [shim] if shim else [os.path.join(HERE, "libnvtx_shim.so")] + sorted(
            glob.glob(os.path.join(HERE, "..", "..", "build*", "test", "programs", "libnvtx_shim.so")))
        for path in places:
            try:
                lib = ctypes.CDLL(path)
            except OSError:
                continue
            self.push = lambda name: lib.nvtx_push(name.encode())
            self.pop = lib.nvtx_pop
            self.how = "libnvtx_shim.so"
            return

    def range(self, name):
        return NvtxRange(self, name)


class StepClock:
    """Writes begin and end of each step, outside and inside its range; a profiler's times are between them."""

    def __init__(self, path):
        self.file = open(path, "a") if path else None

    def around(self, number, inner):
        return ClockedStep(self.file, number, inner) if self.file else inner


class ClockedStep:
    def __init__(self, file, number, inner):
        self.file, self.number, self.inner = file, number, inner

    def __enter__(self):
        self.times = [time.time_ns()]
        self.inner.__enter__()
        self.times.append(time.time_ns())

    def __exit__(self, *_):
        self.times.append(time.time_ns())
        self.inner.__exit__(*_)
        self.times.append(time.time_ns())
        said = [os.getpid(), int(os.environ.get("RANK", 0)), self.number, *self.times]
        self.file.write(" ".join(map(str, said)) + "\n")
        self.file.flush()


class NvtxRange:
    def __init__(self, nvtx, name):
        self.nvtx, self.name = nvtx, name

    def __enter__(self):
        self.nvtx.push(self.name)

    def __exit__(self, *_):
        self.nvtx.pop()


# ---- data, and a linear model that is trained on the CPU ----

class Loader:
    """Makes batches: y = 3 x0 - 2 x1 + 1, with noise.  Takes a while, as decoding and augmenting do."""

    def __init__(self, batch):
        self.batch, self.random = batch, random.Random(1)

    def next(self):
        time.sleep(0.001)
        draw = self.random.uniform
        rows = [(draw(-1, 1), draw(-1, 1)) for _ in range(self.batch)]
        return [(x, z, 3 * x - 2 * z + 1 + draw(-.1, .1)) for x, z in rows]


class Linear:
    def __init__(self):
        self.a = self.b = self.c = 0.0

    def learn(self, rows, rate=0.2):
        """One step of gradient descent; returns the mean squared error before it."""
        n, loss, ga, gb, gc = len(rows), 0.0, 0.0, 0.0, 0.0
        for x, z, y in rows:
            e = self.a * x + self.b * z + self.c - y
            loss += e * e / n
            ga, gb, gc = ga + 2 * e * x / n, gb + 2 * e * z / n, gc + 2 * e / n
        self.a, self.b, self.c = self.a - rate * ga, self.b - rate * gb, self.c - rate * gc
        return loss


# ---- the CUDA driver through ctypes ----

# Kernels of a PyTorch training step; us: duration for a batch of 32.
ELEMENTWISE = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
KERNELS = {
    "layer_norm": ("_ZN2at6native28vectorized_layer_norm_kernelIffEEviT0_PKT_S5_S5_PS2_S6_PS3_", 14),
    "gemm": ("ampere_sgemm_128x64_tn", 90),
    "gemm_dgrad": ("ampere_sgemm_128x64_nn", 95),
    "gemm_wgrad": ("ampere_sgemm_128x64_nt", 105),
    "add": (ELEMENTWISE + "15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_", 6),
    "fill": (ELEMENTWISE + "11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_", 3),
    "gelu": (ELEMENTWISE + "18GeluCUDAKernelImplESt5arrayIPcLm2EEEEviT0_T1_", 9),
    "gelu_back": (ELEMENTWISE + "26GeluBackwardCUDAKernelImplESt5arrayIPcLm3EEEEviT0_T1_", 11),
    "layer_norm_back": ("_ZN2at6native28layer_norm_grad_input_kernelIffEEvPKT_S4_PKT0_S7_S4_PS2_i", 18),
    "softmax": ("_ZN2at6native19cunn_SoftMaxForwardILi4EfffEEvPT2_PKT0_i", 12),
    "nll_loss": ("_ZN2at6native38nll_loss_forward_reduce_cuda_kernel_2dIfflEEvPT_S3_PKS2_PKT1_S5_bS6_S6_S6_S6_", 5),
    "reduce": ("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_", 7),
    "adam": ("_ZN2at6native25multi_tensor_apply_kernelINS0_18TensorListMetadataILi4EEENS0_20FusedAdamMathFunctor"
             "IfLi4EEEJfdEEEvT_T0_DpT1_", 60),
    "all_reduce": ("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE", 160),
}

# Spins for spin_ns ns, at most 2^22 reads of the clock.
PTX_KERNEL = """
.visible .entry %s(.param .u64 spin_ns)
{
	.reg .u64 %%t<5>;
	.reg .u32 %%n;
	.reg .pred %%p<3>;
	ld.param.u64 %%t0, [spin_ns];
	mov.u64 %%t1, %%globaltimer;
	mov.u32 %%n, 0;
again:
	mov.u64 %%t2, %%globaltimer;
	sub.u64 %%t3, %%t2, %%t1;
	add.u32 %%n, %%n, 1;
	setp.lt.u64 %%p0, %%t3, %%t0;
	setp.lt.u32 %%p1, %%n, 4194304;
	and.pred %%p2, %%p0, %%p1;
	@%%p2 bra again;
	ret;
}
"""


class NoDriver(Exception):
    pass


class Driver:
    """The driver API functions that the loop needs.  Raises NoDriver if there is no driver or no device."""

    def __init__(self, scale):
        try:
            self.lib = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise NoDriver("no libcuda.so.1")
        rc = self.lib.cuInit(0)
        if rc:
            raise NoDriver("cuInit answers %d" % rc)
        count, device, self.context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGetCount", ctypes.byref(count))
        ordinal = int(os.environ.get("LOCAL_RANK", 0)) % count.value
        self("cuDeviceGet", ctypes.byref(device), ordinal)
        name = ctypes.create_string_buffer(256)
        self("cuDeviceGetName", name, 256, device)
        self.name = name.value.decode()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self("cuCtxSetCurrent", self.context)
        self.load(scale)

    def __call__(self, function, *args):
        rc = getattr(self.lib, function)(*args)
        if rc:
            sys.exit("train.py: %s: CUDA error %d" % (function, rc))

    def load(self, scale):
        ptx = ".version 6.0\n.target sm_60\n.address_size 64\n" + "".join(PTX_KERNEL % n for n, _ in KERNELS.values())
        module = ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), ptx.encode())
        self.kernels = {}
        for short, (name, us) in KERNELS.items():
            fn = ctypes.c_void_p()
            self("cuModuleGetFunction", ctypes.byref(fn), module, name.encode())
            ns = ctypes.c_uint64(int(us * 1000 * scale))
            args = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(ns), ctypes.c_void_p))
            self.kernels[short] = (fn, ns, args)

    def handle(self, function, *args):
        out = ctypes.c_void_p()
        self(function, ctypes.byref(out), *args)
        return out

    def launch(self, kernel, stream=None, blocks=64, threads=128):
        fn, _, args = self.kernels[kernel]
        self("cuLaunchKernel", fn, blocks, 1, 1, threads, 1, 1, 0, stream, args, None)


class DriverStep:
    """One training step in kernels: a stack of layers, gradients reduced on a second stream while backward runs."""

    def __init__(self, driver, nvtx, batch, layers):
        self.cuda, self.nvtx, self.layers, self.bytes = driver, nvtx, layers, batch * 3 * 64 * 64 * 4
        self.comm = driver.handle("cuStreamCreate", 1)
        self.ready = [driver.handle("cuEventCreate", 2) for _ in range(layers)]
        self.reduced = driver.handle("cuEventCreate", 2)
        size = ctypes.c_size_t(self.bytes)
        self.input, self.pinned = ctypes.c_uint64(), ctypes.c_void_p()
        driver("cuMemAlloc_v2", ctypes.byref(self.input), size)
        driver("cuMemHostAlloc", ctypes.byref(self.pinned), size, 0)
        self.labels, self.host_labels = ctypes.c_uint64(), (ctypes.c_int64 * batch)()
        driver("cuMemAlloc_v2", ctypes.byref(self.labels), ctypes.c_size_t(ctypes.sizeof(self.host_labels)))

    def load(self):
        self.cuda("cuMemcpyHtoDAsync_v2", self.input, self.pinned, ctypes.c_size_t(self.bytes), None)
        self.cuda("cuMemcpyHtoDAsync_v2", self.labels, self.host_labels,
                  ctypes.c_size_t(ctypes.sizeof(self.host_labels)), None)

    def forward(self):
        for i in range(self.layers):
            with self.nvtx.range("layer %d" % i):
                for kernel in "layer_norm", "gemm", "gelu", "gemm", "add":
                    self.cuda.launch(kernel)
        for kernel in "gemm", "softmax", "nll_loss":
            self.cuda.launch(kernel)

    def backward(self):
        self.cuda.launch("reduce")
        for i in reversed(range(self.layers)):
            for kernel in "gemm_dgrad", "gemm_wgrad", "gelu_back", "gemm_dgrad", "gemm_wgrad", "layer_norm_back":
                self.cuda.launch(kernel)
            self.cuda("cuEventRecord", self.ready[i], None)
            with self.nvtx.range("all_reduce %d" % i):
                self.cuda("cuStreamWaitEvent", self.comm, self.ready[i], 0)
                self.cuda.launch("all_reduce", self.comm, blocks=24, threads=512)
        self.cuda("cuEventRecord", self.reduced, self.comm)

    def optimize(self):
        self.cuda("cuStreamWaitEvent", None, self.reduced, 0)
        for _ in range(2):
            self.cuda.launch("adam")
        self.cuda("cuMemsetD8Async", self.labels, 0, ctypes.c_size_t(ctypes.sizeof(self.host_labels)), None)
        self.cuda.launch("fill")

    def wait(self):
        """As loss.item(): a copy to the host, and a wait for it."""
        loss = ctypes.c_float()
        self.cuda("cuMemcpyDtoHAsync_v2", ctypes.byref(loss), self.input, ctypes.c_size_t(4), None)
        self.cuda("cuStreamSynchronize", None)


class CpuStep:
    """The same phases without a GPU; they only take time."""

    load = optimize = wait = lambda self: time.sleep(0.0002)
    forward = lambda self: time.sleep(0.001)
    backward = lambda self: time.sleep(0.002)


def train_without_torch(args):
    nvtx = Nvtx(args.nvtx_shim)
    try:
        driver = Driver(args.batch / 32)
        step = DriverStep(driver, nvtx, args.batch, args.layers)
        name = "simulated GPU" if "Simulated" in driver.name else driver.name
        print("train.py: %s, without PyTorch: the kernels of such a loop, which take time and compute nothing" % name)
    except NoDriver as why:
        step = CpuStep()
        print("train.py: no GPU (%s): on the CPU alone, NVTX ranges only" % why)
    print("train.py: NVTX through %s" % nvtx.how)
    loader, model, clock = Loader(args.batch), Linear(), StepClock(args.clock)
    for i in range(args.steps):
        with clock.around(i, nvtx.range("step %d" % i)):
            with nvtx.range("data"):
                rows = loader.next()
                step.load()
            with nvtx.range("forward"):
                step.forward()
            with nvtx.range("backward"):
                step.backward()
            with nvtx.range("optimizer"):
                step.optimize()
                loss = model.learn(rows)
            with nvtx.range("loss"):
                step.wait()
        print("step %d loss %.4f" % (i, loss), flush=True)


# ---- PyTorch ----

def train_with_torch(torch, args):
    nvtx = torch.cuda.nvtx
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())
    torch.cuda.set_device(device)
    torch.manual_seed(1)
    print("train.py: PyTorch %s on %s" % (torch.__version__, torch.cuda.get_device_name(device)))
    layers = []
    for _ in range(args.layers):
        layers += [torch.nn.LayerNorm(1024), torch.nn.Linear(1024, 1024), torch.nn.GELU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(1024, 10)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    comm = torch.cuda.Stream()
    weight = torch.randn(1024, 10)
    for i in range(args.steps):
        with nvtx.range("step %d" % i):
            with nvtx.range("data"):
                x = torch.randn(args.batch, 1024).pin_memory()
                y = (x @ weight).argmax(1).pin_memory()
                x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            with nvtx.range("forward"):
                loss = torch.nn.functional.cross_entropy(model(x), y)
            with nvtx.range("backward"):
                optimizer.zero_grad()
                loss.backward()
            with nvtx.range("all_reduce"):      # one rank: only the traffic of a reduction, on a separate stream
                comm.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(comm):
                    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
                    flat.mul_(1.0)
                torch.cuda.current_stream().wait_stream(comm)
            with nvtx.range("optimizer"):
                optimizer.step()
            with nvtx.range("loss"):
                value = loss.item()
        print("step %d loss %.4f" % (i, value), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=20, help="training steps (20)")
    parser.add_argument("--batch", type=int, default=32, help="rows in a batch (32); kernels take time in proportion")
    parser.add_argument("--layers", type=int, default=6, help="layers of the network (6)")
    parser.add_argument("--nvtx-shim", metavar="PATH", help="libnvtx_shim.so, where the nvtx package is not installed")
    parser.add_argument("--clock", metavar="FILE", help="append begin and end of each step by this program's own clock (without PyTorch)")
    parser.add_argument("--no-torch", action="store_true", help="use the driver API even where PyTorch could be used")
    args = parser.parse_args()
    torch = None
    if not args.no_torch:
        try:
            import torch
        except ImportError:
            pass
    if torch and torch.cuda.is_available():
        train_with_torch(torch, args)
    else:
        train_without_torch(args)


if __name__ == "__main__":
    main()
