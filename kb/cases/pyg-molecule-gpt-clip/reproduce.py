"""The parameters of one optimizer are clipped together, though some of them are distributed.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DTensor's error,
``python reproduce.py fixed`` clips those that are plain and prints "fixed: ok".
Two layers stand for graph encoder and language model; one process is all ranks.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, distribute_tensor
from torch.nn.utils import clip_grad_norm_


class MoleculeGPT(nn.Module):
    def __init__(self, mesh):
        super().__init__()
        self.graph_encoder = nn.Linear(6, 8, device="cuda")
        projector = torch.randn(8, 8, device="cuda")
        self.projector = nn.Parameter(distribute_tensor(projector, mesh, [Replicate()]))

    def forward(self, x):
        return (self.graph_encoder(x) @ self.projector.to_local()).square().mean()


def get_clippable_params(params):
    return [p for p in params if not hasattr(p, "_spec")]


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    model = MoleculeGPT(init_device_mesh("cuda", (1,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5, foreach=False)
    model(torch.randn(4, 6, device="cuda")).backward()
    params = optimizer.param_groups[0]["params"]
    clip_grad_norm_(get_clippable_params(params) if variant == "fixed" else params, 0.1)
    optimizer.step()
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
