"""Layers that are registered one by one, but reached through a plain list, are the first GPU's.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has them in a ModuleList and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def spatial_average(in_tens):
    return in_tens.mean([2, 3], keepdim=True)


class NetLinLayer(nn.Module):
    def __init__(self, chn_in):
        super().__init__()
        self.model = nn.Sequential(nn.Dropout(), nn.Conv2d(chn_in, 1, 1, bias=False))


class PNetLin(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.net = nn.ModuleList([nn.Conv2d(3, 4, 1), nn.Conv2d(4, 5, 1)])
        self.lin0 = NetLinLayer(4)
        self.lin1 = NetLinLayer(5)
        self.lins = [self.lin0, self.lin1]
        if variant == "fixed":
            self.lins = nn.ModuleList(self.lins)

    def forward(self, in0, in1):
        diffs = []
        for layer in self.net:
            in0, in1 = layer(in0), layer(in1)
            diffs.append((in0 - in1) ** 2)
        res = [spatial_average(self.lins[kk].model(diffs[kk])) for kk in range(len(diffs))]
        return torch.stack(res).sum(0)


def main(variant):
    torch.manual_seed(0)
    net = nn.DataParallel(PNetLin(variant).cuda(), device_ids=[0, 1])
    distance = net(torch.randn(4, 3, 8, 8).cuda(), torch.randn(4, 3, 8, 8).cuda())
    assert distance.shape == (4, 1, 1, 1)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
