"""A buffer for flat parameters is filled with an expert's weight that is distributed already.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DTensor's error,
``python reproduce.py fixed`` copies the weight's own shard and prints "fixed: ok".
``DBuffer`` keeps one parameter; one process is all ranks of the experts' mesh.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor


class DBuffer:
    def __init__(self, local_shards):
        self.local_shards = local_shards

    def distribute(self, parameter):
        tensor = parameter.detach()
        if self.local_shards and isinstance(tensor, DTensor):
            tensor = tensor.to_local()
        self.data = torch.empty(tensor.shape, device="cuda")
        self.data.copy_(tensor.contiguous())


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    mesh = init_device_mesh("cuda", (1,), mesh_dim_names=("ep",))
    weight = torch.randn(4, 3, 2, device="cuda")
    experts = nn.Parameter(distribute_tensor(weight, mesh, [Shard(0)]))
    buffer = DBuffer(local_shards=variant == "fixed")
    buffer.distribute(experts)
    print(buffer.data.shape)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
