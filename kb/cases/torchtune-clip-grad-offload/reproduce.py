"""Gradient clipping all-reduces a cpu tensor over a process group that has no backend for the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` gives the group a cpu backend as well and prints "fixed: ok".
One process stands for all, and gloo for NCCL, so that it runs anywhere: the first group has a
backend for CUDA only. FSDP is left out; with its offload a gradient's shard is a cpu tensor.
"""

import sys

import torch
from torch import distributed, nn


def backward_and_offload(model):
    model(torch.randn(4, 8, device="cuda")).sum().backward()
    return [parameter.grad.cpu() for parameter in model.parameters()]


def clip_grad_norm_(gradients, max_norm):
    """As DTensor does it: a norm of the local shard, then a sum over all ranks."""
    local = torch.stack([gradient.norm() ** 2 for gradient in gradients]).sum()
    distributed.all_reduce(local)
    total_norm = local.sqrt()
    for gradient in gradients:
        gradient.mul_(max_norm / (total_norm + 1e-6))
    return total_norm


def main(variant):
    torch.manual_seed(0)
    backend = "cuda:gloo" if variant == "failing" else "cpu:gloo,cuda:gloo"
    store = distributed.HashStore()
    distributed.init_process_group(backend, store=store, rank=0, world_size=1)
    gradients = backward_and_offload(nn.Linear(8, 2).to("cuda"))
    clip_grad_norm_(gradients, max_norm=1.0)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
