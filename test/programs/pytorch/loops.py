"""Loops over 10 batches, exit status 4.  argv[1]: train, accumulate, two (optimizers per batch), infer, plain (no loader); [2]: workers."""
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(mode, workers):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, other = torch.nn.Linear(16, 1), torch.nn.Linear(16, 1)
    optimizer, second = torch.optim.AdamW(net.parameters()), torch.optim.SGD(other.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(80, 16), torch.randn(80, 1))
    loader = DataLoader(data, batch_size=8, num_workers=workers) if mode != "plain" else [(data[:8])] * 10
    loss = torch.zeros(1)
    for i, (x, y) in enumerate(loader):
        if mode == "infer":
            with torch.no_grad():
                loss = net(x).sum()
            continue
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        if mode == "accumulate" and i % 2 == 0:
            continue
        optimizer.step()
        optimizer.zero_grad()
        if mode == "two":
            ((other(x) - y) ** 2).mean().backward()
            second.step()
            second.zero_grad()
    print(f"loss {loss.item():.6f}")
    sys.exit(4)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
