"""Holds inject/torch/torch_modules.c against modules that are called as PyTorch calls them: python3 pymodules_check.py libpywalk.so"""
import ctypes
import os
import sys

lib = ctypes.CDLL(sys.argv[1])
lib.pywalk_why.restype = ctypes.c_char_p
assert lib.pywalk_start() == os.getpid() and lib.pywalk_ready(), lib.pywalk_why()

# torch/nn/modules/module.py in short, of PyTorch 2.1 and later ones; and of 2.0, where _call_impl() is alone.
WRAPPED = """
class Module:
    def _wrapped_call_impl(self, *args, **kwargs):
        return self._call_impl(*args, **kwargs)
    def _call_impl(self, *args, **kwargs):
        result = None
        def inner():
            return self.forward(*args, **kwargs)
        if kwargs.get("plain"):
            return self.forward(*args)
        return inner()
    __call__ = _wrapped_call_impl
"""
place = {}
exec(compile(WRAPPED, "/x/site-packages/torch/nn/modules/module.py", "exec"), place)
Module = place["Module"]
elsewhere = {}
exec(compile(WRAPPED, "/x/site-packages/other/module.py", "exec"), elsewhere)
got = []


def look():
    out = ctypes.create_string_buffer(4096)
    lib.pywalk_modules(out, len(out))
    return out.value.decode().split("\n")[0]


class Leaf(Module):
    def forward(self, *args):
        got.append(look())


class Other(elsewhere["Module"]):
    def __init__(self, inside):
        self.inside = inside

    def forward(self, *args):
        self.inside()


class Net(Module):
    def __init__(self, *inside):
        self.inside = inside

    def forward(self, *args):
        for m in self.inside:
            m(plain=True) if isinstance(m, Leaf) else list(map(lambda m: m(), [m]))


def deep(n, f):
    return f() if n == 0 else deep(n - 1, f)


assert look() == ""
a, b = Leaf(), Leaf()
net = Net(a, Net(b, a), Other(b))
want = ["Net_0 > Leaf_0", "Net_0 > Net_1 > Leaf_1", "Net_0 > Net_1 > Leaf_0", "Net_0 > Leaf_1"]
for _ in range(3):
    got.clear()
    net()
    assert got == want, got
got.clear()
deep(200, a)
type("odd > name", (Leaf,), {})()()
assert got == ["Leaf_0", "odd _ name_0"], got
got.clear()
nets = [Net(Leaf()) for _ in range(20000)]      # more objects than have a number
for n in nets:
    n()
assert got[0] == "Net_2 > Leaf_2" and got[4000] == "Net_4002 > Leaf_4002" and got[-1] == "Net_? > Leaf_?", (got[0], got[4000], got[-1])
