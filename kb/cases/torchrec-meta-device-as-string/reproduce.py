"""A collection is told its device as the string "meta" and is not known as one without memory.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about meta,
``python reproduce.py fixed`` hands in a torch.device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class EmbeddingCollection(nn.Module):
    def __init__(self, tables, device):
        super().__init__()
        self._device = device
        self.embeddings = nn.ModuleDict(
            {name: nn.Embedding(rows, dim, device=device) for name, rows, dim in tables}
        )

    @property
    def device(self):
        return self._device


def shard(collection, device):
    """Places the tables of this rank."""
    if collection.device == torch.device("meta"):
        collection.to_empty(device=device)
        for table in collection.embeddings.values():
            nn.init.normal_(table.weight)
        return collection
    return collection.to(device)


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
