"""After the backward a gradient on the GPU is assigned to a shard that offload keeps on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` does not offload and prints "fixed: ok". ``ShardedGroup`` stands for
FSDP on one process: parameters are stored as shards and are on the GPU for forward and backward.
"""

import sys

import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.up, self.down = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


class ShardedGroup:
    """The experts' parameters go through another path than the dense ones, and it has no offload."""

    def __init__(self, module, cpu_offload):
        self.module = module.to("cuda")
        storage = "cpu" if cpu_offload else "cuda"
        self.shards = [nn.Parameter(p.detach().to(storage)) for p in module.parameters()]

    def unshard(self):
        for parameter, shard in zip(self.module.parameters(), self.shards, strict=True):
            parameter.data = shard.data.to("cuda")

    def post_backward(self):
        for parameter, shard in zip(self.module.parameters(), self.shards, strict=True):
            reduced, parameter.grad = parameter.grad, None
            shard.grad = reduced


def train_step(cpu_offload):
    experts = [ShardedGroup(Expert(), cpu_offload) for _ in range(2)]
    tokens = torch.randn(6, 8, device="cuda")
    routing = torch.tensor([0, 1, 0, 1, 1, 0], device="cuda")
    loss = 0.0
    for number, group in enumerate(experts):
        group.unshard()
        loss = loss + group.module(tokens[routing == number]).square().mean()
    loss.backward()
    for group in experts:
        group.post_backward()
        torch.optim.SGD(group.shards, lr=0.1).step()


def main(variant):
    torch.manual_seed(0)
    train_step(cpu_offload=variant == "failing")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
