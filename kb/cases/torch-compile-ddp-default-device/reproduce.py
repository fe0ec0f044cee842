"""Compiled code allocates on the process's default GPU, which a rank of DDP has not set.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sets the rank's GPU first and prints "fixed: ok".
``compile`` generates what Inductor generated then: memory on "cuda", without a number. This is rank 1.
"""

import sys

import torch
from torch import nn

RANK = 1


def compile(function):
    def call(r):
        buffer = torch.empty(r.shape, device="cuda")
        buffer.copy_(function(r))
        return buffer

    return call


@compile
def get_matrix(r):
    return torch.tanh(r) * 2.0


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pose_update_r = nn.Parameter(torch.zeros(4, 3))

    def forward(self, points):
        return points + get_matrix(self.pose_update_r.detach())


def main(variant):
    if variant == "fixed":
        torch.cuda.set_device(RANK)
    model = Model().to(RANK)
    points = torch.randn(4, 3, device=f"cuda:{RANK}")
    print(model(points).device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
