"""Gradients of experts and of all else are clipped together, and lie on two device meshes.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DTensor's error about the meshes,
``python reproduce.py fixed`` takes a norm for each mesh and joins the numbers, and prints "fixed: ok".
One process is all ranks of both meshes.
"""

import sys
from collections import defaultdict

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor


def clip_grad_norm_by_mesh_(parameters, max_norm):
    groups = defaultdict(list)
    for parameter in parameters:
        groups[parameter.device_mesh].append(parameter.grad)
    norms = [nn.utils.get_total_norm(grads).full_tensor() for grads in groups.values()]
    norm = torch.linalg.vector_norm(torch.stack(norms))
    for grads in groups.values():
        torch._foreach_mul_(grads, min(1.0, max_norm / (norm.item() + 1e-6)))
    return norm


def parameter(mesh):
    made = nn.Parameter(distribute_tensor(torch.randn(4, 8, device="cuda"), mesh, [Shard(0)]))
    made.grad = distribute_tensor(torch.randn(4, 8, device="cuda"), mesh, [Shard(0)])
    return made


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    expert = parameter(init_device_mesh("cuda", (1,), mesh_dim_names=("ep",)))
    attention = parameter(init_device_mesh("cuda", (1,), mesh_dim_names=("dp_shard_cp",)))
    if variant == "fixed":
        clip_grad_norm_by_mesh_([expert, attention], max_norm=1.0)
    else:
        nn.utils.clip_grad_norm_([expert, attention], max_norm=1.0)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
