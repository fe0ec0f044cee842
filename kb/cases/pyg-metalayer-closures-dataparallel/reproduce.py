"""Functions made in the constructor lead DataParallel's replicas to the first model's layers.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the functions modules of their own and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class MetaLayer(nn.Module):
    def __init__(self, edge_model, node_model):
        super().__init__()
        self.edge_model = edge_model
        self.node_model = node_model

    def forward(self, x, edge_attr):
        edge_attr = self.edge_model(x, edge_attr)
        return self.node_model(x, edge_attr), edge_attr


class EdgeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.edge_mlp = nn.Linear(6, 4)

    def forward(self, x, edge_attr):
        return self.edge_mlp(torch.cat([x, edge_attr], dim=1))


class NodeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.node_mlp = nn.Linear(7, 3)

    def forward(self, x, edge_attr):
        return self.node_mlp(torch.cat([x, edge_attr], dim=1))


class Net(nn.Module):
    def __init__(self, variant):
        super().__init__()
        if variant == "fixed":
            self.op = MetaLayer(EdgeModel(), NodeModel())
            return
        self.edge_mlp, self.node_mlp = nn.Linear(6, 4), nn.Linear(7, 3)

        def edge_model(x, edge_attr):
            return self.edge_mlp(torch.cat([x, edge_attr], dim=1))

        def node_model(x, edge_attr):
            return self.node_mlp(torch.cat([x, edge_attr], dim=1))

        self.op = MetaLayer(edge_model, node_model)

    def forward(self, x, edge_attr):
        return self.op(x, edge_attr)[0]


def main(variant):
    torch.manual_seed(0)
    model = nn.DataParallel(Net(variant).to("cuda:0"), device_ids=[0, 1])
    x, edge_attr = torch.randn(8, 3, device="cuda:0"), torch.randn(8, 3, device="cuda:0")
    model(x, edge_attr).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
