"""torch_orders.py KIND...: loops in the orders of calls that real programs have, which write down the ends of their own steps.

Several kinds run one after another, each in a process that is forked after `import torch`.  What follows a comma is for torch_orders_check.py.
Each writes KIND.ends: {"pid": its process, "ends": [begin, end, end, ...]} in nanoseconds: a training step ends with the (last) optimizer step of it; in
inference a step ends where the next batch is asked for.  Kinds: plain, epochs, ahead (fetches all batches of a step at once, as Hugging Face's Trainer does), sanity (validation first, and between epochs, as
Lightning has it), evaluation (a long one first), gan (two optimizers), inference (two epochs); scopes (record_function around each step), trainer:N
(Hugging Face's Trainer, accumulation N), lightning, accelerate.
"""
import json
import logging
import os
import sys
import time
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

now = time.monotonic_ns
STEPS = 12
ends = []


def mark():
    ends.append(now())


def network():
    linear, relu = torch.nn.Linear, torch.nn.ReLU
    return torch.nn.Sequential(linear(256, 1024), relu(), linear(1024, 1024), relu(), linear(1024, 10))


def loader(batches, size=64, collate=None):
    return DataLoader(TensorDataset(torch.randn(size * batches, 256), torch.randint(0, 10, (size * batches,))), batch_size=size, collate_fn=collate)


def slowly(samples):
    """A batch takes 40 ms: one that does not exist is told from it by its time, also on a busy machine that keeps a thread waiting for some ms."""
    time.sleep(0.04)
    return torch.utils.data.default_collate(samples)


def evaluate(model, batches):
    with torch.no_grad():
        for x, y in batches:
            cross_entropy(model(x), y)


def train(model, batches, opt, accumulate=1):
    for i, (x, y) in enumerate(batches):
        if not ends:
            mark()
        (cross_entropy(model(x), y) / accumulate).backward()
        if (i + 1) % accumulate == 0:
            opt.step()
            mark()
            opt.zero_grad()


def plain(model, opt):
    train(model, loader(STEPS * 2), opt, 2)


def epochs(model, opt):
    for _ in range(3):
        train(model, loader(STEPS // 3), opt)


def ahead(model, opt):
    batches = iter(loader(STEPS * 8))
    for _ in range(STEPS):
        mine = [next(batches) for _ in range(8)]
        if not ends:
            mark()
        for x, y in mine:
            (cross_entropy(model(x), y) / 8).backward()
        opt.step()
        mark()
        opt.zero_grad()


def sanity(model, opt):
    evaluate(model, loader(2))
    for _ in range(3):
        train(model, loader(STEPS // 3), opt)
        evaluate(model, loader(3))


def evaluation(model, opt):
    evaluate(model, loader(9))
    train(model, loader(STEPS), opt)


def gan(model, opt):
    other = network()
    opt_other = torch.optim.SGD(other.parameters(), 0.01)
    for x, y in loader(STEPS):
        if not ends:
            mark()
        cross_entropy(other(x), y).backward()
        opt_other.step()
        cross_entropy(model(x), y).backward()
        opt.step()
        mark()


def inference(model, opt):
    epochs = loader(STEPS // 2, collate=slowly)
    for _ in range(2):
        with torch.no_grad():
            batches = iter(epochs)
            for _ in range(STEPS // 2):
                x, y = next(batches)
                model(x)
                if not ends:
                    mark()
                mark()
            next(batches, None)


def scopes(model, opt):
    batches = iter(loader(STEPS))
    mark()
    for i in range(STEPS):
        with torch.profiler.record_function("my_part %d" % i):
            x, y = next(batches)
            cross_entropy(model(x), y).backward()
            opt.step()
            opt.zero_grad()
        mark()


class Tokens(torch.utils.data.Dataset):
    def __init__(self, n):
        self.x = torch.randint(0, 100, (n, 64))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "labels": self.x[i]}


def trainer(accumulate):
    import transformers

    class Clock(transformers.TrainerCallback):
        def on_train_begin(self, *args, **kwargs):
            mark()

        def on_optimizer_step(self, *args, **kwargs):
            mark()

    config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=128, vocab_size=128, n_positions=64)
    arguments = transformers.TrainingArguments(
        output_dir="trainer", per_device_train_batch_size=2, gradient_accumulation_steps=accumulate, num_train_epochs=1, report_to=[], save_strategy="no",
        use_cpu=True, disable_tqdm=True, logging_strategy="no")
    transformers.Trainer(model=transformers.GPT2LMHeadModel(config), args=arguments, train_dataset=Tokens(2 * accumulate * STEPS), callbacks=[Clock()]).train()


def lightning():
    import lightning as l

    class Module(l.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = network()

        def training_step(self, batch, index):
            return cross_entropy(self.model(batch[0]), batch[1])

        validation_step = training_step

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

        def on_train_start(self):
            mark()

        def optimizer_step(self, *args, **kwargs):
            super().optimizer_step(*args, **kwargs)
            mark()

    l.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
              enable_model_summary=False).fit(Module(), loader(STEPS // 3), loader(3))


def accelerated():
    import accelerate

    accelerator = accelerate.Accelerator(gradient_accumulation_steps=2, cpu=True)
    model = network()
    model, opt, batches = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), loader(STEPS * 2))
    mark()
    for x, y in batches:
        with accelerator.accumulate(model):
            accelerator.backward(cross_entropy(model(x), y))
            opt.step()
            if accelerator.sync_gradients:
                mark()
            opt.zero_grad()


def run(kind):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if kind.startswith("trainer:"):
        trainer(int(kind[8:]))
    elif kind == "lightning":
        lightning()
    elif kind == "accelerate":
        accelerated()
    else:
        model = network()
        globals()[kind](model, torch.optim.AdamW(model.parameters()))
    with open(kind + ".ends", "w") as out:
        json.dump({"pid": os.getpid(), "ends": ends}, out)


def once(kinds):
    """Imports what each process would import when it begins, which takes longer than its loop."""
    import torch._dynamo  # the first optimizer does
    if any(kind.startswith("trainer:") for kind in kinds):
        import transformers
        assert transformers.Trainer and transformers.TrainingArguments and transformers.GPT2LMHeadModel
    if "lightning" in kinds:
        import lightning
        assert lightning.Trainer


def main():
    kinds = [argument.split(",")[0] for argument in sys.argv[1:]]
    if len(kinds) == 1:
        return run(kinds[0])
    once(kinds)
    for kind in kinds:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run(kind)
                status = 0
            finally:
                os._exit(status)  # as workers of a loader end: the end of an interpreter with PyTorch takes longer than the loop
        if os.waitpid(child, 0)[1] != 0:
            sys.exit("%s failed" % kind)


main()
