"""
Holds inject/torch/torch_paths.c against named_modules(), for modules made as PyTorch makes them: pymodules_paths_check.py libpywalk.so
"""
import collections
import ctypes
import os
import sys
import time

lib = ctypes.CDLL(sys.argv[1])
lib.pywalk_why.restype = ctypes.c_char_p
assert lib.pywalk_start() == os.getpid() and lib.pywalk_ready(), lib.pywalk_why()

# torch/nn/modules/module.py in short; DICT is what _modules is: a dict in later versions, an OrderedDict in earlier ones.
MODULE = """
class Module:
    def __init__(self):
        put = super().__setattr__
        put("training", True)
        put("_parameters", {})
        put("_buffers", {})
        put("_non_persistent_buffers_set", set())
        for name in ("backward_pre_hooks", "backward_hooks", "forward_hooks", "forward_pre_hooks", "state_dict_hooks"):
            put("_" + name, OrderedDict())
        put("_modules", DICT())

    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self.__dict__.pop(name, None)
            self._modules[name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name):
        modules = self.__dict__.get("_modules", {})
        if name in modules:
            return modules[name]
        raise AttributeError(name)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(prefix + ("." if prefix else "") + name)

    def _wrapped_call_impl(self, *args):
        return self._call_impl(*args)

    def _call_impl(self, *args):
        return self.forward(*args)

    __call__ = _wrapped_call_impl
"""
place = {"OrderedDict": collections.OrderedDict, "DICT": dict}
exec(compile(MODULE, "/x/site-packages/torch/nn/modules/module.py", "exec"), place)
Module = place["Module"]
calls = []
kept = []       # so that none takes the place of another

def look():
    out = ctypes.create_string_buffer(16384)
    lib.pywalk_modules(out, len(out))
    return (out.value.decode() + "\n").split("\n")[:2]


class Leaf(Module):
    def forward(self, *args):
        calls.append((self, look()))


class Sequential(Module):
    def __init__(self, *modules):
        super().__init__()
        for i, m in enumerate(modules):
            self._modules[str(i)] = m

    def forward(self, *args):
        for m in self._modules.values():
            m()


class ModuleList(Sequential):
    def __iter__(self):
        return iter(self._modules.values())


class ModuleDict(Module):
    def __init__(self, modules):
        super().__init__()
        self._modules.update(modules)


class Calls(Module):
    """Calls what it is told to."""
    def __init__(self, *told, **modules):
        super().__init__()
        for name, module in modules.items():
            setattr(self, name, module)
        self.told = list(told)

    def forward(self, *args):
        for f in self.told:
            f()


def paths_of(model):
    calls.clear()
    kept.append(model)
    model()
    assert calls
    return [(leaf, text.split(" > "), paths.split(" > ")) for leaf, (text, paths) in calls]


def check(model, unknown=(), root=""):
    """Every leaf that was called has the name that named_modules() has it under, but those that are said not to have one."""
    names = collections.defaultdict(set)
    for name, module in model.named_modules():
        names[id(module)].add(name)
    for leaf, text, paths in paths_of(model):
        assert len(text) == len(paths) and paths[0] == ".", (text, paths)
        if any(leaf is u for u in unknown):
            assert paths[-1] == "?", (text, paths)
        else:
            assert paths[-1] in names[id(leaf)], (text, paths, names[id(leaf)])
    return len(calls)


def block():
    return Calls(conv=Leaf(), norm=Leaf())


def wire(b):
    b.told = [b.conv, b.norm]
    return b


def net():
    n = Calls(stem=Leaf(), layer1=Sequential(wire(block()), wire(block())), layer2=Sequential(wire(block()), Leaf()),
              heads=ModuleDict({"cls": Leaf(), "box": Sequential(Leaf(), Leaf())}), layers=ModuleList(wire(block()), wire(block())))
    n.told = [n.stem, n.layer1, n.layer2] + list(n.layers) + [n.heads._modules["cls"], n.heads._modules["box"]]
    return n


