"""A mesh of ranks is made while new tensors go to meta, and its ranks have no values.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about meta,
``python reproduce.py fixed`` makes the mesh's tensor on the cpu whatever the context, and prints
"fixed: ok". ``DeviceMesh`` keeps what matters: the tensor of ranks on the cpu, and a look for the own one.
"""

import sys

import torch
from torch import nn


class DeviceMesh:
    def __init__(self, device_type, mesh, rank):
        self.device_type = device_type
        self.mesh = mesh.detach().to("cpu")
        self.coordinate = (self.mesh == rank).nonzero()[0].tolist()


def init_device_mesh(device_type, mesh_shape, rank, variant):
    world_size = 1
    for size in mesh_shape:
        world_size *= size
    if variant == "fixed":
        with torch.device("cpu"):
            mesh = torch.arange(world_size, dtype=torch.int).view(mesh_shape)
    else:
        mesh = torch.arange(world_size, dtype=torch.int).view(mesh_shape)
    return DeviceMesh(device_type, mesh, rank)


def shard(linear, mesh):
    """This rank's rows of the weight."""
    rows = linear.weight.chunk(mesh.mesh.shape[1])[mesh.coordinate[1]]
    linear.weight = nn.Parameter(rows, requires_grad=False)
    return linear


def main(variant):
    torch.manual_seed(0)
    with torch.device("meta"):
        mesh = init_device_mesh("cuda", (2, 2), rank=3, variant=variant)
        model = shard(nn.Linear(8, 8, bias=False), mesh)
    model.to_empty(device="cuda")
    nn.init.ones_(model.weight)
    print(model(torch.randn(1, 8, device="cuda")).shape)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
