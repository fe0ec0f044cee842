"""Stacks of copies of a layer are where that was made, in a plain list too."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.layers = [nn.TransformerEncoderLayer(8, 2, device=device) for _ in range(3)]
        self.encoder = [nn.TransformerEncoder(self.layers[i], num_layers=1) for i in range(3)]
        self.last = nn.Linear(8, 2)

    def forward(self, x):
        return self.last(self.encoder[0](x))


net = Net("cuda").cuda()
net(torch.ones(2, 3, 8).cuda())
