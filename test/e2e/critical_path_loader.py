"""critical_path_loader.py WORKERS: a small model that waits for its batches, which take 60 ms each."""
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        time.sleep(0.015)
        return torch.randn(8, 8) @ torch.ones(8, 8)


def main():
    torch.set_num_threads(1)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in DataLoader(Slow(), batch_size=4, num_workers=int(sys.argv[1])):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()


main()
