"""Targets that a training step makes for itself are on the cpu, the logits on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes them on the batch's device and prints "fixed: ok".
The Trainer moves the batch; it cannot know of a tensor that comes into being afterwards.
"""

import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy


class PairMatcher(nn.Module):
    """Row i of the left side belongs to row i of the right one: the target is the row's number."""

    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.encoder = nn.Linear(6, 4)

    def training_step(self, batch):
        left, right = self.encoder(batch["left"]), self.encoder(batch["right"])
        similarity = left @ right.mT
        device = None if self.variant == "failing" else similarity.device
        return cross_entropy(similarity, torch.arange(len(left), device=device))


class Trainer:
    def fit(self, model, loader, device):
        model.to(device)
        for batch in loader:
            batch = {name: tensor.to(device) for name, tensor in batch.items()}
            model.training_step(batch).backward()


def main(variant):
    torch.manual_seed(0)
    loader = [{"left": torch.rand(3, 6), "right": torch.rand(3, 6)}]
    Trainer().fit(PairMatcher(variant), loader, torch.device("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
