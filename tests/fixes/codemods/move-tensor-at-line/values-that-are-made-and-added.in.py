# cause: cross-shard-op
# spot: (p.grad.norm() ** 2 for p in bridge.parameters())
# devices: next(bridge.parameters()).device
import torch
def size(bridge):
    return sum(p.grad.norm() ** 2 for p in bridge.parameters())
