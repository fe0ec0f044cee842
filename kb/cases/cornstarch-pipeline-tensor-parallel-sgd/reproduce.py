"""An optimizer updates plain and distributed parameters in one call for all of them.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DTensor's error,
``python reproduce.py fixed`` updates one parameter after the other and prints "fixed: ok".
One process is a stage of the pipeline and all ranks of its tensor parallelism.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

PLAN = {"gate": ColwiseParallel(), "down": RowwiseParallel()}


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.gate = nn.Linear(8, 16)
        self.down = nn.Linear(16, 8)

    def forward(self, x):
        return self.down(torch.sigmoid(self.gate(self.norm(x))))


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    stage = parallelize_module(Stage().to("cuda"), init_device_mesh("cuda", (1,)), PLAN)
    foreach = False if variant == "fixed" else None
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.1, foreach=foreach)
    stage(torch.randn(4, 8, device="cuda")).square().mean().backward()
    optimizer.step()
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
