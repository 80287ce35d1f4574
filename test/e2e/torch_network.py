"""A small network that is trained for some steps: torch_network.py [PROFILE.json]; with the file under torch.profiler."""
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.act, self.b = nn.Linear(n, n), nn.ReLU(), nn.Linear(n, n)

    def forward(self, x):
        return x + self.b(self.act(self.a(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(16, 64)
        self.blocks = nn.Sequential(*[Block(64) for _ in range(3)])
        self.out = nn.Linear(64, 4)

    def forward(self, x):
        x = torch.tanh(self.inp(x))
        return self.out(self.blocks(x))


def main(steps=5):
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=.1)
    for _ in range(steps):
        x, y = torch.randn(32, 16), torch.randn(32, 4)
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()


if len(sys.argv) > 1:
    with profile(activities=[ProfilerActivity.CPU], with_stack=True) as p:
        main()
    p.export_chrome_trace(sys.argv[1])
else:
    main()
