"""Zeros from .cuda() are on the current GPU, while the network is on the one of the settings.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the zeros beside the old weight and prints "fixed: ok".
With each task the classifier of the old classes gets rows of zeros for the new ones.
"""

import sys

import torch
from torch import nn


class IncrementalNet(nn.Module):
    def __init__(self, features, old_classes, new_classes, variant):
        super().__init__()
        self.features = features
        self.new_classes = new_classes
        self.variant = variant
        self.old_fc = nn.Linear(features, old_classes, bias=False)

    def rows_for_new_classes(self):
        shape = (self.new_classes, self.features)
        if self.variant == "failing":
            return torch.zeros(shape).cuda()
        return self.old_fc.weight.new_zeros(shape)

    def forward(self, x):
        weight = torch.cat([self.old_fc.weight, self.rows_for_new_classes()])
        return x @ weight.T


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:1")
    network = IncrementalNet(6, old_classes=5, new_classes=2, variant=variant).to(device)
    logits = network(torch.randn(3, 6, device=device))
    assert logits.shape == (3, 7)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
