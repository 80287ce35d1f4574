#!/usr/bin/env python3
"""kinds.py KIND [ARGUMENT...]: several ways to use CUDA, all through ctypes.

  workers METHOD N K     N multiprocessing workers (fork, forkserver, spawn), K kernels each; the parent never touches CUDA
  exec N FORM            N kernels, then exec in this form (execl, ...) of a Python with N + 1
  stays N                failing execs in each form while N kernels run, then N more kernels
  contexts N             on each device: N kernels in the primary context, N in a new context, destroyed while they run
  reset N                N kernels, the primary context reset while they run, then N + 1 in the new one
  runtimes LIBCUDART...  copies and sets through each of these CUDA runtimes, opened by name, in one process
Prints the rows expected in the trace.
"""
import ctypes
import multiprocessing
import os
import sys

from train import Driver


def launch(cuda, n, wait=True, stream=None):
    for _ in range(n):
        cuda.launch("gemm", stream)
    if wait:
        cuda("cuCtxSynchronize")


def worker(k):
    launch(Driver(0.1), k)


def workers(method, n, k):
    context = multiprocessing.get_context(method)
    all_of_them = [context.Process(target=worker, args=(int(k),)) for _ in range(int(n))]
    for process in all_of_them:
        process.start()
    for process in all_of_them:
        process.join()
    if any(process.exitcode for process in all_of_them):
        sys.exit("kinds.py: a worker failed")
    print("kernels", int(n) * int(k))


def run_exec(n, form, again=None):
    launch(Driver(0.1), int(n))
    print("kernels", n, flush=True)
    if again:
        return
    os.environ["SIM_CORRELATION_START"] = "100000"      # distinguishes the two programs of one process id
    words = [word.encode() for word in (sys.executable, __file__, "exec", str(int(n) + 1), form, "again")]
    libc, here = ctypes.CDLL(None), os.open(sys.executable, os.O_RDONLY)
    listed = (ctypes.c_char_p * 7)(*words, None)
    whole = [b"%s=%s" % variable for variable in os.environb.items()]
    envp = (ctypes.c_char_p * (len(whole) + 1))(*whole, None)
    if form == "execv":
        libc.execv(words[0], listed)
    elif form in ("execl", "execlp"):
        libc[form](words[0], *words, None)
    elif form == "execle":
        libc.execle(words[0], *words, None, envp)
    elif form == "fexecve":
        libc.fexecve(here, listed, envp)
    elif form == "execveat":
        libc.execveat(-100, words[0], listed, envp, 0)


def stays(n):
    cuda, libc = Driver(0.1), ctypes.CDLL(None)
    nothing, words = b"/no/such/program", (ctypes.c_char_p * 2)(b"x", None)
    cuda.load(100)
    launch(cuda, int(n), wait=False)    # some 10 ms each
    failed = [libc.execv(nothing, words), libc.execve(nothing, words, None), libc.execl(nothing, b"x", None),
              libc.execle(nothing, b"x", None, None), libc.execveat(-100, nothing, words, None, 0)]
    cuda("cuCtxSynchronize")
    failed += [libc.execvp(nothing, words), libc.execvpe(nothing, words, None), libc.execlp(nothing, b"x", None),
               libc.fexecve(-1, words, words)]
    if any(result != -1 for result in failed):
        sys.exit("kinds.py: an exec of nothing did not fail")
    launch(cuda, int(n))
    print("kernels", 2 * int(n))


def contexts(n):
    n, count, total = int(n), ctypes.c_int(), 0
    ctypes.CDLL("libcuda.so.1").cuInit(0)
    ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(count))
    for ordinal in range(count.value):
        os.environ["LOCAL_RANK"] = str(ordinal)
        cuda = Driver(0.1)
        launch(cuda, n)
        own = ctypes.c_void_p()
        cuda("cuCtxCreate_v2", ctypes.byref(own), 0, ordinal)
        cuda.load(10)
        stream = cuda.handle("cuStreamCreate", 1)
        launch(cuda, n, wait=False, stream=stream)
        cuda("cuCtxDestroy_v2", own)
        cuda("cuCtxSetCurrent", cuda.context)
        launch_again(cuda)
        total += 2 * n + 1
    print("kernels", total)
    print("devices", count.value)
    print("contexts", 2 * count.value)


def launch_again(cuda):
    """The primary context works after the other one was destroyed."""
    cuda.load(0.1)
    launch(cuda, 1)


def reset(n):
    n = int(n)
    cuda = Driver(10)
    launch(cuda, n, wait=False)
    cuda("cuDevicePrimaryCtxReset_v2", 0)
    cuda("cuDevicePrimaryCtxRetain", ctypes.byref(cuda.context), 0)
    cuda("cuCtxSetCurrent", cuda.context)
    cuda.load(0.1)
    launch(cuda, n + 1)
    print("kernels", 2 * n + 1)


def runtimes(*libraries):
    size, host = ctypes.c_size_t(4096), ctypes.create_string_buffer(4096)
    for i, path in enumerate(libraries):
        cudart, p = ctypes.CDLL(path), ctypes.c_void_p()

        def call(function, *args):
            rc = getattr(cudart, function)(*args)
            if rc:
                sys.exit("kinds.py: %s of %s: CUDA error %d" % (function, path, rc))

        call("cudaMalloc", ctypes.byref(p), size)
        for _ in range(i + 1):
            call("cudaMemcpy", p, host, size, 1)
            call("cudaMemset", p, 0, size)
        call("cudaMemcpy", host, p, size, 2)
        call("cudaDeviceSynchronize")
        call("cudaFree", p)
    n = len(libraries) * (len(libraries) + 1) // 2
    print("memcpy", n + len(libraries))
    print("memset", n)


if __name__ == "__main__":
    kinds = {"workers": workers, "exec": run_exec, "stays": stays, "contexts": contexts, "reset": reset,
             "runtimes": runtimes}
    if len(sys.argv) < 2 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    kinds[sys.argv[1]](*sys.argv[2:])
