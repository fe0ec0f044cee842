# A layer is where the weights are that it is given.
import torch
from torch import nn


class Stepwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 4)

    def cell(self):
        cell = nn.GRUCell(4, 4)
        cell.weight_hh.data = self.gru.weight_hh_l0.data
        cell.weight_ih.data = self.gru.weight_ih_l0.data
        cell.bias_hh.data = self.gru.bias_hh_l0.data
        cell.bias_ih.data = self.gru.bias_ih_l0.data
        return cell

    def forward(self, x):
        cell = self.cell()
        state = torch.zeros(2, 4, device=x.device)
        for step in x:
            state = cell(step, state)
        return state


print(Stepwise().cuda()(torch.rand(3, 2, 4).cuda()).shape)
