"""Degrees of a graph's nodes come from its structure, which .to(device) left on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the degrees before they are features and prints "fixed: ok".
``DGLGraph`` is that of DGL 0.4 in small: .to() moves node and edge data only.
"""

import sys

import torch
from torch import nn


class DGLGraph:
    def __init__(self, src, dst, num_nodes):
        self.src, self.dst, self.num_nodes = src, dst, num_nodes
        self.ndata = {}

    def to(self, device):
        self.ndata = {name: value.to(device) for name, value in self.ndata.items()}
        return self

    def in_degrees(self):
        return torch.bincount(self.dst, minlength=self.num_nodes)


class Classifier(nn.Module):
    def __init__(self, in_dim, hidden_dim, n_classes):
        super().__init__()
        self.linear = nn.Linear(in_dim, hidden_dim)
        self.classify = nn.Linear(hidden_dim, n_classes)

    def forward(self, h):
        return self.classify(torch.relu(self.linear(h)).mean(dim=0))


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = Classifier(1, 8, 3).to(device)
    g = DGLGraph(torch.tensor([0, 1, 2, 3]), torch.tensor([1, 2, 3, 0]), num_nodes=4)
    g.ndata["weight"] = torch.rand(4)
    g = g.to(device)
    # The tutorial takes the in-degree for the first feature of a node.
    h = g.in_degrees().view(-1, 1).float()
    if variant == "fixed":
        h = h.to(device)
    model(h * g.ndata["weight"].mean()).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
