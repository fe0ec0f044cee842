import sys

import torch
from torch import nn


class Ramp(nn.Module):
    def forward(self, x):
        steps = torch.linspace(0, 1, x.shape[1])  # finds: created-without-device
        return x * steps


def run(device="cuda", width="6"):
    net = nn.Sequential(nn.Linear(int(width), 6), Ramp()).to(device)
    print(net(torch.rand(2, int(width), device=device)).sum().item())


if __name__ == "__main__":
    run(*sys.argv[1:])
