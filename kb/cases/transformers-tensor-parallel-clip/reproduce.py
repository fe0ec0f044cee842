"""Gradients are clipped where tensor parallelism has made some of the parameters distributed.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DTensor's error,
``python reproduce.py fixed`` replicates the layers that no plan names and prints "fixed: ok".
One process is all ranks.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, distribute_module
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

TP_PLAN = {"up_proj": ColwiseParallel(), "down_proj": RowwiseParallel()}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.up_proj = nn.Linear(8, 16)
        self.down_proj = nn.Linear(16, 8)

    def forward(self, x):
        return x + self.down_proj(torch.relu(self.up_proj(self.norm(x))))


def replicate(module, mesh):
    """The module's parameters are distributed, too; what goes in and out stays plain."""
    distribute_module(
        module,
        mesh,
        input_fn=lambda _, inputs, mesh: tuple(
            DTensor.from_local(x, mesh, [Replicate()]) for x in inputs
        ),
        output_fn=lambda _, output, mesh: output.to_local(),
    )


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    mesh = init_device_mesh("cuda", (1,), mesh_dim_names=("tp",))
    model = parallelize_module(Block().to("cuda"), mesh, TP_PLAN)
    if variant == "fixed":
        replicate(model.norm, mesh)
    model(torch.randn(4, 8, device="cuda")).square().mean().backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
