"""A plot calls the model that a trainer has moved, with items that nobody moved.

Needs torch and one accelerator. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends the items to the model's device and prints "fixed: ok". On an
Apple GPU torch says that placeholder storage has not been allocated.
"""

import sys

import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.device = torch.accelerator.current_accelerator()
        self.model = model.to(self.device)

    def evaluate(self, dataset):
        batch = torch.stack([item["past_values"] for item in dataset]).to(self.device)
        return self.model(batch).mean()


def plot_preds(trainer, dset, variant):
    random_samples = torch.stack([dset[i]["past_values"] for i in torch.randperm(len(dset))[:3]])
    if variant == "fixed":
        random_samples = random_samples.to(next(trainer.model.parameters()).device)
    with torch.no_grad():
        output = trainer.model(random_samples)
    return output.cpu().numpy()


def zeroshot_eval(variant):
    dset_test = [{"past_values": torch.randn(16)} for _ in range(8)]
    zeroshot_trainer = Trainer(nn.Linear(16, 4))
    zeroshot_trainer.evaluate(dset_test)
    plot_preds(zeroshot_trainer, dset_test, variant)


def main(variant):
    zeroshot_eval(variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
