"""Holds the walker of inject/python/*.c against the interpreter that runs this: python3 pywalk_check.py libpywalk.so [SECONDS]

Each check compares all frames of the calling thread, from the caller on, with traceback.extract_stack() and, for qualified names, with
the frames themselves; once with the GIL held around the walk, once without.
"""
import asyncio
import copy
import ctypes
import gc
import json
import os
import pprint
import random
import re
import sys
import textwrap
import threading
import time
import traceback

released, held = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(sys.argv[1])
for lib in released, held:
    lib.pywalk_why.restype = ctypes.c_char_p
    lib.pywalk_stack.argtypes = [ctypes.c_char_p, ctypes.c_int]
if held.pywalk_start() != os.getpid() or not held.pywalk_ready():
    print("no Python found:", held.pywalk_why().decode())
    sys.exit(1)

SIZE = 1 << 20
QUALIFIED = sys.version_info >= (3, 11)
local = threading.local()
lock = threading.Lock()
counts = {"stacks": 0, "frames": 0, "wrong": 0}
shapes = set()


def ours(lib):
    out = getattr(local, "out", None)
    if out is None:
        out = local.out = ctypes.create_string_buffer(SIZE)
    n = lib.pywalk_stack(out, SIZE)
    if n < 0:
        return [("failed at frame", str(-n - 1), 0)]
    rows = out.raw[:n].decode("utf-8").split("\x1e")[:-1]
    return [(file, name, int(line)) for file, name, line in (row.split("\x1f") for row in rows)]


