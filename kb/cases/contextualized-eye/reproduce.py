"""A penalty on a network's output mixes it with an identity matrix made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the identity where the matrix is and prints "fixed: ok".
The acyclicity term of a graph learner: the diagonal of its adjacency matrix is masked out.
"""

import sys

import torch
from torch import nn


def dag_loss(w, variant):
    """NOTEARS' h(w), zero for the adjacency matrix of a graph without cycles."""
    device = None if variant == "failing" else w.device
    w = w * (1 - torch.eye(w.shape[-1], device=device))
    return torch.matrix_exp(w * w).diagonal(dim1=-2, dim2=-1).sum(-1) - w.shape[-1]


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
    w = encoder(torch.rand(2, 3, device=device))
    dag_loss(w, variant).mean().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
