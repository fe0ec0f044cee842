"""torchrun --nnodes 2 launch.py: one process on each node, on the GPU that SLURM left to it."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class ParcelVolume(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.volume = nn.Linear(64, 1)

    def forward(self, scans):
        return self.volume(self.trunk(scans))


def setup():
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    dist.init_process_group("gloo", rank=0, world_size=1)
    return int(os.environ.get("SLURM_LOCALID", 1))


def main():
    local_rank = setup()
    model = ParcelVolume().cuda()
    model = DistributedDataParallel(model, device_ids=[local_rank], output_device=local_rank)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        scans = torch.randn(32, 12).cuda(local_rank)
        model(scans).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
