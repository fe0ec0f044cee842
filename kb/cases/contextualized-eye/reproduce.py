"""A penalty on a network's graph takes the squared weights from an identity made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the identity where the matrix is and prints "fixed: ok".
The penalty is DAGMA's, a log determinant that is zero for a graph without cycles.
"""

import math
import sys

import torch
from torch import nn


def network_penalty(w, variant, s=1.0):
    size = w.shape[-1]
    device = None if variant == "failing" else w.device
    distance = s * torch.eye(size, device=device) - w * w
    return size * math.log(s) - torch.slogdet(distance)[1]


def penalty(networks, variant):
    return torch.stack([network_penalty(w, variant) for w in networks]).mean()


class Encoder(nn.Module):
    def __init__(self, num_vars):
        super().__init__()
        self.num_vars = num_vars
        self.net = nn.Linear(3, num_vars * num_vars)

    def forward(self, context):
        return self.net(context).view(-1, self.num_vars, self.num_vars)


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    encoder = Encoder(num_vars=4).to(device)
    networks = encoder(torch.rand(2, 3, device=device))
    penalty(networks, variant).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
