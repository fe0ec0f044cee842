"""A collection is told its device as the string "meta", and its empty weights are copied.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about meta,
``python reproduce.py fixed`` hands in a torch.device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class EmbeddingCollection(nn.Module):
    def __init__(self, tables, device):
        super().__init__()
        self._tables, self._device = tables, device
        self.embeddings = nn.ModuleDict(
            {name: nn.Embedding(rows, dim, device=device) for name, rows, dim in tables}
        )

    @property
    def device(self):
        return self._device


def shard(collection, device):
    """Makes the tables of this rank, with the weights of the collection where it has any."""
    sharded = EmbeddingCollection(collection._tables, device)
    if collection.device != torch.device("meta"):
        with torch.no_grad():
            for name, table in sharded.embeddings.items():
                table.weight.copy_(collection.embeddings[name].weight)
    return sharded


def main(variant):
    torch.manual_seed(0)
    ec = EmbeddingCollection(
        tables=[("t1", 10, 4)],
        device=torch.device("meta") if variant == "fixed" else "meta",
    )
    sharded = shard(ec, torch.device("cuda:0"))
    print(sharded.embeddings["t1"](torch.tensor([1, 2], device="cuda:0")).shape)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
