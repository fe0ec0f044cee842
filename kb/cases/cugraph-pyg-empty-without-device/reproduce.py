"""An empty tensor on the cpu is to take over memory on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about storages,
``python reproduce.py fixed`` makes the empty tensor where the other is and prints "fixed: ok".
"""

import sys

import torch


def edge_index_to_tuple(edge_index, variant):
    """Both rows of a contiguous edge index, without copying them."""
    rows = []
    for n in range(2):
        src = edge_index[n]
        device = src.device if variant == "fixed" else None
        out = torch.empty(0, dtype=src.dtype, device=device)
        out.set_(src.untyped_storage(), src.storage_offset(), src.shape, src.stride())
        rows.append(out)
    return tuple(rows)


class GraphStore:
    def __init__(self, variant):
        self.edges = {}
        self.variant = variant

    def put_edge_index(self, edge_index, edge_type):
        if edge_index.is_contiguous():
            self.edges[edge_type] = edge_index_to_tuple(edge_index, self.variant)
        else:
            self.edges[edge_type] = (edge_index[0], edge_index[1])

    def degree(self, edge_type, num_nodes):
        return torch.bincount(self.edges[edge_type][1], minlength=num_nodes)


def main(variant):
    torch.manual_seed(0)
    store = GraphStore(variant)
    edge_index = torch.randint(5, (2, 12), device="cuda:0")
    store.put_edge_index(edge_index.t().contiguous().t(), "cites")  # not contiguous: fine
    store.put_edge_index(edge_index, "writes")
    print(store.degree("writes", 5))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
