"""Zeros from .cuda() are on the current GPU, while the network is on the one of the settings.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the zeros beside the old weight and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class FOSTERNet(nn.Module):
    def __init__(self, feature_dim, old_classes, new_task_size, variant):
        super().__init__()
        self.feature_dim = feature_dim
        self.out_dim = feature_dim // 2
        self.new_task_size = new_task_size
        self.variant = variant
        self.old_fc = nn.Linear(self.out_dim, old_classes)

    def forward(self, x):
        shape = (self.old_fc.out_features, self.feature_dim - self.out_dim)
        if self.variant == "failing":
            fc_weight = torch.cat([self.old_fc.weight, torch.zeros(shape).cuda()], dim=1)
        else:
            zeros = self.old_fc.weight.new_zeros(shape)
            fc_weight = torch.cat([self.old_fc.weight, zeros], dim=1)
        return x @ fc_weight.T


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:1")
    network = FOSTERNet(8, old_classes=5, new_task_size=2, variant=variant).to(device)
    logits = network(torch.randn(3, 8, device=device))
    assert logits.shape == (3, 5)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
