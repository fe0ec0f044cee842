# cause: cross-shard-op
# spot: list(p.grad.norm() for p in bridge.parameters())
# devices: next(bridge.parameters()).device
import torch
def size(bridge):
    return torch.stack(list(p.grad.norm() for p in bridge.parameters())).norm()
