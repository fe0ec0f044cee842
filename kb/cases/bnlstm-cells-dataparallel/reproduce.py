"""The cells of a recurrent network are registered, but forward takes them from a plain list of its own.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes them from the module and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class Cell(nn.Module):
    """A plain recurrent cell; the gates of an LSTM are left out."""

    def __init__(self, features, width):
        super().__init__()
        self.weight_xh = nn.Parameter(torch.randn(features, width))
        self.weight_hh = nn.Parameter(torch.randn(width, width))

    def forward(self, step, state):
        return torch.tanh(torch.mm(state, self.weight_hh) + torch.mm(step, self.weight_xh))


class Recurrent(nn.Module):
    def __init__(self, features, width, variant):
        super().__init__()
        self.width = width
        self.variant = variant
        self.cell_0 = Cell(features, width)
        self.cells = [self.cell_0]

    def forward(self, sequence):
        # cell_0 of a replica is its own; what the list holds are the first module's cells.
        cell = self.cells[0] if self.variant == "failing" else self.cell_0
        state = sequence.new_zeros(len(sequence), self.width)
        for step in sequence.unbind(1):
            state = cell(step, state)
        return state


def main(variant):
    torch.manual_seed(0)
    model = nn.DataParallel(Recurrent(3, 5, variant), device_ids=[0, 1]).cuda()
    model(torch.randn(4, 2, 3).cuda())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
