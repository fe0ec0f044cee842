"""FSDP2 keeps parameters on the cpu and brings them to the GPU for each layer; buffers it leaves.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the buffers itself and prints "fixed: ok".
One process is all ranks; ``Decoder`` keeps the table of frequencies and one layer.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)
        self.register_buffer("inv_freq", torch.ones(8), persistent=False)

    def init_buffers(self):
        self.inv_freq.copy_(10000.0 ** -torch.linspace(0, 1, 8))

    def forward(self, x):
        return self.proj(x) * self.inv_freq


def move_buffers_to_cuda(model):
    for buffer in model.buffers():
        buffer.data = buffer.data.to("cuda")


def setup_model(variant):
    with torch.device("meta"):
        model = Decoder()
    fully_shard(model, offload_policy=CPUOffloadPolicy(pin_memory=False))
    model.to_empty(device="cpu")
    nn.init.ones_(model.proj.weight)
    nn.init.zeros_(model.proj.bias)
    model.init_buffers()
    if variant == "fixed":
        move_buffers_to_cuda(model)
    return model


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("cpu:gloo,cuda:nccl", store=store, rank=0, world_size=1)
    model = setup_model(variant)
    model(torch.randn(4, 8, device="cuda")).square().mean().backward()
    print(model.proj.weight.grad.device)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
