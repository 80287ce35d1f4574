"""The rows that numbers are made of, wherever they come from.  Times are integers, ns."""


class GpuRow:
    """A kernel, copy, memory set or whole graph (kind) on a GPU.  start 0: it came without a time."""
    __slots__ = ("kind", "name", "start", "end", "correlation", "device", "stream", "context", "bytes", "grid", "block",
                 "registers", "shared", "static", "call", "index", "graph", "node", "moves")

    def __init__(self, kind, name, start, end, correlation, device, stream):
        self.kind, self.name, self.start, self.end = kind, name, start, end
        self.correlation, self.device, self.stream = correlation, device, stream
        self.context = self.bytes = self.grid = self.block = self.registers = self.call = self.moves = None
        self.shared = self.static = self.index = self.graph = self.node = 0

    def timed(self):
        return self.start > 0 and self.end >= self.start


class Call:
    """A call of the CUDA runtime or driver."""
    __slots__ = ("name", "start", "end", "correlation", "thread", "index", "result")

    def __init__(self, name, start, end, correlation, thread, index):
        self.name, self.start, self.end, self.correlation, self.thread, self.index = name, start, end, correlation, thread, index
        self.result = 0


class Range:
    """An operator (op), autograd node (backward), annotation of the program (user)."""
    __slots__ = ("kind", "name", "start", "end", "thread", "sequence", "forward_thread", "index", "shapes", "parent", "children",
                 "gpu", "self_gpu", "crossing", "annotation", "launched")

    def __init__(self, kind, name, start, end, thread, index):
        self.kind, self.name, self.start, self.end, self.thread, self.index = kind, name, start, end, thread, index
        self.sequence = -1
        self.forward_thread = 0
        self.shapes = self.parent = None
        self.children = []
        self.gpu = self.self_gpu = 0
        self.crossing = self.annotation = False
        self.launched = []              # GPU rows launched directly in it


class Process:
    def __init__(self, pid):
        self.pid = pid
        self.rank = None
        self.gpu, self.calls, self.ranges, self.gpu_ranges = [], [], [], []
        self.steps = []                 # Range of each step, in order
        self.other_ranges = 0           # Python's functions, and what is not PyTorch's
        self.nested = False
        self.devices = {}               # number -> properties, as the file names them


class Trace:
    def __init__(self, processes, origin, name):
        self.processes, self.origin, self.name = processes, origin, name
        self.recorded = False


def link(process):
    """Each GPU row gets the call that launched it: the call of its correlation id."""
    calls = {}
    for call in process.calls:
        if call.correlation:
            calls.setdefault(call.correlation, call)
    for row in process.gpu:
        if row.correlation:
            row.call = calls.get(row.correlation)


COMMUNICATION = ("rccl", "nvshmem", "msccl", "cross_device_reduce", "quickreduce", "allreduce", "all_reduce", "allgather", "all_gather",
                 "reducescatter", "reduce_scatter", "alltoall", "all_to_all", "deep_ep::", "userbuffers")


def is_communication(name):
    """Of a kernel's name, by docs/reference/numbers.md."""
    short = name[5:] if name.startswith("void ") else name
    short = short.replace("(anonymous namespace)", "")
    for stop in "<(":
        short = short.split(stop, 1)[0]
    short = short.lower()
    if short.startswith("triton_"):
        return False
    return (short.startswith("nccl") or "nccldevkernel" in short or "ncclkernel" in short
            or any(word in short for word in COMMUNICATION))
