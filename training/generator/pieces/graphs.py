"""Layers of torch_geometric, as the library lists them: convolutions, aggregations, pooling."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from ..model import Field, Piece

_NODES = (
    Field("x", "torch.randn($n, 8)"),
    Field("edge_index", "torch.randint(6, (2, 20))"),
)
_ARGUMENTS = ("8, 16", "8, 16, heads=2", "8, 16, K=2", "8, 16, dim=2, kernel_size=3", "8", "16")


def pieces(rng: Random) -> Iterator[Piece]:
    """Two layers of each convolution, one after the other; what does not run so is dropped when probed."""
    try:
        from torch_geometric import nn as layers
        from torch_geometric.nn import conv, models
    except ImportError:
        return
    names = [(name, "conv") for name in conv.__all__ if name != "MessagePassing"]
    names += [
        (name, "model")
        for name in ("GCN", "GIN", "GAT", "GraphSAGE", "PNA", "EdgeCNN")
        if hasattr(models, name)
    ]
    made = [(name, kind, given) for name, kind in names for given in _ARGUMENTS]
    made = [one for one in made if hasattr(layers, one[0])]
    rng.shuffle(made)
    used: set[str] = set()
    for name, kind, given in made:
        if name in used and rng.random() < 0.5:
            continue
        used.add(name)
        if kind == "model":
            given = "8, 16, num_layers=2"
        yield Piece(
            "torch_geometric",
            name.lower(),
            name,
            (f"from torch_geometric.nn import {name}",),
            f"{name}({given})",
            _NODES,
            "$body(x, edge_index)",
            whole=True,
        )
