import os

import torch
import torch.distributed as dist
from torch import nn


def reduce_mean(value):
    t = torch.tensor(value, device="cuda")  # finds: rank-device
    dist.all_reduce(t)
    return t


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl")
    device = torch.device("cuda", local_rank)
    net = nn.Linear(2, 1).to(device)
    loss = net(torch.rand(1, 2, device=device)).sum()
    print(loss + reduce_mean(1.0))


if __name__ == "__main__":
    main()
