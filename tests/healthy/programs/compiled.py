"""torch.compile and what TORCH_LOGS makes it say."""

import torch


@torch.compile(dynamic=False)
def scaled(x, n):
    y = x.sin() * n
    if y.sum().item() > 0:
        print("positive")
    return y.cos()


for size in range(2, 14):
    scaled(torch.ones(size), size)
print("done")
