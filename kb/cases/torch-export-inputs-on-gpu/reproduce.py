"""A module on the cpu is exported with an example input on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the fake tensors' error (in the
words of the installed torch), ``python reproduce.py fixed`` moves the module first and prints
"fixed: ok".
"""

import sys

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.score = nn.Linear(width, classes)

    def forward(self, features):
        return self.score(self.norm(features)).softmax(-1)


def export_for(features, variant):
    scorer = Scorer(features.shape[-1], classes=3).eval().requires_grad_(False)
    if variant == "fixed":
        scorer.to(features.device)
    return torch.export.export(scorer, (features,))


def main(variant):
    program = export_for(torch.rand(2, 6, device="cuda"), variant)
    assert program.module()(torch.rand(2, 6, device="cuda")).shape == (2, 3)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
