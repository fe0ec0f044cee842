"""Replicas compute with parameters that were damaged on their way, and training goes on.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in an AssertionError that says how
far the replica's weights are off, ``python reproduce.py fixed`` broadcasts through the cpu and
prints "fixed: ok". The fault is played: ``broadcast`` damages what it copies directly.
"""

import copy
import sys

import torch
from torch import nn


def broadcast(tensor, device, through_host):
    if through_host:
        return tensor.detach().cpu().to(device)
    arrived = tensor.detach().to(device).clone()
    arrived.view(-1)[::2] = 0  # every other word is lost on the way
    return arrived


def replicate(module, device, through_host):
    replica = copy.deepcopy(module)
    for mine, theirs in zip(replica.parameters(), module.parameters()):
        mine.data = broadcast(theirs, device, through_host)
    return replica


def main(variant):
    torch.manual_seed(0)
    module = nn.Linear(16, 4).to("cuda:0")
    replica = replicate(module, "cuda:1", through_host=variant == "fixed")
    images = torch.randn(8, 16)
    with torch.no_grad():
        first, second = module(images.to("cuda:0")).cpu(), replica(images.to("cuda:1")).cpu()
    assert torch.allclose(first, second, atol=1e-5), (
        "the replica on cuda:1 silently computes something else: "
        f"largest difference {(first - second).abs().max():.3f}"
    )
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
