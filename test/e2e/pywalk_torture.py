"""Everything that can be wrong around the walker of inject/python/*.c: python3 pywalk_torture.py libpywalk.so [PART]"""
import ctypes
import os
import subprocess
import sys
import threading
import time

lib, held = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(sys.argv[1])
lib.pywalk_why.restype = ctypes.c_char_p
assert lib.pywalk_start() == os.getpid() and lib.pywalk_ready(), lib.pywalk_why()


def deep(n, f):
    return f() if n == 0 else deep(n - 1, f)


def wrong_layouts():
    """Each offset off by one word, then all of them at random: it is noticed, or what is found is still right or shorter."""
    right = deep(10, lib.pywalk_depth)
    for i in range(40):
        found = deep(10, lambda: lib.pywalk_spoil(1, i))
        assert 0 <= found <= right + 1, (i, found, right)
    for seed in range(2000):
        found = deep(10, lambda: lib.pywalk_spoil(0, seed))
        assert found == 0, (seed, found)
    assert lib.pywalk_ready() and deep(10, lib.pywalk_depth) == right


def garbage():
    assert lib.pywalk_garbage(1, 300) == 0
    assert lib.pywalk_ready() and lib.pywalk_depth() > 0


def the_end():
    """Threads that still walk while Python ends."""
    for _ in range(3):
        threading.Thread(target=lib.pywalk_spin_until_the_end, daemon=True).start()
    for i in range(200):
        exec(compile("def f%d():\n  return [%d]\nf%d()" % (i, i, i), "/x/%d.py" % i, "exec"), {})
    time.sleep(0.05)


def other_interpreters():
    """A sub-interpreter's frames, with the GIL and without it: the right ones, or none."""
    code = ("import ctypes, sys\nlib, held = ctypes.CDLL(%r), ctypes.PyDLL(%r)\n"
            "def inner(): return lib.pywalk_depth(), held.pywalk_depth()\n"
            "got = inner()\nassert got in ((2, 2), (0, 2) if sys.version_info < (3, 12) else (2, 2)), got"
            % (sys.argv[1], sys.argv[1]))
    try:
        import _testcapi
        run = _testcapi.run_in_subinterp
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            try:
                import _interpreters as interpreters
            except ImportError:
                print("no way to make interpreters")
                return
        def run(text):
            # ctypes is no module of an isolated interpreter
            try:
                which = interpreters.create("legacy") if sys.version_info >= (3, 13) else interpreters.create(isolated=False)
            except TypeError:
                which = interpreters.create()
            interpreters.run_string(which, text)
    here = lib.pywalk_depth()
    assert not deep(20, lambda: run(code))
    assert lib.pywalk_depth() == here


def interpreters_at_once():
    """Interpreters with a GIL of their own, each walked on a thread of its own while the others run; from 3.13 on, when ctypes can."""
    if sys.version_info < (3, 13):
        return
    import _interpreters
    code = ("import ctypes\nlib, held = ctypes.CDLL(%r), ctypes.PyDLL(%r)\n"
            "def deep(n): return (lib.pywalk_depth(), held.pywalk_depth()) if n == 0 else deep(n - 1)\n"
            "for i in range(3000): assert deep(i %% 30) == (i %% 30 + 2,) * 2, (i, deep(i %% 30))\n" % (sys.argv[1], sys.argv[1]))
    wrong = []

    def one():
        which = _interpreters.create("isolated")
        done = _interpreters.run_string(which, code)
        if done:
            wrong.append(done.formatted)
        _interpreters.destroy(which)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        assert deep(20, lib.pywalk_depth) > 20
    assert not wrong, wrong


def forked():
    if os.fork() == 0:
        os._exit(0 if deep(10, lib.pywalk_depth) > 10 else 1)
    assert os.wait()[1] == 0


parts = {f.__name__: f for f in (wrong_layouts, garbage, the_end, other_interpreters, interpreters_at_once, forked)}
if len(sys.argv) > 2:
    parts[sys.argv[2]]()
else:
    for name in parts:
        for _ in range(3 if name == "the_end" else 1):
            done = subprocess.run([sys.executable, "-W", "ignore", __file__, sys.argv[1], name], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=60)
            text = done.stdout.decode().strip().replace("\n", "; ")
            if done.returncode:
                print("%s ended with %d: %s" % (name, done.returncode, text))
                sys.exit(1)
        print("%s: %s" % (name, text or "ok"))
