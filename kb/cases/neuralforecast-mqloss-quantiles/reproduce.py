"""A quantile loss keeps its quantiles in a plain object, which no trainer moves.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the loss a module with a parameter and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def pinball(levels, y, y_hat):
    """Weighs what lies below a quantile by its level, what lies above by the rest."""
    above = (y_hat - y.unsqueeze(-1)).relu()
    below = (y.unsqueeze(-1) - y_hat).relu()
    return (levels * below + (1 - levels) * above).mean()


class MQLoss:
    def __init__(self, quantiles):
        self.quantiles = torch.Tensor(quantiles)

    def __call__(self, y, y_hat):
        return pinball(self.quantiles, y, y_hat)


class MQLossModule(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.quantiles = nn.Parameter(torch.Tensor(quantiles), requires_grad=False)

    def forward(self, y, y_hat):
        return pinball(self.quantiles, y, y_hat)


class NHITS(nn.Module):
    def __init__(self, input_size, h, loss):
        super().__init__()
        self.h = h
        self.loss = loss
        self.mlp = nn.Linear(input_size, h * len(loss.quantiles))

    def training_step(self, batch):
        insample, y = batch
        y_hat = self.mlp(insample).view(len(y), self.h, -1)
        return self.loss(y, y_hat)


def main(variant):
    torch.manual_seed(1)
    quantiles = [0.1, 0.5, 0.9]
    loss = MQLossModule(quantiles) if variant == "fixed" else MQLoss(quantiles)
    model = NHITS(input_size=24, h=12, loss=loss)
    device = torch.device("cuda:0")
    model.to(device)
    batch = [torch.randn(4, 24), torch.randn(4, 12)]
    model.training_step([part.to(device) for part in batch]).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
