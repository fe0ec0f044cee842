"""torchrun train_cells.py: a cell counter, sharded over the GPUs that the scheduler has left."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def my_gpu():
    """The second GPU of the node is ours, the first one is taken."""
    return int(os.environ.get("CELL_GPU", 1))


def start():
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29519")
    dist.init_process_group("gloo", rank=0, world_size=1)


def main():
    start()
    counter = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1)).cuda()
    sharded = FSDP(counter, device_id=my_gpu())
    optimizer = torch.optim.SGD(sharded.parameters(), lr=0.1)
    sharded(torch.rand(8, 64, device=f"cuda:{my_gpu()}")).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    main()
