"""A model under FSDP2 is given a full state dict, whose tensors are plain.

Needs torch and one GPU. ``python reproduce.py failing`` ends in load_state_dict's error,
``python reproduce.py fixed`` distributes each tensor first and prints "fixed: ok".
One process is all ranks.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor


def sharded(full_state_dict, model):
    """The same values, each as the model's parameter of that name is distributed."""
    own = model.state_dict()
    return {
        name: distribute_tensor(tensor.to("cuda"), own[name].device_mesh, own[name].placements)
        for name, tensor in full_state_dict.items()
    }


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    pretrained = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2)).state_dict()
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))
    fully_shard(model)
    model.to_empty(device="cuda")
    model.load_state_dict(sharded(pretrained, model) if variant == "fixed" else pretrained)
    print(model(torch.randn(4, 8, device="cuda")).shape)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