# A network with all kinds of containers, twice, and with another dict for children.
for kind in dict, collections.OrderedDict, dict:
    place["DICT"] = kind
    n = net()
    assert check(n) == 15 and check(n) == 15
wrapped = Calls(module=net())
wrapped.told = [wrapped.module]
check(wrapped)
assert "module.layers.1.conv" in [paths[-1] for _, _, paths in paths_of(wrapped)]

# Instance dicts that are not as they were made: asked for, replaced, with too many attributes for one that is shared.
n = net()
for m in [m for _, m in n.named_modules()]:
    vars(m)
check(n)
n = net()
for m in [m for _, m in n.named_modules()]:
    m.__dict__ = dict(m.__dict__)
check(n)
n = net()
for i in range(60):
    setattr(n, "attribute%d" % i, i)
    setattr(n.layers, "other%d" % i, i)
check(n)
many = net()
check(many)
for i in range(60):
    setattr(many, "later%d" % i, i)
many.layers.told = None
check(many)
del n.attribute3, n.attribute40, n.training
check(n)


# Another class than it was made with, and classes with slots, from a built-in class, with a metaclass.
class Parametrized(Calls):
    pass


n = net()
check(n)
n.__class__ = Parametrized
for m in n.layers:
    m.__class__ = Parametrized
check(n)


class Slots(Calls):
    __slots__ = ("extra", "more")


class Number(Calls, Exception):
    pass


class Meta(type):
    pass


class Made(Calls, metaclass=Meta):
    pass


for kind in Slots, Number, Made:
    n = kind(a=Leaf(), list=ModuleList(Leaf(), Leaf()))
    n.told = [n.a] + list(n.list)
    check(n)

# A child that hangs in several places has the name that its caller has for it.
shared, far = Leaf(), Leaf()
n = Calls(a=wire(Calls(conv=shared, norm=Leaf())), b=wire(Calls(conv=Leaf(), norm=shared)), c=ModuleList(far), d=ModuleList(far))
n.told = [n.a, n.b, n.a, n.b, far]
check(n)
assert [p[-1] for _, _, p in paths_of(n)] == ["a.conv", "a.norm", "b.conv", "b.norm", "a.conv", "a.norm", "b.conv", "b.norm", "c.0"]

# One that is called by another than the one that holds it; and one that nobody holds.
stray, inner = Leaf(), Leaf()
n = Calls(runner=Calls(), block=Leaf(), deep=ModuleList(ModuleList(Leaf())))
n.runner.told = [n.block, stray, n.deep._modules["0"]._modules["0"]]
n.told = [n.runner, stray]
check(n, unknown=[stray])
hidden = Calls(inside=inner)
hidden.told = [inner]
n.told = [hidden]
check(n, unknown=[inner])

# What is called on its own after it was called in its place keeps its name, as in a pass that computes it again.
n = net()
check(n)
for m in n.layers:
    calls.clear()
    m()
    assert calls[0][1][1].split(" > ")[0] in ("layers.0", "layers.1") and calls[0][1][1].endswith(".conv"), calls[0]
alone = wire(block())
assert [p for _, _, p in paths_of(alone)] == [[".", "conv"], [".", "norm"]]
n = Calls(b=alone)
n.told = [n.b]
check(n)

# Children that change: renamed, moved, deleted, put in later.
n = Calls(a=Leaf(), b=Leaf())
n.told = [lambda: n.a(), lambda: n.b()]
check(n)
n._modules["a"], n._modules["b"] = n._modules["b"], n._modules["a"]
end = time.monotonic() + 10
while [paths[-1] for _, _, paths in paths_of(n)] != ["a", "b"]:         # within a while
    assert time.monotonic() < end
for i in range(200):
    setattr(n, "child%d" % i, Leaf())
for i in range(0, 200, 3):
    del n._modules["child%d" % i]
