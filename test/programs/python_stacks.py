"""python_stacks.py LIBCUDA [NVTX_SHIM]: calls CUDA from many kinds of Python call stacks, and prints these stacks; with the shim it begins
NVTX ranges instead.

Prints a line for each call, innermost frame first: LINE:FUNCTION of each Python frame, and "native" for functions outside the interpreter
(of ctypes, for instance) between them.
"""
import ctypes
import functools
import sys
import threading
import traceback

cuda = ctypes.CDLL(sys.argv[1])
call, after = cuda.cuCtxSynchronize, int
if len(sys.argv) > 2:
    shim = ctypes.CDLL(sys.argv[2])
    call, after = functools.partial(shim.nvtx_push, b"here"), shim.nvtx_pop
DONE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
libc = ctypes.CDLL(None)
BELOW = {"called", "compared"}          # called by ctypes
lock = threading.Lock()


def name(frame):
    return frame.f_code.co_qualname if sys.version_info >= (3, 11) else frame.f_code.co_name


def look():
    """Returns the frames of the caller, as traceback does; in 3.8 and 3.9 f_lineno uses the same table."""
    frame, words = sys._getframe(1), ["native"]
    lines = [f.lineno for f in reversed(traceback.extract_stack())][1:]
    for line in lines:
        words.append("%d:%s" % (line, name(frame)))
        if frame.f_code.co_name in BELOW:
            words.append("native")
        frame = frame.f_back
    return " ".join(words)


def sync():
    said, _ = look(), call()  # one line
    after()
    with lock:
        print(said, flush=True)
    return 1


def recursion(n):
    return sync() if n == 0 else recursion(n - 1)


def through_map(n):
    return sync() if n == 0 else list(map(through_map, [n - 1]))


def generator():
    yield sync()
    yield from inner()


def inner():
    yield sync()


def called(n):
    return recursion(n)


def compared(a, b):
    sync()
    return 0


def callback(n):
    return DONE(called)(n)


def nested_callbacks():
    array = (ctypes.c_int * 2)()
    libc.qsort(array, ctypes.c_size_t(2), ctypes.c_size_t(4), COMPARE(compared))


class Model:
    def __init__(self):
        sync()

    def __call__(self):
        return [sync() for _ in range(2)]

    @property
    def loss(self):
        return sync()

    def __lt__(self, other):
        sync()
        return False


class Awaited:
    def __await__(self):
        sync()
        yield 1


async def coroutine():
    await Awaited()


def main():
    cuda.cuInit(0)
    context = ctypes.c_void_p()
    cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
    recursion(0)
    recursion(30)
    through_map(7)
    list(generator())
    callback(3)
    callback(0)
    nested_callbacks()
    model = Model()
    model()
    model.loss
    sorted([model, model])
    functools.partial(recursion, 1)()
    coroutine().send(None)
    exec("sync()")
    (lambda: max([1, 2], key=lambda x: sync()))()
    thread = threading.Thread(target=lambda: (cuda.cuCtxSetCurrent(context), callback(2), through_map(3)))
    thread.start()
    thread.join()


main()
