"""The cells of an LSTM are registered, but forward takes them from a plain list of its own.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes them from the module and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(input_size, 4 * hidden_size))
        self.weight_hh = nn.Parameter(torch.randn(hidden_size, 4 * hidden_size))

    def forward(self, input_, hx):
        h_0, c_0 = hx
        wh = torch.mm(h_0, self.weight_hh)
        wi = torch.mm(input_, self.weight_ih)
        f, i, o, g = (wh + wi).chunk(4, dim=1)
        c_1 = f.sigmoid() * c_0 + i.sigmoid() * g.tanh()
        return o.sigmoid() * c_1.tanh(), c_1


class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, variant):
        super().__init__()
        self.hidden_size = hidden_size
        self.variant = variant
        cell = LSTMCell(input_size, hidden_size)
        self.add_module("cell_0", cell)
        self.cells = [cell]

    def forward(self, input_):
        # cell_0 of a replica is its own; what the list holds are the first module's cells.
        cell = self.cells[0] if self.variant == "failing" else self.cell_0
        hx = (input_.new_zeros(input_.shape[0], self.hidden_size),) * 2
        for step in input_.unbind(1):
            hx = cell(step, hx)
        return hx[0]


def main(variant):
    torch.manual_seed(0)
    model = nn.DataParallel(LSTM(3, 5, variant), device_ids=[0, 1]).cuda()
    model(torch.randn(4, 2, 3).cuda())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
