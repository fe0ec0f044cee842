# What follows an `if` that returns does not see what it moved.
import sys

import torch
from torch import nn


def rate(scorer, quick):
    if quick:
        scorer.cuda()
        return scorer(torch.rand(4, 3, device="cuda"))
    return scorer(torch.rand(4, 3))


def main(quick):
    print(rate(nn.Linear(3, 1), quick))


main(len(sys.argv) > 1)
