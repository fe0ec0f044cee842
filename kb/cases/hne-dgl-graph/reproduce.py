"""The features are moved to the GPU and the graph that is to hold them is not.

Needs torch and one GPU, no DGL. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the graph and prints "fixed: ok".
``DGLGraph`` has what matters here of DGL's from 0.5 on: a device of its own, and a check that what
is assigned to its nodes is on that device. The text of the error is DGL's.
"""

import sys

import torch
from torch import nn


class DGLError(Exception):
    pass


class DGLGraph:
    def __init__(self, src, dst, num_nodes):
        self.src, self.dst, self.num_nodes = src, dst, num_nodes
        self.frame = {}

    @property
    def device(self):
        return self.src.device

    def to(self, device):
        """A copy on ``device``; the graph itself stays where it is."""
        return DGLGraph(self.src.to(device), self.dst.to(device), self.num_nodes)

    def _set_n_repr(self, data):
        for key, value in data.items():
            if value.device != self.device:
                raise DGLError(
                    f'Cannot assign node feature "{key}" on device {value.device} to a graph on'
                    f" device {self.device}. Call DGLGraph.to() to copy the graph to the same"
                    " device."
                )
        self.frame.update(data)


class RelGraphConv(nn.Module):
    def __init__(self, in_feat, out_feat):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_feat, out_feat))

    def forward(self, g, feat):
        g._set_n_repr({"h": feat})
        message = (g.frame["h"] @ self.weight)[g.src]
        return torch.zeros_like(message[: g.num_nodes]).index_add_(0, g.dst, message)


class RGCN(nn.Module):
    def __init__(self, num_nodes, h_dim):
        super().__init__()
        self.embedding = nn.Embedding(num_nodes, h_dim)
        self.layers = nn.ModuleList([RelGraphConv(h_dim, h_dim)])

    def forward(self, g, h):
        h = self.embedding(h)
        for layer in self.layers:
            h = layer(g, h)
        return h


def main(variant):
    torch.manual_seed(0)
    g = DGLGraph(torch.tensor([0, 1, 2, 3]), torch.tensor([1, 2, 3, 0]), num_nodes=4)
    node_id = torch.arange(4)
    model = RGCN(4, 6).cuda()
    node_id = node_id.cuda()
    if variant == "fixed":
        g = g.to(node_id.device)
    model(g, node_id)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
