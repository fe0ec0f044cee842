"""Metrics of a module are kept in a plain dict, and their states stay on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps them in a ModuleDict and prints "fixed: ok".
``Accuracy`` is torchmetrics' in small: a module whose state is buffers.
"""

import sys

import torch
from torch import nn


class Accuracy(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.register_buffer("correct", torch.zeros(num_classes))
        self.register_buffer("total", torch.zeros(num_classes))

    def forward(self, preds, target):
        num_classes = len(self.total)
        hits = target[preds == target]
        self.correct += nn.functional.one_hot(hits, num_classes).sum(dim=0)
        self.total += nn.functional.one_hot(target, num_classes).sum(dim=0)
        return (self.correct / self.total.clamp(min=1)).mean()


class LitClassifier(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.model = nn.Linear(6, 3)
        metrics = {"train_acc": Accuracy(3), "val_acc": Accuracy(3)}
        self.metrics = nn.ModuleDict(metrics) if variant == "fixed" else metrics

    def training_step(self, batch):
        x, y = batch
        logits = self.model(x)
        self.metrics["train_acc"](logits.argmax(dim=1), y)
        return nn.functional.cross_entropy(logits, y)


def fit(module, batches, device):
    """What the Trainer does about devices: it moves the module once and each batch."""
    module.to(device)
    for batch in batches:
        module.training_step([part.to(device) for part in batch]).backward()


def main(variant):
    torch.manual_seed(0)
    batches = [(torch.randn(4, 6), torch.randint(3, (4,))) for _ in range(2)]
    fit(LitClassifier(variant), batches, torch.device("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
