"""torch_net.py [FOLDER]: trains a small net of convolutions, products and attention for three steps.  FOLDER: under torch.profiler, which leaves there
its trace (run.pt.trace.json), its table of operators (table) and what torch.utils.flop_counter says (flops)."""
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.grouped = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.nn.Conv2d(8, 8, 3, groups=2)
        self.up = torch.nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.narrow, self.out = torch.nn.Linear(4 * 12 * 12, 16), torch.nn.Linear(16, 10)
        self.attention = torch.nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        x = self.up(torch.relu(self.grouped(torch.relu(self.first(x)))))[:, :, :12, :12]
        with torch.profiler.record_function("narrow"):
            x = self.narrow(x.flatten(1)).reshape(x.shape[0], 1, 16).expand(-1, 4, -1).contiguous()
        x, _ = self.attention(x, x, x, need_weights=False)
        return self.out(x.mean(1))


def train():
    torch.manual_seed(0)
    net = Net()
    batches = DataLoader(TensorDataset(torch.randn(24, 3, 32, 32), torch.randint(0, 10, (24,))), batch_size=8)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for x, y in batches:
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        opt.step()


def main():
    torch.set_num_threads(1)
    if len(sys.argv) < 2:
        return train()
    with torch.profiler.profile(record_shapes=True) as profile:
        train()
    profile.export_chrome_trace(sys.argv[1] + "/run.pt.trace.json")
    with open(sys.argv[1] + "/table", "w") as out:
        for row in profile.key_averages():
            print(row.key, row.count, sep="\t", file=out)
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        train()
    with open(sys.argv[1] + "/flops", "w") as out:
        for name, flops in counter.get_flop_counts()["Global"].items():
            print(str(name).replace("aten.", "aten::"), flops, sep="\t", file=out)


main()