def theirs(frame):
    rows = []
    names = []
    while frame is not None:
        rows.append(traceback.FrameSummary(frame.f_code.co_filename, 0, frame.f_code.co_name, lookup_line=False))
        names.append((frame.f_code, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    stack = []
    for code, lasti, line in names:
        if sys.version_info < (3, 10):  # with tracing on, f_lineno is that of the last 'line' event; tracebacks print this
            line = ctypes.pythonapi.PyCode_Addr2Line(ctypes.py_object(code), lasti)
        stack.append((code.co_filename, code.co_qualname if QUALIFIED else code.co_name, -1 if line is None else line))
    return stack


def compare(got, want, shape):
    with lock:
        counts["stacks"] += 1
        counts["frames"] += len(want)
        shapes.add(tuple(want[:6]))
        if got == want:
            return
        counts["wrong"] += 1
        if counts["wrong"] > 5:
            return
        print("%s: %d frames, but Python has %d" % (shape, len(got), len(want)))
        for i in range(max(len(got), len(want))):
            a, b = got[i] if i < len(got) else None, want[i] if i < len(want) else None
            if a != b:
                print("    %d: %s, but Python says %s" % (i, a, b))


def check(shape="", both=True):
    """Ours begins with ours() and this function, at another line."""
    for lib in (released, held) if both else (released,):
        got = ours(lib)
        compare(got[2:], theirs(sys._getframe())[1:], shape)
    return 1


def check_traceback():
    got = ours(released)
    want = [(f.filename, f.name, f.lineno) for f in reversed(traceback.extract_stack())]
    names = [(file, name.rpartition(".")[2], line) for file, name, line in got]
    compare([row for row in names[2:]], want[1:], "extract_stack")


# ---- shapes written by hand ----

def recursion(n):
    return check("recursion") if n == 0 else recursion(n - 1)


def generator(n):
    for i in range(n):
        check("generator")
        yield i


def delegating(n):
    yield from generator(n)


class Base:
    def __init__(self, value=0):
        self.value = value
        check("__init__")

    @property
    def prop(self):
        return check("property")

    def __getattr__(self, name):
        return check("__getattr__")

    def __enter__(self):
        check("__enter__")
        return self

    def __exit__(self, *args):
        check("__exit__")

    def __lt__(self, other):
        check("__lt__")
        return self.value < other.value

    def __del__(self):
        check("__del__")

    @classmethod
    def of_class(cls):
        check("class method")

    @staticmethod
    def static():
        check("static method")

    def __call__(self, *args, **kwargs):
        return check("__call__")


class Derived(Base):
    def __init__(self):
        super().__init__(3)
        check("super")


class Meta(type):
    def __new__(mcs, *args):
        check("metaclass")
        return type.__new__(mcs, *args)


def decorator(function):
    def wrapper(*args, **kwargs):
        check("wrapper")
        return function(*args,
                        **kwargs)
    return wrapper


@decorator
def decorated(a):
    check("decorated")


def lines():
    return max(check("line 1"),
               check(
                   "line 2"),
               *[check("line 3")
                 for _ in
                 range(2)])


def exceptions():
    try:
        try:
            1 / 0
        except ZeroDivisionError:
            check("except")
            raise KeyError
        finally:
            check("finally")
    except KeyError:
        check("outer except")


def comprehensions():
    [check("list") for _ in range(2)]
    {check("set") for _ in range(2)}
    {i: check("dict") for i in range(2)}
    sum(check("generator expression") for _ in range(2))
    list(map(lambda i: check("map"), range(2)))
    sorted([Base(2), Base(1)])
    sorted([2, 1], key=lambda v: check("key"))
    re.sub("a", lambda m: str(check("re")), "aaa")


def texts():
    source = "def \u00e9t\u00e9(): check('latin')\ndef \u4e16\u754c(): check('cjk')\n\u00e9t\u00e9()\n\u4e16\u754c()\n"
    exec(compile(source, "/tmp/fichi\u00e9r_\u4e16_\U0001f600.py", "exec"), {"check": check})


def jumps():
    source = ("def f():\n" + "\n" * 400 + "  check('jump 1')\n" + "\n" * 700 + "  x = (\n" + "\n" * 300 +
              "   check('jump 2'),\n   1)\n  check('jump 3')\n  for i in range(2):\n" +
              "".join("    x = %d + i\n" % i for i in range(900)) + "    check('jump 4')\n  check('jump 5')\nf()")
    exec(compile(source, "<jumps>", "exec"), {"check": check})


async def waits(n):
    check("async")
    if n:
        await waits(n - 1)
    await asyncio.sleep(0)
    check("async, resumed")


async def asynchronous():
    async def numbers():
        for i in range(2):
            check("async generator")
            yield i

    class Manager:
        async def __aenter__(self):
            check("__aenter__")

        async def __aexit__(self, *args):
            check("__aexit__")

    await asyncio.gather(waits(3), waits(2))
    async for _ in numbers():
        check("async for")
    [x async for x in numbers()]
    async with Manager():
        check("async with")


def by_hand(rounds=25):
    for i in range(rounds):                 # enough for the interpreter to specialise its instructions
        check("top")
        check_traceback()
        (lambda: (lambda x: check("lambda"))(1))()
        comprehensions()
        lines()
        exceptions()
        decorated(1)
        Base.of_class()
        Base.static()
        Base()(1)
        Base().prop, Base().missing
        with Base():
            pass
        Meta("X", (), {})
        Derived()
        list(generator(2))
        list(delegating(2))
        texts()
        recursion(i * 5)
        eval("check('eval')")
        exec("check('exec')\nclass Q:\n  check('class body')")
        g = generator(3)
        next(g), next(g)
        g.close()
    jumps()
    asyncio.run(asynchronous())


# ---- shapes made up: functions that call the next in one of many ways ----

WAYS = ["    return NEXT()", "    x = [NEXT() for _ in range(1)]\n    return x[0]", "    return sum(NEXT() for _ in range(1))",
        "    return next(iter(map(lambda _: NEXT(), [1])))", "    try:\n        return NEXT()\n    finally:\n        pass",
        "    def inner():\n        yield NEXT()\n    return list(inner())[0]", "    class C:\n        v = NEXT()\n    return C.v",
        "    return sorted([1], key=lambda v: NEXT())[0]", "    return eval('NEXT()', globals(), {'NEXT': NEXT})",
        "    with contextlib.ExitStack() as stack:\n        stack.callback(NEXT)\n    return 1",
        "    return functools.reduce(lambda a, b: NEXT(), [1, 2])", "    return functools.partial(NEXT)()",
        "    return (\n        0 or\n        NEXT()\n    )", "    exec('NEXT()', globals(), {'NEXT': NEXT})\n    return 1",
        "    if not hasattr(threading, 'never'):\n        return NEXT()", "    async def a():\n        return NEXT()\n    c = a()\n"
        "    try:\n        c.send(None)\n    except StopIteration as e:\n        return e.value",
        "    def g():\n        yield from h()\n    def h():\n        yield NEXT()\n    return next(g())",
        "    class D:\n        def __init__(self):\n            NEXT()\n    D()\n    return 1",
        "    import re\n    re.sub('x', lambda m: str(NEXT()), 'x')\n    return 1"]


def made_up(n, seed):
    pick = random.Random(seed)
    for i in range(n):
        depth = pick.randint(1, 12)
        space = {"check": check, "threading": threading}
        source = "import contextlib, functools\ndef f%d(): return check('made up')\n" % depth
        for level in range(depth):
            source += "\n" * pick.randint(0, 300) + "def f%d():\n" % level
            source += pick.choice(WAYS).replace("NEXT()", "f%d()" % (level + 1)).replace("NEXT", "f%d" % (level + 1)) + "\n"
            source = source.replace("{'f%d': f%d}" % (level + 1, level + 1), "{'f%d': f%d, 'NEXT': f%d}" % ((level + 1,) * 3))
        exec(compile(source, "/made/up/%d.py" % i, "exec"), space)
        space["f0"]()


# ---- any moment ----

def under_trace():
    depth = [0]

    def tracer(frame, event, arg):
        if not depth[0] and frame.f_code.co_filename != __file__:
            depth[0] = 1
            check("trace", both=False)
            depth[0] = 0
        return tracer

    sys.settrace(tracer)
    textwrap.wrap("lorem ipsum " * 30)
    sys.settrace(None)


def in_collections(seconds):
    busy = [False]

    def collected(phase, info):
        if not busy[0]:
            busy[0] = True
            check("gc", both=False)
            busy[0] = False

    threshold = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(40, 1000, 1000)
    end = time.time() + seconds
    while time.time() < end:
        json.loads(json.dumps({str(i): [i, {"a": i}] for i in range(50)}))
        re.purge()
        re.compile(r"(a|b)*[c-z]{2,5}(?P<x>\d+)" + str(random.random()))
        copy.deepcopy({"a": [1, {"b": [Exception(), {}]}]})
        pprint.pformat(list(range(40)))
    gc.callbacks.remove(collected)
    gc.set_threshold(*threshold)


def reused():
    """Code objects are freed and made again at the same addresses, under other names and at other lines."""
    for i in range(1500):
        space = {"check": check}
        exec(compile("\n" * (i % 7) + "def %s_%d():\n  check('reused', False)\n" % ("abcdefg"[i % 7], i % 211),
                     "/reused/%d.py" % (i % 13), "exec"), space)
        space["%s_%d" % ("abcdefg"[i % 7], i % 211)]()


def in_threads():
    stop = []

    def hot():
        while not stop:
            sum(i * i for i in range(100))

    def work():
        for i in range(8):
            by_thread(i)

    def by_thread(i):
        check("thread")
        recursion(i)
        list(generator(2))

    others = [threading.Thread(target=hot, daemon=True) for _ in range(2)]
    workers = [threading.Thread(target=work) for _ in range(3)]
    for t in others + workers:
        t.start()
    for t in workers:
        t.join()
    stop.append(1)
    for t in others:
        t.join()


def foreign():
    """A thread that Python did not make: no frames outside of the callback, the right ones in it."""
    seen = []
    callback = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    function = callback(lambda _: seen.append(check("foreign")) and None)
    create, join = ctypes.CDLL(None).pthread_create, ctypes.CDLL(None).pthread_join
    thread = ctypes.c_ulong()
    create(ctypes.byref(thread), None, function, None)
    join(thread, None)
    assert seen == [1]


if __name__ == "__main__":
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    by_hand()
    made_up(400, 7)
    under_trace()
    reused()
    in_threads()
    foreign()
    in_collections(seconds)
    print("%d stacks, %d different ones, %d frames, %d wrong" %
          (counts["stacks"], len(shapes), counts["frames"], counts["wrong"]))
    sys.exit(counts["wrong"] > 0 or len(shapes) < 300)
