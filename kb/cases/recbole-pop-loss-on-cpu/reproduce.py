"""A model without a loss returns a zero on the cpu, which is summed with the GPU's.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the zero on the model's device and prints "fixed: ok".
The collective of RecBole's trainer is left out; its sum on the GPU is what the loss meets.
"""

import sys

import torch
from torch import nn


class Pop(nn.Module):
    """Recommends what was bought most often; there is nothing to learn."""

    def __init__(self, n_items, device, variant):
        super().__init__()
        self.device, self.variant = device, variant
        self.register_buffer("bought", torch.zeros(n_items))
        self.placeholder = nn.Parameter(torch.zeros(1))

    def calculate_loss(self, items):
        self.bought += torch.bincount(items, minlength=len(self.bought))
        zero = nn.Parameter(torch.zeros(1))
        return zero.to(self.device) if self.variant == "fixed" else zero


class Trainer:
    def __init__(self, model, device, distributed):
        self.model, self.device = model.to(device), device
        self.distributed = distributed

    def tied_to_all_parameters(self):
        """Zero, but with a gradient for every parameter: DDP waits for each of them."""
        return sum(0 * parameter.sum() for parameter in self.model.parameters())

    def _train_epoch(self, batches):
        for items in batches:
            loss = self.model.calculate_loss(items.to(self.device))
            if self.distributed:
                loss = loss + self.tied_to_all_parameters().reshape(1)
            loss.backward()


def main(variant):
    device = torch.device("cuda:0")
    batches = [torch.tensor([1, 2]), torch.tensor([2, 5])]
    for distributed in (False, True):
        model = Pop(n_items=6, device=device, variant=variant)
        Trainer(model, device, distributed)._train_epoch(batches)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
