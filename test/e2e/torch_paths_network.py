"""
Networks of all shapes; around each call of a module that has operators of its own stands a range with its names in named_modules():
"names a b.c", or "names ?" where it hangs nowhere.
"""
import collections
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

names = {}


def enter(module, args):
    module.scope = torch.profiler.record_function("names " + " ".join(sorted(names.get(id(module), ["?"]))))
    module.scope.__enter__()


def leave(module, args, result):
    module.scope.__exit__(None, None, None)


def run(model, *inputs, unknown=()):
    names.clear()
    for name, module in model.named_modules(remove_duplicate=False):
        names.setdefault(id(module), []).append(name or ".")
    hooks = []
    for module in list(model.modules()) + list(unknown):
        hooks += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
    for _ in range(2):
        model(*inputs).sum().backward()
    for hook in hooks:
        hook.remove()


class Bottleneck(nn.Module):
    def __init__(self, n, narrow):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(n, narrow, 1, bias=False), nn.BatchNorm2d(narrow)
        self.conv2, self.bn2 = nn.Conv2d(narrow, narrow, 3, padding=1, bias=False), nn.BatchNorm2d(narrow)
        self.conv3, self.bn3 = nn.Conv2d(narrow, n, 1, bias=False), nn.BatchNorm2d(n)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        return self.relu(self.bn3(self.conv3(y)) + x)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.relu, self.pool = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1)
        self.layer1 = nn.Sequential(*[Bottleneck(8, 4) for _ in range(3)])
        self.layer2 = nn.Sequential(collections.OrderedDict(first=Bottleneck(8, 2), second=Bottleneck(8, 2)))
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        return self.fc(self.pool(self.layer2(self.layer1(x))).flatten(1))


class Layer(nn.Module):
    def __init__(self, n, shared):
        super().__init__()
        self.attn, self.norm, self.shared = nn.MultiheadAttention(n, 2, batch_first=True), nn.LayerNorm(n), shared
        self.experts = nn.ModuleList([nn.ModuleDict({"up": nn.Linear(n, n), "down": nn.Linear(n, n)}) for _ in range(2)])
        for i in range(40):
            setattr(self, "option%d" % i, i)

    def forward(self, x):
        x = self.norm(x + self.attn(x, x, x)[0])
        return self.shared(x + sum(e["down"](e["up"](x)) for e in self.experts))


class Transformer(nn.Module):
    def __init__(self, n=8):
        super().__init__()
        self.embed, act = nn.Embedding(10, n), nn.GELU()
        self.layers = nn.ModuleList([Layer(n, act) for _ in range(3)])
        self.heads = nn.ModuleDict({"a": nn.Linear(n, 2), "b": nn.Sequential(nn.Linear(n, 2), nn.Tanh())})
        self.hidden = [nn.Linear(n, n)]
        self.wide = nn.ModuleList([nn.Linear(1, 1) for _ in range(30)])
        vars(self)

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers[:2]:
            x = layer(x)
        x = checkpoint(self.layers[2], x, use_reentrant=False)
        x = self.hidden[0](x)
        y = x.sum().reshape(1)
        for w in self.wide:
            y = w(y)
        return self.heads["a"](x) + self.heads["b"](x) + y


class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *args):
        return self.module(*args)


def main():
    torch.manual_seed(0)
    run(ResNet(), torch.randn(2, 3, 8, 8))
    transformer = Transformer()
    run(transformer, torch.tensor([[1, 2, 3]]), unknown=transformer.hidden)
    run(nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)), torch.randn(2, 4))
    run(Wrapper(ResNet()), torch.randn(2, 3, 8, 8))
    run(nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Dropout(.1), nn.ReLU())), torch.randn(2, 4))
    if "ddp" in sys.argv:
        torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=0, world_size=1)
        run(nn.parallel.DistributedDataParallel(ResNet()), torch.randn(2, 3, 8, 8))


main()
