"""AdamW gets sharded and replicated parameters in one group, and updates a group in one call.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DTensor's error,
``python reproduce.py fixed`` splits the group by kind and prints "fixed: ok".
FSDP2 shards one layer and leaves the other as it is; one process is all ranks.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor


def split(group):
    """The group as one of distributed and one of plain parameters, with the same options."""
    for kind in (True, False):
        params = [p for p in group["params"] if isinstance(p, DTensor) is kind]
        if params:
            yield {**group, "params": params}


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2)).to("cuda")
    fully_shard(model[0])
    groups = [{"params": list(model.parameters()), "weight_decay": 0.1}]
    if variant == "fixed":
        groups = [part for group in groups for part in split(group)]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, foreach=True)
    model(torch.randn(4, 8, device="cuda")).square().mean().backward()
    optimizer.step()
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
