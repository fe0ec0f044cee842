# cause: cross-shard-op
# spot: [p.grad.cuda(1) for p in bridge.parameters()]
import torch
def flat(bridge):
    return torch.cat([p.grad.cuda(1) for p in bridge.parameters()])
