import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    device = torch.device(f"cuda:{local_rank}")
    model = DDP(nn.Linear(4, 4).to(device), device_ids=[local_rank])
    total = torch.zeros(1, device=device)
    total += model(torch.rand(2, 4).to(local_rank)).sum()
    dist.all_reduce(total)


if __name__ == "__main__":
    main()
