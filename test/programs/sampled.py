"""sampled.py LIBPESTER SIGNALS [US]: a program with a known call graph, sampled at any moment.

CALLS lists the possible callers of each function; test/e2e/samples_check.py checks the samples with it.
"""
import ctypes
import gc
import os
import sys
import threading
import time

# The callers of each function; "*": any.
CALLS = {
    "<module>": [], "main": ["<module>"], "<lambda>": ["main", "worker"], "worker": ["*"], "short_lived": ["*"], "at_the_end": ["*"],
    "everything": ["main", "worker", "in_child"], "in_child": ["fork"], "fork": ["main"],
    "deep": ["deep", "everything", "short_lived", "in_child", "at_the_end"],
    "ping": ["pong", "everything"], "pong": ["ping"],
    # An unfinished generator is closed when its owner's frame ends, in the caller.
    "outer": ["consume", "everything", "at_the_end"], "inner": ["outer", "consume", "everything", "at_the_end"],
    "consume": ["everything", "at_the_end"],
    "squares": ["everything"], "<listcomp>": ["squares", "objects", "main", "worker", "in_child"], "<dictcomp>": ["squares"], "<genexpr>": ["squares"],
    "sorts": ["everything"], "key": ["sorts"], "__lt__": ["sorts"],
    "churn": ["everything"], "made": ["churn"], "leaf": ["made", "deep", "ping", "await_twice", "traced"],
    "await_once": ["await_twice"], "await_twice": ["drive"], "drive": ["everything"],
    "objects": ["everything"], "__init__": ["objects", "<listcomp>", "main", "worker", "in_child"], "value": ["objects", "<listcomp>"], "__del__": ["*"], "on_gc": ["*"],
    "raises": ["raises", "catches"], "catches": ["everything"],
    "traced": ["everything"], "tracer": ["*"],
}


def leaf(n):
    return [n] * 3


def deep(n):
    if n <= 0:
        return leaf(n)
    return deep(n - 1)


def ping(n):
    return pong(n - 1) if n > 0 else leaf(n)


def pong(n):
    return ping(n - 1)


def inner(n):
    for i in range(n):
        yield i


def outer(n):
    yield from inner(n)
    for i in inner(n):
        yield i


def consume(n):
    g = outer(n)
    for i in g:
        if i == n - 2:
            break
    return list(outer(n)), sum(outer(n))


def squares(n):
    return [i * i for i in range(n)], {i: i for i in range(n)}, sum(i for i in range(n))


class Thing:
    def __init__(self, n):
        self.n = n
        self.me = self

    def __lt__(self, other):
        return self.n < other.n

    @property
    def value(self):
        return self.n

    def __del__(self):
        self.n += 1


def key(i):
    return -i


def sorts(things):
    return sorted(range(60), key=key), sorted(things)


def churn(k):
    """Code objects that exist for one call; later ones reuse their addresses."""
    space = {"leaf": leaf}
    text = "\n" * (k % 7) + "def made(n):\n    return leaf(n), leaf(%d)\n" % k
    exec(compile(text, "/made/%d.py" % (k % 13), "exec"), space)
    return space["made"](k)


async def await_once(n):
    return n


async def await_twice(n):
    leaf(n)
    return await await_once(n) + await await_once(n + 1)


def drive(n):
    c = await_twice(n)
    try:
        c.send(None)
    except StopIteration as e:
        return e.value


def objects(n):
    return [Thing(i).value for i in range(n)]


def raises(n):
    if n == 0:
        raise ValueError
    raises(n - 1)


def catches():
    try:
        raises(5)
    except ValueError:
        pass


def tracer(frame, event, arg):
    return tracer


def traced():
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        leaf(1)
    finally:
        sys.settrace(before)


def everything(k, things):
    deep(k % 50)
    ping(k % 30)
    consume(k % 12 + 3)
    squares(k % 20)
    sorts(things)
    churn(k)
    drive(k)
    objects(5)
    catches()
    traced()


def on_gc(phase, info):
    info.get("generation")


def short_lived():
    deep(20)


def worker(on):
    things = [Thing(i) for i in range(20)]
    k = 0
    while on():
        k += 1
        everything(k, things)


def in_child():
    things = [Thing(i) for i in range(20)]
    for k in range(20):
        everything(k, things)
        deep(30)


def fork():
    pid = os.fork()
    if pid == 0:
        in_child()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def at_the_end():
    while True:
        deep(30)
        consume(5)


def main():
    lib = ctypes.CDLL(sys.argv[1])
    lib.pester_sent.restype = ctypes.c_long
    on = lambda: lib.pester_sent() < int(sys.argv[2])
    assert lib.pester_start(int(sys.argv[3]) if len(sys.argv) > 3 else 30) == 0, "nothing is sampled"
    gc.callbacks.append(on_gc)
    gc.set_threshold(50)
    workers = [threading.Thread(target=worker, args=(on,)) for _ in range(2)]
    for t in workers:
        t.start()
    things = [Thing(i) for i in range(20)]
    k = 0
    while on():
        k += 1
        everything(k, things)
        if k % 40 == 0:
            threading.Thread(target=short_lived).start()
        if k % 400 == 0:
            fork()
    for t in workers:
        t.join()
    lib.pester_tells_of_crashes()
    print("the end begins", flush=True)
    for _ in range(2):
        threading.Thread(target=at_the_end, daemon=True).start()
    time.sleep(0.05)
    # Continues while Python is finalized.


if __name__ == "__main__":
    main()