n.told = list(n._modules.values())
check(n)

# What is no module, no dict, and no name.
class Text(str):
    pass


class Empty:
    __slots__ = ()


class Keys(dict):
    pass


n = Calls(a=Leaf(), gone=None, b=Leaf())
n._modules["gone"] = None
n._modules[7] = Leaf()
n._modules[Text("text")] = Leaf()
n._modules[""] = Leaf()
n._modules["number"] = 12
n._modules["empty"] = Empty()
n._modules["self"] = n
n._modules["t\u00e4st \U0001f600 > x\n"] = Leaf()
n._modules["x" * 3000] = Leaf()
got = {}
n.told = [m for m in n._modules.values() if isinstance(m, Leaf)]
for leaf, _, paths in paths_of(n):
    got[[k for k, m in n._modules.items() if m is leaf][0]] = paths
assert got["a"] == [".", "a"] and got["b"] == [".", "b"] and got[7] == [".", "?"] and got["text"] == [".", "?"] and got[""] == [".", "?"]
assert got["t\u00e4st \U0001f600 > x\n"] == [".", "t\u00e4st \U0001f600 _ x_"] and got["x" * 3000] == [".", "?"]


def last(model):
    return [paths[-1] for _, _, paths in paths_of(model)]


for modules in None, 12, "text", [Leaf()], Empty(), {}, Keys(a=Leaf()), collections.OrderedDict(), type, lambda: 0:
    child = Leaf()
    n = Calls(child=child)
    n.told = [child]
    object.__setattr__(n, "_modules", modules)
    assert last(n) == ["?"], modules
n = Calls(child=child)
n.told = [child]
del n.__dict__["_modules"]
assert last(n) == ["?"]
n.__dict__["_mod" + "ules"[:]] = Keys(kept=child)
child = Leaf()
n.__dict__["_modules"] = Keys(kept=child)
n.told = [child]
assert last(n) == ["kept"]


class Bare(Module):
    __slots__ = ()

    def __init__(self, child):
        self.child = child

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def forward(self, *args):
        self.child()


assert last(Bare(Leaf())) == ["?"]

# A ring, a chain that is longer than any model, and paths that are longer than there is room for.
a, b = Calls(), Calls()
a.b, b.a, a.leaf = b, a, Leaf()
a.told = [a.leaf]
assert last(a) == ["leaf"]
end = chain = Calls()
for i in range(100):
    end.next = Calls()
    end = end.next
end.leaf = Leaf()
chain.told = [end.leaf]
assert last(chain) == ["?"]
end = chain = Calls()
for i in range(40):
    setattr(end, "name" * 50, Calls())
    end.told = list(end._modules.values())
    end = end.told[0]
end.told = [Leaf()]
end.leaf = end.told[0]
leaf, text, paths = paths_of(chain)[0]
assert len(paths) == len(text) and paths[1] == "name" * 50 and paths[-1] == "?", paths

# Ten thousand children, called in order, and last ones first.
n = Calls(layers=ModuleList(*[Leaf() for _ in range(10000)]))
n.told = list(n.layers)
begin = time.process_time()
check(n)
print("10000 children: %.0f ms" % (1e3 * (time.process_time() - begin)))
n.told = n.told[:-100:-1]
check(n)

# Models that are made again where others were: within a while they have their own names.
def another(i):
    model = Calls(**{("a", "b")[i % 2]: Leaf(), ("b", "a")[i % 2]: Leaf()})
    model.told = list(model._modules.values())
    return model


def right(model):
    return [p[-1] for _, _, p in paths_of(model)] == list(model._modules)


kept.clear()
for i in range(3):
    again = another(i)
    end = time.monotonic() + 10
    while not right(again):
        assert time.monotonic() < end
    del again
    kept.clear()
    calls.clear()

# Memory that is no instance and no dict.
assert lib.pywalk_garbage_dicts(17, 30, ctypes.c_void_p(id(dict))) > 0
check(net())
