"""A representation that is asked for all entities makes the indices itself, on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the indices to the module's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class SubsetRepresentation(nn.Module):
    """The first max_id rows of another representation."""

    def __init__(self, max_id, base, variant):
        super().__init__()
        self.max_id = max_id
        self.base = base
        self.variant = variant

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, indices=None):
        if indices is None:
            indices = torch.arange(self.max_id)
            if self.variant == "fixed":
                indices = indices.to(self.device)
        return self.base(indices)


class InductiveNodePieceGNN(nn.Module):
    def __init__(self, num_relations, dim, variant):
        super().__init__()
        # Relations and their inverses are one table; the decoder needs the first half.
        both_directions = nn.Embedding(2 * num_relations, dim)
        self.relations = SubsetRepresentation(num_relations, both_directions, variant)
        self.edge_update = nn.Linear(dim, dim)

    def forward(self, x, relation_ids):
        messages = self.edge_update(self.relations())
        return x * messages[relation_ids]


def main(variant):
    device = torch.device("cuda:0")
    model = InductiveNodePieceGNN(num_relations=5, dim=8, variant=variant).to(device)
    x = torch.randn(12, 8, device=device)
    model(x, torch.randint(5, (12,), device=device))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
