"""torch_lightning.py CLOCKS.json STEPS: a loop of Lightning's Trainer, which calls step(closure), timed by clocks of its own as torch_loops.py has them."""
import json
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
import pytorch_lightning
import torch

from torch_loops import Clock, Points, mlp, now


class Timed(torch.utils.data.DataLoader):
    clock = None

    def __iter__(self):
        batches = super().__iter__()
        while True:
            try:
                with self.clock("data"):
                    batch = next(batches)
            except StopIteration:
                return
            yield batch


class Module(pytorch_lightning.LightningModule):
    def __init__(self, clock):
        super().__init__()
        self.model, self.clock, self.inside = mlp(), clock, 0

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)

    def training_step(self, batch, index):
        with self.clock("forward"):
            return torch.nn.functional.cross_entropy(self.model(batch[0]), batch[1])

    def backward(self, loss):
        with self.clock("backward"):
            loss.backward()

    def optimizer_zero_grad(self, epoch, index, optimizer):
        with self.clock("zero_grad"):
            optimizer.zero_grad()

    def optimizer_step(self, epoch, index, optimizer, closure):
        inside = 0

        def timed():
            nonlocal inside
            begin = now()
            result = closure()
            inside += now() - begin
            return result

        begin = now()
        optimizer.step(closure=timed)
        self.clock.row["optimizer"] += now() - begin - inside
        self.clock.end("lightning")


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    steps, Timed.clock = int(sys.argv[2]), Clock()
    trainer = pytorch_lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
                                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Module(Timed.clock), Timed(Points(128 * steps, (256,)), batch_size=128))
    with open(sys.argv[1], "w") as out:
        json.dump(Timed.clock.rows, out)


main()
