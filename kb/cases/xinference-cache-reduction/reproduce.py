"""Rows of a cache are picked, layer by layer, with an index on the first layer's GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps the index on the cpu and prints "fixed: ok".
"""

import sys

import torch


class DynamicCache:
    def __init__(self, devices, batch, length):
        shape = batch, 2, length, 4
        self.layers = [
            [torch.randn(shape, device=device), torch.randn(shape, device=device)]
            for device in devices
        ]

    def batch_select_indices(self, indices):
        for layer in self.layers:
            layer[0], layer[1] = layer[0][indices, ...], layer[1][indices, ...]


class Request:
    def __init__(self, name, tokens_left):
        self.name, self.tokens_left = name, tokens_left


class BatchScheduler:
    def __init__(self, requests, cache, variant):
        self.requests, self.cache, self.variant = requests, cache, variant

    def step(self):
        for request in self.requests:
            request.tokens_left -= 1
        alive = [row for row, r in enumerate(self.requests) if r.tokens_left > 0]
        if len(alive) < len(self.requests):
            self._reduce(alive)

    def _reduce(self, alive):
        device = "cpu" if self.variant == "fixed" else self.cache.layers[0][0].device
        self.cache.batch_select_indices(torch.tensor(alive, device=device))
        self.requests = [self.requests[row] for row in alive]


def main(variant):
    torch.manual_seed(0)
    cache = DynamicCache(["cuda:0", "cuda:0", "cuda:1"], batch=3, length=6)
    requests = [Request("a", 4), Request("b", 1), Request("c", 3)]
    scheduler = BatchScheduler(requests, cache, variant)
    scheduler.step()
    print("left in the batch:", ", ".join(r.name for r in scheduler.requests))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
