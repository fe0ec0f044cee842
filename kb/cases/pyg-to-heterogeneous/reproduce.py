"""Turning a graph on the GPU into a heterogeneous one numbers its nodes by a range on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the range on the graph's device and prints "fixed: ok".
The numbers are written into a map by an index; index and map are on the GPU, the values are not.
"""

import sys

import torch


class Data:
    def __init__(self, edge_index, node_type):
        self.edge_index = edge_index
        self.node_type = node_type

    def to(self, device):
        return Data(self.edge_index.to(device), self.node_type.to(device))

    def to_heterogeneous(self, variant):
        """For each node type its number of nodes, and the edges in the nodes' new numbers."""
        device = self.node_type.device
        node_ids = {}
        index_map = torch.empty_like(self.node_type)
        for i in range(int(self.node_type.max()) + 1):
            node_ids[i] = (self.node_type == i).nonzero().view(-1)
            if variant == "failing":
                index_map[node_ids[i]] = torch.arange(len(node_ids[i]))
            else:
                index_map[node_ids[i]] = torch.arange(len(node_ids[i]), device=device)
        return {i: len(ids) for i, ids in node_ids.items()}, index_map[self.edge_index]


def main(variant):
    data = Data(torch.tensor([[0, 1, 2], [2, 3, 4]]), torch.tensor([0, 0, 1, 1, 1]))
    data.to_heterogeneous(variant)
    print("on the cpu: ok", file=sys.stderr)
    data.to("cuda:0").to_heterogeneous(variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
